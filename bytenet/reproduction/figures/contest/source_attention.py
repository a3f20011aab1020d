"""Beyond the thesis: ByteNet without attention, with a window of the source, and with the whole source.

The three train for the same time on Multi30k, on equal terms with the contest of the families. Their costs are measured
as those of the families are.
"""

from functools import partial

from bytenet.reproduction.engine.experiment import Basis, Experiment, Needs
from bytenet.reproduction.figures.contest import decoding_cost, quality, training_cost
from bytenet.reproduction.figures.contest.systems import ATTENTIONS

MINUTES = 15
SEEDS = 3


EXPERIMENTS = (
    Experiment(
        name="source-attention",
        is_thesis=False,
        title=f"ByteNet with attention to its source: Multi30k in characters, {MINUTES} minutes of two cores each",
        thesis="Not in the thesis. Its ByteNet has no attention.",
        needs=Needs(
            corpus="Multi30k",
            time={
                "smoke": "1 min, on Synthetic Digits",
                "cpu": f"3 h for {SEEDS} seeds with --jobs 1",
                "thesis": "as cpu",
            },
        ),
        basis=Basis("trained, beyond the thesis", f"d = 128, {MINUTES} minutes of two cores"),
        runs=lambda scale: [quality.run_of(system, scale, MINUTES) for system in ATTENTIONS],
        measure=partial(quality.measure, systems=ATTENTIONS, minutes=MINUTES),
        verdicts=quality.verdicts,
        plot=quality.plot,
        seeds={"cpu": SEEDS, "thesis": SEEDS},
        labels=lambda scale: [quality.label(system) for system in ATTENTIONS],
    ),
    Experiment(
        name="source-attention-training",
        is_thesis=False,
        title="ByteNet with attention to its source: time and memory of a training step",
        thesis="Not in the thesis.",
        needs=Needs(time={"smoke": "1 min", "cpu": "5 min", "thesis": "as cpu"}),
        basis=Basis("measured, other hardware", "d = 128, 2,560 characters a batch"),
        measure=partial(training_cost.measure, systems=ATTENTIONS),
        verdicts=training_cost.verdicts,
        plot=training_cost.plot,
    ),
    Experiment(
        name="source-attention-decoding",
        is_thesis=False,
        title="ByteNet with attention to its source: the cost of a character against the length of the sentence",
        thesis="Not in the thesis.",
        needs=Needs(time={"smoke": "1 min", "cpu": "5 min", "thesis": "as cpu"}),
        basis=Basis("measured, other hardware", "d = 128, untrained"),
        measure=partial(decoding_cost.measure, systems=ATTENTIONS),
        verdicts=decoding_cost.verdicts,
        plot=decoding_cost.plot,
    ),
)
