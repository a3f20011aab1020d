"""Pictures of handmade curves: what is drawn, what is only written, and where the values of the thesis stand."""

from itertools import pairwise

import pytest

from bytenet.reproduction.figures.shared.curve_plots import Panel, plot_curves
from bytenet.reproduction.figures.shared.thesis_curves import DIGITS, Published


def row(run, seed, epoch, train, test):
    return {
        "run": run, "seed": seed, "epoch": epoch, "train_misclassification": train, "test_misclassification": test,
        "train_bleu": 100 * train, "test_bleu": 0.0,
    }  # fmt: skip


def curves(*runs, seeds=(1, 2)):
    return [row(run, seed, epoch, 1 / (epoch + seed), 0.5) for epoch in range(10) for run in runs for seed in seeds]


@pytest.fixture
def draw(tmp_path, figures):
    """A function that draws the curves, writes the file and returns the figure."""

    def drawn(table, *panels, **options):
        path = tmp_path / "curves.png"
        plot_curves(table, path, panels, alpha=0.3, **options)
        assert path.read_bytes().startswith(b"\x89PNG")
        return figures[-1]

    return drawn


def texts(axes):
    return [text.get_text() for text in axes.texts]


def legend_of(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def dashed(axes):
    return [line.get_ydata()[0] for line in axes.lines if line.get_linestyle() == "--"]


def test_panel_titles_mark_our_runs_with_here(draw):
    figure = draw(curves("thesis", "default"), Panel("misclassification", limits=(0, 1)))
    assert [axes.get_title() for axes in figure.axes] == ["here, the thesis's settings", "here, our defaults"]
    assert legend_of(figure)[:4] == ["training pairs", "test pairs", "each of 2 trainings, smoothed", "mean of the 2"]


def test_panel_of_zeros_is_replaced_by_a_text(draw):
    published = [Published("bleu", "test", 5.1, run="bytenet"), Published("bleu", "test", 7.44, kind="beam")]
    train, test = draw(
        curves("bytenet", "selu"), Panel("bleu"), colour_by="run", epoch_lines=True, published=published
    ).axes
    assert train.lines
    assert not test.axison
    assert not test.lines
    (told,) = texts(test)
    assert told.startswith("BLEU on test pairs is 0 throughout\nByteNet in the thesis:\nend of its curve: 5.1\n")
    train, test = draw(curves("bytenet"), Panel("misclassification"), colour_by="run").axes
    assert test.axison


def test_text_of_a_published_point_has_its_epoch():
    assert Published("bleu", "train", 100, kind="point", epoch=130).full_text == "thesis, by epoch 130: 100"


def test_zeros_with_other_values_in_a_panel_are_drawn(draw):
    (axes,) = draw(curves("bytenet"), Panel("bleu")).axes
    assert axes.axison
    assert not texts(axes)


def test_thesis_values_are_drawn_in_the_panel_and_colour_of_their_curve(draw):
    published = [
        Published("misclassification", "test", 0.4, run="selu"),
        Published("misclassification", "train", 0.02),
        Published("misclassification", "train", 0.5, kind="point", epoch=30, run="selu"),
        Published("bleu", "train", 99),
    ]
    figure = draw(curves("bytenet", "selu"), Panel("misclassification"), colour_by="run", published=published)
    train, test = figure.axes
    assert (dashed(train), dashed(test)) == ([0.02], [0.4])
    assert (texts(train), texts(test)) == (["0.02"], ["0.4"])
    assert test.texts[0].get_color() == test.lines[-1].get_color() == "C1"
    assert train.get_xlim()[1] > 30
    assert legend_of(figure)[-2:] == ["thesis, end of its curve", "thesis, epoch of this value"]


def test_thesis_value_far_above_ours_does_not_stretch_the_axis(draw):
    published = [Published("misclassification", "test", 75_000, high=89_000, kind="first")]
    _, test = draw(curves("selu"), Panel("misclassification"), colour_by="run", published=published).axes
    assert test.get_ylim()[1] < 2
    assert texts(test) == ["▲ thesis, first of its curve: 75,000 to 89,000"]


def test_labels_of_close_values_do_not_overlap(draw):
    published = [Published("misclassification", "test", value) for value in (0.5, 0.501, 0.502)]
    _, test = draw(curves("selu"), Panel("misclassification", (0, 0.5)), colour_by="run", published=published).axes
    heights = [text.get_position()[1] for text in test.texts]
    assert all(above - below > 0.08 for below, above in pairwise(heights))
    assert max(heights) <= 1


def test_same_table_gives_the_same_picture(tmp_path):
    for name in ("one.png", "two.png"):
        plot_curves(curves("bytenet"), tmp_path / name, [Panel("bleu")], alpha=0.3, published=DIGITS["bytenet"])
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


@pytest.mark.parametrize(("first", "scale"), [(1.0, "linear"), (500.0, "symlog")])
def test_steep_start_of_a_curve_makes_the_axis_logarithmic(draw, first, scale):
    table = curves("selu", seeds=(1,))
    table[0]["train_misclassification"] = first
    axes = draw(table, Panel("misclassification")).axes[0]
    assert axes.get_yscale() == scale
    low, high = axes.get_ylim()
    assert low <= 0
    assert high > first
    assert draw(table, Panel("misclassification", limits=(0, 1))).axes[0].get_yscale() == "linear"
