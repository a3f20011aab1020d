"""The trainings of models that learn NewsTest 2014 by heart."""

import math
from collections.abc import Callable
from pathlib import Path

from bytenet.reproduction.data import thesis_numbers
from bytenet.reproduction.engine.experiment import Basis, Needs, Scale
from bytenet.reproduction.figures.shared.corpus_files import as_files, number_words, pairs_of_lengths
from bytenet.reproduction.figures.shared.thesis_settings import AS_THESIS, SELU_WEIGHTS, width_settings
from bytenet.reproduction.jobs.training_run import TrainingRun

_EPOCHS = {"bytenet": 121, "simplified": 76, "selu": 301, "no_norm": 301}
_PAIRS, _BATCH_SIZE = thesis_numbers("corpora")["newstest_2014_pairs"], 64
CPU_PAIRS, CPU_LENGTHS = 512, (50, 149)
_CPU_EPOCHS, _CPU_BATCH_SIZE = 100, 16
# The validation set is the thesis's test set. The last model is kept, so the set selects nothing.
_SCALES: dict[Scale, tuple[str, ...]] = {
    "smoke": (
        "model.num_sets=1", "data.batch_size=8", "training.epochs=2", "training.jit_compile=false",
        "evaluation.continuous_every_steps=2", "evaluation.continuous_batch_size=8",
    ),
    "cpu": (
        f"data.batch_size={_CPU_BATCH_SIZE}", "data.num_buckets=2", "training.learning_rate=1e-3",
        f"training.epochs={_CPU_EPOCHS}", f"evaluation.every_epochs={_CPU_EPOCHS}",
        "evaluation.continuous_every_steps=50",
    ),
    "thesis": (
        "data.bucketing=histogram", "data.max_length=10000", "evaluation.continuous_every_steps=94",
        "evaluation.every_epochs=1000",
    ),
}  # fmt: skip
_TEXTS = {
    "smoke": "number words",
    "cpu": f"the first {CPU_PAIRS} pairs of {CPU_LENGTHS[0]} to {CPU_LENGTHS[1]} characters of NewsTest 2014, as many "
    "of 2015 (all 3,003 and 2,169)",
}
BASIS = Basis("trained, smaller", f"{CPU_PAIRS} pairs, d = 64")
BASIS_BESIDE_SIMPLIFIED = Basis("trained, smaller", f"{CPU_PAIRS} pairs, ByteNet of d = 64")
NEEDS = Needs(
    corpus="NewsTest 2014, 2015",
    time={
        "smoke": "1 min, on generated number words",
        "cpu": "8 min a model and core: 512 pairs of 50 to 149 characters, width 64",
        "thesis": "the thesis's 3,003 pairs and width: a GPU, hours",
    },
)


def fewer_steps_without_normalization(scale: Scale) -> str:
    """How many steps a smaller training without normalisation has, and how many the thesis's has, in words."""
    of_thesis = round(_EPOCHS["no_norm"] * math.ceil(_PAIRS / _BATCH_SIZE), -2)
    here = f"{_CPU_EPOCHS * CPU_PAIRS // _CPU_BATCH_SIZE:,}" if scale == "cpu" else "a few"
    return f"{here} steps here, about {of_thesis:,} in the thesis"


def _files(scale: Scale) -> Callable[[Path], list[str]]:
    def prepare(folder: Path) -> list[str]:
        if scale == "smoke":
            return as_files(folder, *number_words())
        from bytenet.datasets.corpora.newstest import newstest

        train, test = (pairs_of_lengths(newstest([year], "de", "en"), *CPU_LENGTHS, CPU_PAIRS) for year in (2014, 2015))
        return as_files(folder, train, test)

    return prepare


def memorise_run(variant: str, scale: Scale) -> TrainingRun:
    """The training of a variant."""
    weights = (SELU_WEIGHTS,) if variant == "selu" else ()
    settings = (f"model.variant={variant}", *AS_THESIS, *weights, *width_settings(variant, scale), *_SCALES[scale])
    if scale == "thesis":
        return TrainingRun(
            f"memorise-{variant}", "newstest-memorise", (*settings, f"training.epochs={_EPOCHS[variant]}")
        )
    return TrainingRun(f"memorise-{variant}", "newstest-memorise", settings, _files(scale), _TEXTS[scale])
