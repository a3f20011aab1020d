"""A sentence's logits and hypotheses depend on nothing but the sentence: 1,000 random cases for each family.

A case is a batch of random sentences. `make test-all` runs 1,000 of them, `make test` a few.
"""

from functools import cache

import numpy as np
import pytest

from bytenet.datasets.batches.bucketing import plan_batches
from bytenet.decoding import SearchResult

from .cases import FAMILY_CASES, Case, draw_sentences, pad, parametrize
from .traced_model import traced
from .traced_search import as_numpy, assert_same_hypotheses, graph_of

every_masking_family = parametrize([case for case in FAMILY_CASES if case.config.mask_padding])
few_and_many = pytest.mark.parametrize("number", [20, pytest.param(1000, marks=pytest.mark.slow)])

_LENGTHS = np.random.default_rng(5).integers(1, 20, (80, 2))
_SOURCES = draw_sentences(_LENGTHS[:, 0], seed=1)
_TARGETS = draw_sentences(_LENGTHS[:, 1], seed=2)

_SHORT_SOURCES = draw_sentences(np.random.default_rng(6).integers(1, 9, 80), seed=3)
_LIMITS = np.random.default_rng(7).integers(0, 14, 80).astype("int32")


@cache
def logits_alone(case: Case, index: int) -> np.ndarray:
    """The logits of a pair that has no neighbours and no padding."""
    return traced(case.config).logits([_SOURCES[index]], [_TARGETS[index]])[0]


@every_masking_family
@few_and_many
def test_logits_do_not_depend_on_neighbours_padding_or_bucket(case, number):
    random = np.random.default_rng(number)
    for _ in range(number):
        length, indices = planned_batch(random)
        wide = length + random.integers(0, 6, 2) * random.integers(0, 2)  # a model's own padding need not be equal
        sources, targets = ([side[i] if i >= 0 else [] for i in indices] for side in (_SOURCES, _TARGETS))
        together = traced(case.config).logits(pad(sources, wide[0]), pad(targets, wide[1]))
        assert np.all(np.isfinite(together))
        for index, logits in zip(indices.tolist(), together, strict=True):
            if index >= 0:
                expected = logits_alone(case, index)
                np.testing.assert_allclose(logits[: len(expected)], expected, atol=1e-5)


def planned_batch(random: np.random.Generator) -> tuple[int, np.ndarray]:
    """A batch of a training with random settings: its padded length, and its pairs; -1 is a row without a pair."""
    plan = plan_batches(
        _LENGTHS.max(axis=1),
        batch_size=int(random.integers(1, 9)),
        min_size=1,
        min_width=int(random.integers(1, 8)),
        bucketing=str(random.choice(["optimal", "histogram", "fixed_width", "none"])),  # type: ignore[arg-type]
        num_buckets=int(random.integers(1, 7)),
        pad_to_multiple_of=int(random.integers(1, 8)),
    )
    batches = plan.epoch(seed=int(random.integers(1000)), epoch=1)
    batch = batches[random.integers(len(batches))]
    return batch.length, batch.indices


@cache
def hypotheses_alone(case: Case, index: int) -> SearchResult:
    """The hypotheses of a sentence that has no neighbours and no padding."""
    return as_numpy(graph_of(case, "beam")(pad([_SHORT_SOURCES[index]]), _LIMITS[index : index + 1]))


@every_masking_family
@few_and_many
def test_hypotheses_do_not_depend_on_the_beams_of_neighbours_or_padding(case, number):
    random = np.random.default_rng(number)
    for _ in range(number):
        indices = random.integers(0, len(_SHORT_SOURCES), random.integers(1, 7))
        sources = pad([_SHORT_SOURCES[i] for i in indices], int(random.integers(0, 13)))
        together = as_numpy(graph_of(case, "beam")(sources, _LIMITS[indices]))
        for row, index in enumerate(indices.tolist()):
            alone = hypotheses_alone(case, index)
            assert_same_hypotheses(SearchResult(*(array[row : row + 1] for array in together)), alone)
