"""How fast the input pipeline is, and how much of its batches is padding."""

from dataclasses import dataclass
from itertools import islice
from typing import get_args

import numpy as np

from bytenet.config import DataConfig
from bytenet.datasets import BatchPlan, Pairs, Vocabulary, pair_lengths, plan_from_config, training_dataset
from bytenet.datasets.batches.bucketing import Bucketing
from bytenet.datasets.text.encoding import encode_texts
from bytenet.datasets.text.normalisation import NormalisedTexts
from bytenet.profiling.benchmarks.measurement import Spread, seconds_in_turns

# A small corpus is read many times, so that the measured time is long enough.
_LEAST_PAIRS_TIMED = 50_000


@dataclass(frozen=True)
class PipelineRate:
    """How fast one stage of the pipeline is.

    Attributes:
        stage: name of the stage.
        pairs_per_second: sentence pairs per second.
        chars_per_second: characters of both sides a second, with end symbols and without padding.
    """

    stage: str
    pairs_per_second: Spread
    chars_per_second: Spread


@dataclass(frozen=True)
class PaddingCost:
    """The padding of a bucketing method.

    Attributes:
        bucketing: the method.
        buckets: number of buckets, which is the number of batch shapes.
        batches: number of batches in an epoch.
        padding_share: share of all positions that is padding, with those of filler rows.
        least_pairs: number of pairs in the smallest bucket.
        times_optimal: `padding_share` over the least possible share with the same number of buckets, if a bucket may
            have any number of pairs. The methods by name are compared with as many buckets as "histogram" makes. None
            if the least share is 0.
    """

    bucketing: str
    buckets: int
    batches: int
    padding_share: float
    least_pairs: int
    times_optimal: float | None


def measure_pipeline(
    pairs: Pairs, vocabulary: Vocabulary, data_config: DataConfig, repeats: int = 5
) -> list[PipelineRate]:
    """Time the stages of the input pipeline of `bytenet train`, each over whole epochs.

    Args:
        pairs: the training pairs.
        vocabulary: vocabulary of the pairs.
        data_config: reads batch sizes and bucketing from it.
        repeats: measurements of each stage, after one that does not count.

    Returns:
        The rates of three stages. Encoding the corpus happens once in a run. Planning an epoch happens while the epoch
        before is trained on. The last rate matters for training: the batches as they reach the training loop.
    """
    plan = plan_from_config(pair_lengths(pairs, vocabulary), data_config)
    texts = NormalisedTexts([*pairs.source, *pairs.target])  # as in a run: pairs are normalised when they are read
    batches = iter(training_dataset(pairs, vocabulary, plan, seed=1))
    epochs = range(-(-_LEAST_PAIRS_TIMED // len(pairs)))
    stages = {
        "encode the corpus, once": lambda: [encode_texts(texts, vocabulary) for _ in epochs],
        "plan an epoch": lambda: [plan.epoch(1, epoch) for epoch in epochs],
        "deliver batches": lambda: [None for _ in epochs for _ in islice(batches, plan.num_batches)],
    }
    seconds = seconds_in_turns(stages, repeats)
    num_chars = int(encode_texts(texts, vocabulary).lengths.sum())
    return [
        PipelineRate(
            stage,
            pairs_per_second=Spread.of([len(epochs) * len(pairs) / value for value in values]),
            chars_per_second=Spread.of([len(epochs) * num_chars / value for value in values]),
        )
        for stage, values in seconds.items()
    ]


def compare_bucketing(lengths: np.ndarray, data_config: DataConfig) -> list[PaddingCost]:
    """The padding of the configured buckets, and of each bucketing method with as many buckets as "histogram" makes.

    The last row is "optimal, any size": the buckets with the least padding if a bucket may have any number of pairs
    (`data.bucket_min_size: 1`). All other rows are compared with it.

    Args:
        lengths: int `(pairs,)`, `pair_lengths` of the training pairs.
        data_config: reads the size of the batches and the limits of a bucket from it.
    """

    def cost(name: str, plan: BatchPlan, num_buckets: int) -> PaddingCost:
        least = best(num_buckets).padding_share
        return PaddingCost(
            name, len(plan.buckets), plan.num_batches, plan.padding_share,
            least_pairs=min(bucket.pairs for bucket in plan.buckets),
            times_optimal=plan.padding_share / least if least else None,
        )  # fmt: skip

    def best(num_buckets: int) -> BatchPlan:
        return plan_from_config(lengths, data_config, bucketing="optimal", num_buckets=num_buckets, min_size=1)

    configured = plan_from_config(lengths, data_config)
    num_buckets = len(plan_from_config(lengths, data_config, bucketing="histogram").buckets)
    costs = [cost(f"as set: {data_config.bucketing}", configured, len(configured.buckets))]
    for bucketing in reversed(get_args(Bucketing)):
        plan = plan_from_config(lengths, data_config, bucketing=bucketing, num_buckets=num_buckets)
        costs.append(cost(bucketing, plan, num_buckets))
    return [*costs, cost("optimal, any size", best(num_buckets), num_buckets)]
