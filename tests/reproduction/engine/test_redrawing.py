"""Saved data are drawn and judged again. A damaged or older file ends in a message, and stops no other result."""

from dataclasses import replace

import pytest

from bytenet.reproduction.engine import runner
from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs
from bytenet.reproduction.engine.judging import mean_of
from bytenet.reproduction.engine.redrawing import redraw_all


def judge(table, scale):
    """The mean of the rows with `size` 1 and of those with `size` 2."""
    values = {row["size"]: row["value"] for row in table}
    return [mean_of(f"size {size}", [values[size] + 0.0]) for size in (1, 2)]


OLD = Experiment(
    name="old", title="", needs=Needs(), basis=Basis("counted"), verdicts=judge,
    measure=lambda work: [{"size": size, "value": 1.5} for size in (1, 2)],
    plot=lambda table, path: path.write_text(f"{len(table)} rows"),
)  # fmt: skip
GOOD = replace(OLD, name="good")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('"size","value"\n', "is damaged: it has no rows"),
        ('"size","loss"\n1,1.5\n2,1.5\n', "has no column 'value'"),
        ('"size","value"\n1,1.5\n', "cannot be drawn and judged: KeyError(2)"),
        ('"size","value"\n1,1.5\n2,"x"\n', "cannot be drawn and judged: TypeError("),
        (f'"size","value"\n1,1.5\n2,{5000 * "9"}\n', "cannot be drawn and judged: TypeError("),
    ],
)
def test_unfit_data_is_named_and_stops_no_other_figure(text, problem, tmp_path):
    experiments = [OLD, GOOD]
    runner.reproduce(experiments, "cpu", tmp_path, tmp_path / "runs")
    (tmp_path / "old-cpu.csv").write_text(text)
    (tmp_path / "good-cpu.png").unlink()
    lines = []
    verdicts, failures = redraw_all(experiments, "cpu", tmp_path, lines.append)
    assert list(verdicts) == ["good"]
    assert (tmp_path / "good-cpu.png").exists()
    assert list(failures) == ["old"]
    assert f"old-cpu.csv {problem}" in failures["old"]
    assert "easure it again" in failures["old"]
    assert lines == [f"old: {failures['old']}"]


def test_unfit_data_beside_is_named(tmp_path):
    beside = replace(
        OLD, name="beside", beside=("old", "good"), plot=None,
        verdicts=lambda table, scale, beside: judge(beside["old"], scale),
    )  # fmt: skip
    runner.reproduce([OLD], "cpu", tmp_path, tmp_path / "runs")
    (tmp_path / "old-cpu.csv").write_text('"size","loss"\n1,1.5\n')
    _, failures = runner.reproduce([beside], "cpu", tmp_path, tmp_path / "runs")
    assert f"{tmp_path}/old-cpu.csv has no column 'value'" in failures["beside"]
    (tmp_path / "old-cpu.csv").write_text('"size","value"\n1,1.5\n')
    _, failures = redraw_all([beside], "cpu", tmp_path, lambda line: None)
    assert f"{tmp_path}/beside-cpu.csv and {tmp_path}/old-cpu.csv cannot be drawn" in failures["beside"]
