"""Comparisons of Simplified ByteNet need the thesis's ratio of widths, in the code and in the data."""

import pytest

from bytenet.reproduction import Verdict
from bytenet.reproduction.figures.news.widths import judged_by_width
from bytenet.reproduction.registry import find_experiment

SHOWN = Verdict(quantity="a", printed="b", measured=1.0, outcome="shown", note="so")
NAMES = ("memorise-simplified", "memorise-bytenet")
BYTENET = "model.dim 64 (400): memorise-bytenet"


@pytest.mark.parametrize("name", ["fig-d.2.2", "fig-3.4.4"])
@pytest.mark.parametrize(("scale", "widths"), [("smoke", (8, 4)), ("cpu", (64, 32)), ("thesis", (400, 200))])
def test_simplified_is_half_as_wide_as_bytenet_at_every_scale(name, scale, widths):
    bytenet, simplified = find_experiment(name).runs(scale)
    assert (bytenet.config(seed=1).model.variant, simplified.config(seed=1).model.variant) == ("bytenet", "simplified")
    assert tuple(run.config(seed=1).model.dim for run in (bytenet, simplified)) == widths


@pytest.mark.parametrize(
    "settings",
    [
        (BYTENET, "model.dim 32 (200): memorise-simplified"),
        (),  # the thesis's widths
        ("data.batch_size 16 (64)", "model.dim 32 (200): memorise-simplified, other", BYTENET),
    ],
)
def test_half_the_width_is_judged(settings):
    assert judged_by_width(SHOWN, settings, *NAMES) == SHOWN


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        # 17 d² and 9.25 d² kernel weights in the blocks; with half of the width 4.25 d².
        ((BYTENET, "model.dim 64 (200): memorise-simplified"), "has ByteNet's width here, so 1.84 times its weights"),
        (("model.dim 64 (400)",), "has ByteNet's width here, so 1.84 times its weights"),
        ((BYTENET, "model.dim 48 (200): memorise-simplified"), "has 0.75 times ByteNet's width here, so 1.03 times"),
        (None, "not recorded"),
    ],
)
def test_another_ratio_of_widths_allows_no_claim(settings, why):
    verdict = judged_by_width(SHOWN, settings, *NAMES)
    assert (verdict.outcome, verdict.measured) == ("no claim", 1.0)
    assert why in verdict.note
    assert verdict.note.endswith("; so")
    assert ("the thesis's has 0.459 times" in verdict.note) == (settings is not None)
