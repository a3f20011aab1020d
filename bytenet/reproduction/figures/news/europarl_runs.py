"""The trainings on Europarl."""

from collections.abc import Callable
from pathlib import Path

from bytenet.config import load_config
from bytenet.datasets import read_corpus
from bytenet.errors import InputError
from bytenet.reproduction.data import thesis_numbers
from bytenet.reproduction.engine.experiment import Basis, Needs, Scale
from bytenet.reproduction.figures.shared.corpus_files import as_files, joined, number_words, pairs_of_lengths, shuffled
from bytenet.reproduction.figures.shared.thesis_settings import AS_THESIS, SELU_WEIGHTS, width_settings
from bytenet.reproduction.jobs.training_run import TrainingRun

FULL_SHUFFLE = "bytenet, whole corpus shuffled"
# The validation set is the thesis's test set. The last model is kept, so the set selects nothing.
_SCALES: dict[Scale, tuple[str, ...]] = {
    "smoke": (
        "model.num_sets=1", "data.batch_size=8", "data.shuffle_buffer=8", "training.epochs=2",
        "training.jit_compile=false", "training.devices=[CPU:0, CPU:1]", "evaluation.continuous_every_steps=2",
        "evaluation.continuous_batch_size=8",
    ),
    "cpu": (
        "data.batch_size=16", "data.num_buckets=4", "data.shuffle_buffer=64",
        "training.learning_rate=1e-3", "evaluation.every_epochs=13", "evaluation.max_sentences=500",
        "evaluation.continuous_every_steps=20",
    ),
    "thesis": (
        "data.bucketing=histogram", "data.validation_years=[2015]", "evaluation.every_epochs=13",
        "evaluation.max_sentences=null", "evaluation.continuous_every_steps=100",
    ),
}  # fmt: skip
_TEXTS = {
    "smoke": "number words",
    "cpu": "a sample of Europarl's beginning and NewsTest 2011 to 2013, mixed, up to 79 characters; tested on those of "
    "NewsTest 2015 (1,901,056 pairs of Europarl, all of NewsTest 2015)",
}
_PAIRS_OF_EUROPARL: int = thesis_numbers("corpora")["europarl_pairs"]
_CPU_LENGTHS = (0, 79)
_CPU_PAIRS = 4000  # upper limit
_CPU_YEARS = (2011, 2012, 2013)
BASIS = Basis("trained, smaller", f"{_CPU_PAIRS:,} pairs, d = 64")
BASIS_BESIDE_SIMPLIFIED = Basis("trained, smaller", f"{_CPU_PAIRS:,} pairs, ByteNet of d = 64")
NEEDS = Needs(
    corpus="Europarl v7 (downloaded at thesis scale), NewsTest 2011 to 2013 (cpu), 2015",
    time={
        "smoke": "1 min, on generated number words",
        "cpu": "5 min a model and core: Europarl sample and NewsTest 2011 to 2013, up to 79 characters, width 64",
        "thesis": "3.75 days (ByteNet), 2.96 (Simplified) on 4 Titan X of 2017; one H100-class GPU: not measured",
    },
)


def _files(scale: Scale) -> Callable[[Path], list[str]]:
    def prepare(folder: Path) -> list[str]:
        if scale == "smoke":
            return as_files(folder, *number_words())
        from bytenet.datasets.corpora.europarl import sample
        from bytenet.datasets.corpora.newstest import newstest

        # Mixed, so that all parts of the file have the same kind of text.
        train = shuffled(joined([sample("de", "en"), newstest(_CPU_YEARS, "de", "en")]))
        train = pairs_of_lengths(train, *_CPU_LENGTHS, _CPU_PAIRS)
        return as_files(folder, train, pairs_of_lengths(newstest([2015], "de", "en"), *_CPU_LENGTHS))

    return prepare


def _whole_corpus(folder: Path) -> list[str]:
    """Raise an InputError if only a sample of Europarl is available: the thesis had all of it."""
    corpus = read_corpus(load_config("europarl").data)
    if len(corpus.train) < _PAIRS_OF_EUROPARL:
        raise InputError(
            f"The Europarl at hand has {len(corpus.train):,} training pairs, the thesis had {_PAIRS_OF_EUROPARL:,}. "
            "Unset BYTENET_DATA or remove europarl/ from it to download the corpus, or use --scale cpu."
        )
    return []


def europarl_run(variant: str, scale: Scale, full_shuffle: bool = False) -> TrainingRun:
    """The training of a variant, with the thesis's order of pairs or a new order in every epoch."""
    name = f"europarl-{variant}" + ("-full-shuffle" if full_shuffle else "")
    weights = (SELU_WEIGHTS,) if variant == "selu" else ()
    # "buffer" keeps the order of the files, as in the thesis.
    settings = [
        f"model.variant={variant}", *AS_THESIS, *weights, "data.shuffle=buffer", *width_settings(variant, scale),
        *_SCALES[scale],
    ]  # fmt: skip
    if full_shuffle:
        settings.append("data.shuffle=corpus")
    prepare = _whole_corpus if scale == "thesis" else _files(scale)
    return TrainingRun(name, "europarl", tuple(settings), prepare, _TEXTS.get(scale, ""))


def bytenet_runs(scale: Scale) -> dict[str, TrainingRun]:
    return {
        "bytenet": europarl_run("bytenet", scale),
        FULL_SHUFFLE: europarl_run("bytenet", scale, full_shuffle=True),
    }


def beside_bytenet(variant: str) -> Callable[[Scale], dict[str, TrainingRun]]:
    return lambda scale: {"bytenet": europarl_run("bytenet", scale), variant: europarl_run(variant, scale)}
