"""Beyond the thesis: ByteNet without attention, with a window of the source, and with the whole source.

The three train for the same time on Multi30k. Batches, settings and search are those of the contest of the families.
The costs are measured in the same way, too.
"""

from functools import partial

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs, Row, Scale, Table
from bytenet.reproduction.engine.judging import mean_of
from bytenet.reproduction.engine.statistics import by_trial, paired_differences
from bytenet.reproduction.engine.verdict import Verdict
from bytenet.reproduction.figures.contest import decoding_cost, quality, training_cost
from bytenet.reproduction.figures.contest.systems import ATTENTIONS
from bytenet.reproduction.figures.shared.translation_scores import SCORES
from bytenet.reproduction.jobs.training_run import TrainingRun

MINUTES = 10
SEEDS = 3
_COMPARED = (("ByteNet, window", "ByteNet"), ("ByteNet, full", "ByteNet"), ("ByteNet, full", "ByteNet, window"))
_LONGEST = "longest"


def _runs(scale: Scale) -> dict[str, TrainingRun]:
    return {system: quality.run_of(system, scale, MINUTES) for system in ATTENTIONS}


def _verdicts(table: Table, scale: Scale) -> list[Verdict]:
    """The scores of each system, and the differences between two systems."""
    scored = [row | {_LONGEST: _score_of_longest(row)} for row in table]
    names = SCORES | {_LONGEST: "chrF2 of the longest quarter of the sources"}
    differences = []
    for system, other in _COMPARED:
        for key, name in names.items():
            values = paired_differences(by_trial(scored, key, system=system), by_trial(scored, key, system=other))
            if values:
                differences.append(
                    mean_of(
                        f"{name}, {system} minus {other}", values,
                        note=f"trainings with the same seed are compared: {', '.join(f'{one:+.2f}' for one in values)}",
                    )
                )  # fmt: skip
    return quality.verdicts(table, scale) + differences


def _score_of_longest(row: Row) -> float:
    *_, (_, score) = quality.points_in(row, "by_length")
    return score


EXPERIMENTS = (
    Experiment(
        name="source-attention",
        is_thesis=False,
        title=f"ByteNet with attention to its source: Multi30k in characters, steps of {MINUTES} minutes on two cores",
        thesis="Not in the thesis. Its ByteNet has no attention.",
        needs=Needs(
            corpus="Multi30k",
            time={
                "smoke": "1 min, on Synthetic Digits",
                "cpu": f"2 h for {SEEDS} seeds",
                "thesis": "as cpu",
            },
        ),
        basis=Basis("trained, beyond the thesis", f"d = 128, steps of {MINUTES} minutes on two cores"),
        runs=lambda scale: list(_runs(scale).values()),
        measure=lambda work: quality.measure(work, _runs(work.scale)),
        verdicts=_verdicts,
        plot=quality.plot,
        seeds={"cpu": SEEDS, "thesis": SEEDS},
        labels=lambda scale: [quality.label(system) for system in ATTENTIONS],
        measured_with=quality.measured_with,
    ),
    Experiment(
        name="source-attention-training",
        is_thesis=False,
        title="ByteNet with attention to its source: time and memory of a training step",
        needs=Needs(time={"smoke": "1 min", "cpu": "12 min", "thesis": "as cpu"}),
        basis=Basis("measured, other hardware", "d = 128, 2,560 characters a batch"),
        measure=partial(training_cost.measure, systems=ATTENTIONS),
        verdicts=training_cost.verdicts,
        plot=training_cost.plot,
    ),
    Experiment(
        name="source-attention-decoding",
        is_thesis=False,
        title="ByteNet with attention to its source: the cost of a character against the length of the sentence",
        needs=Needs(time={"smoke": "1 min", "cpu": "5 min", "thesis": "as cpu"}),
        basis=Basis("measured, other hardware", "d = 128, untrained"),
        measure=partial(decoding_cost.measure, systems=ATTENTIONS),
        verdicts=decoding_cost.verdicts,
        plot=decoding_cost.plot,
    ),
)
