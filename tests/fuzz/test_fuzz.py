"""A short campaign of every fuzzer with a fixed seed, and every case that once went wrong. `make fuzz` runs more."""

from pathlib import Path

import pytest

from tests.fuzz.campaign import Campaign
from tests.fuzz.targets import TARGETS, target_class

_CASES = {"models": 15, "model files": 40, "checkpoints": 40, "configurations": 60, "overrides": 60, "LiteRT files": 25}
_FINDINGS = sorted(Path(__file__).with_name("findings").glob("*/*"))
assert _FINDINGS
_OF_FOLDER = {name.replace(" ", "-"): name for name in TARGETS}


@pytest.fixture(scope="module", params=TARGETS)
def target(request, tmp_path_factory):
    return target_class(request.param)(tmp_path_factory.mktemp("fuzz"))


def failures(report):
    """What must not happen."""
    return report.unexpected, report.wrong, report.hangs, report.too_long


def test_no_damaged_file_gives_more_than_an_input_error(target, tmp_path):
    report = Campaign(target, tmp_path / "findings").run(_CASES.get(target.name, 80), seed=1)
    assert failures(report) == ({}, 0, 0, 0), report.findings
    assert report.accepted > 0
    assert report.refused


@pytest.mark.parametrize("path", _FINDINGS, ids=[f"{path.parent.name}, {path.name}" for path in _FINDINGS])
def test_no_earlier_finding_comes_back(path, tmp_path):
    assert path.parent.name in _OF_FOLDER, "the folder has the name of no target"
    campaign = Campaign(target_class(_OF_FOLDER[path.parent.name])(tmp_path), tmp_path / "findings")
    campaign.try_case(path.read_bytes())
    assert campaign.report.cases == 1
    assert failures(campaign.report) == ({}, 0, 0, 0), campaign.report.findings


def test_a_reader_that_fails_is_seen(target, tmp_path, monkeypatch):
    """The campaign counts what must not happen, and keeps its files."""
    campaign = Campaign(target, tmp_path)
    errors = iter([KeyError("x"), AssertionError("wrong"), RecursionError()])

    def fail():
        raise next(errors)

    monkeypatch.setattr(target, "read", fail)
    for content in (b"a", b"b", b"c"):
        campaign.try_case(content)
    assert failures(campaign.report) == ({"KeyError": 1, "RecursionError": 1}, 1, 0, 0)
    assert [Path(path).read_bytes() for path in campaign.report.findings] == [b"a", b"b", b"c"]
