"""Figure 2.6.3: lengths of the sentences of NewsTest 2014."""

from pathlib import Path

import numpy as np

from bytenet.reproduction.data import thesis_numbers
from bytenet.reproduction.engine.experiment import Basis, Experiment, Scale, Table, Work
from bytenet.reproduction.engine.judging import compare_exact
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.corpora.texts import NEWSTEST, news
from bytenet.reproduction.figures.shared.cells import integer_in, number_in
from bytenet.reproduction.figures.shared.plots import handles_of, legend_below, new_figure, save

# Lengths in the thesis, in characters.
_LOWEST_PEAK, _HIGHEST_PEAK = thesis_numbers("lengths")["peak"]
_READ_TO = 5  # precision of a position that was read off the figure, in characters
_READ_OFF = f"a position can be read off the figure to about {_READ_TO} characters"
_LONGEST_IN_FIGURE: int = thesis_numbers("lengths")["longest_in_figure"]
_LONGEST_IN_TEXT: int = thesis_numbers("lengths")["longest_in_text"]


def _measure_lengths(work: Work) -> Table:
    """Number of sentences of each length in characters, and their density as R and ggplot2 estimate it."""
    pairs = news(work.scale, 2014)
    lengths = {"source": np.array(list(map(len, pairs.source))), "target": np.array(list(map(len, pairs.target)))}
    longest = max(values.max() for values in lengths.values())
    grid = np.arange(longest + 1)
    columns: dict[str, list] = {"length": grid.tolist()}
    for side, values in lengths.items():
        columns[f"{side}_sentences"] = np.bincount(values, minlength=longest + 1).tolist()
        columns[f"{side}_density"] = _kernel_density(values, grid).tolist()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _kernel_density(values: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Density by Gaussian kernels with R's default width, which is Silverman's rule of thumb."""
    from scipy.stats import gaussian_kde, iqr

    deviation = values.std(ddof=1)
    width = 0.9 * min(deviation, iqr(values) / 1.34) * len(values) ** -0.2
    return gaussian_kde(values, width / deviation)(grid)


def _length_verdicts(table: Table, scale: Scale) -> list[Verdict]:
    verdicts = []
    longest = {}
    for side, name in (("source", "German"), ("target", "English")):
        peak = integer_in(max(table, key=lambda row: number_in(row, f"{side}_density")), "length")
        longest[side] = max(integer_in(row, "length") for row in table if row[f"{side}_sentences"])
        verdicts.append(_peak_verdict(name, peak))
    total = sum(integer_in(row, "source_sentences") for row in table)
    return [
        *verdicts,
        compare_exact(
            "longest sentence in the figure, characters", _LONGEST_IN_FIGURE, max(longest.values()), tolerance=_READ_TO,
            note=_READ_OFF,
        ),
        Verdict(
            quantity="longest sentence in the text, characters", printed=_LONGEST_IN_TEXT,
            measured=max(longest.values()),
            note="“400 characters wide” may be rounded, or count the English side alone, whose longest sentence has "
            f"{longest['target']}",
            source="bytenet.tex:83",
        ),
        compare_exact("sentences of NewsTest 2014", thesis_numbers("corpora")["newstest_2014_pairs"], total),
    ]  # fmt: skip


def _peak_verdict(name: str, peak: int) -> Verdict:
    """Compare the most frequent length with the range in the figure. Just outside of it, there is no claim."""
    verdict = compare_exact(f"most frequent length, {name}, characters", (_LOWEST_PEAK, _HIGHEST_PEAK), peak)
    outside = max(_LOWEST_PEAK - peak, peak - _HIGHEST_PEAK)
    return verdict.unjudged(f"{outside} outside the range, but {_READ_OFF}") if 0 < outside <= _READ_TO else verdict


def _plot_lengths(table: Table, path: Path) -> None:
    figure = new_figure(4.2)
    axes = figure.subplots()
    length = [row["length"] for row in table]
    for number, (side, name) in enumerate((("source", "source (German)"), ("target", "target (English)"))):
        density = [row[f"{side}_density"] for row in table]
        peak = length[int(np.argmax(density))]
        longest = max(row["length"] for row in table if row[f"{side}_sentences"])
        axes.plot(length, density, color=f"C{number}", label=f"{name}, here: peak at {peak}, longest {longest}")
        axes.fill_between(length, density, color=f"C{number}", alpha=0.15, linewidth=0)
    label = f"thesis, peaks: {_LOWEST_PEAK} to {_HIGHEST_PEAK}"
    axes.axvspan(_LOWEST_PEAK, _HIGHEST_PEAK, color="grey", alpha=0.4, linewidth=0, label=label)
    for where, printed, style in (("in the figure", _LONGEST_IN_FIGURE, "--"), ("in the text", _LONGEST_IN_TEXT, ":")):
        label = f"thesis, longest {where}: {printed}"
        axes.axvline(printed, color="black", linestyle=style, linewidth=1.1, label=label)
    axes.set(xlabel="length of a sentence, characters", ylabel="density, share a character")
    axes.set(xlim=(0, None), ylim=(0, None))
    axes.grid(alpha=0.3)
    legend_below(figure, handles_of([axes]))
    save(figure, path)


EXPERIMENTS = (
    Experiment(
        name="fig-2.6.3",
        title="Lengths of the sentences of NewsTest 2014",
        thesis="By the figure, the most frequent length is 75 to 80 characters on both sides, and the longest sentence "
        "has about 465 characters. The text says 400.",
        needs=NEWSTEST,
        basis=Basis("counted"),
        measure=_measure_lengths,
        verdicts=_length_verdicts,
        plot=_plot_lengths,
    ),
)
