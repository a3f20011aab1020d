"""Text in, bucketed batches out.

`text` reads files and makes ids of characters, `corpora` has the corpora by name, and `batches` plans and makes the
batches of a training. `shards` does the same for corpora larger than memory. `corpus_report` describes a corpus before
training.

Importing this package does not import TensorFlow. Modules that need it are imported when one of their names is first
used.
"""

from typing import Any

from bytenet.datasets.batches.bucketing import plan_batches, plan_from_config
from bytenet.datasets.batches.epoch_shapes import Bucket
from bytenet.datasets.batches.lengths import pair_lengths
from bytenet.datasets.batches.partition import histogram_cuts, optimal_cuts
from bytenet.datasets.batches.plan import BatchPlan, PlannedBatch, length_groups
from bytenet.datasets.corpora import available
from bytenet.datasets.loading import load_corpus, read_corpus
from bytenet.datasets.parallel import Corpus, Pairs
from bytenet.datasets.selection import (
    SelectedPairs,
    SelectedTexts,
    select_monolingual,
    select_training_pairs,
    training_pairs,
)
from bytenet.datasets.text.normalisation import normalise
from bytenet.datasets.text.text_files import read_lines, read_parallel
from bytenet.datasets.text.vocabulary import Vocabulary
from bytenet.lite.characters import EOS_ID, PAD_ID, UNKNOWN_ID

_PIPELINE_NAMES = ("evaluation_dataset", "loss_weights", "monolingual_dataset", "training_dataset")

__all__ = [
    "EOS_ID",
    "PAD_ID",
    "UNKNOWN_ID",
    "BatchPlan",
    "Bucket",
    "Corpus",
    "Pairs",
    "PlannedBatch",
    "SelectedPairs",
    "SelectedTexts",
    "Vocabulary",
    "available",
    "evaluation_dataset",
    "histogram_cuts",
    "length_groups",
    "load_corpus",
    "loss_weights",
    "monolingual_dataset",
    "normalise",
    "optimal_cuts",
    "pair_lengths",
    "plan_batches",
    "plan_from_config",
    "read_corpus",
    "read_lines",
    "read_parallel",
    "select_monolingual",
    "select_training_pairs",
    "training_dataset",
    "training_pairs",
]


def __getattr__(name: str) -> Any:
    if name in _PIPELINE_NAMES:
        from bytenet.datasets.batches import pipeline

        return getattr(pipeline, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
