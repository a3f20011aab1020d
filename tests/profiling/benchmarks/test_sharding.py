"""The benchmark of shards: made corpora have exactly the faults that they claim, and all is measured."""

from itertools import islice

import pytest

from bytenet.config import load_config
from bytenet.datasets import Pairs
from bytenet.datasets.shards.dealing.shard_corpus import shard_corpus
from bytenet.errors import InputError
from bytenet.profiling.benchmarks.sharding.made_corpus import _made, write_made_corpus
from bytenet.profiling.benchmarks.sharding.training import compare_training

PAIRS = Pairs(["ein langer Satz", "kurz", "noch ein Satz für alle"], ["a long sentence", "short", "one more for all"])


@pytest.mark.parametrize("number", [999, 1000, 1399, 100_300])
def test_made_corpora_have_the_faults_that_they_claim(tmp_path, number):
    paths, faults = write_made_corpus(tmp_path, PAIRS, number)
    report = shard_corpus(paths, tmp_path / "shards", shards=2, duplicates_megabytes=4, processes=0)
    assert report.read == number
    assert {entry.reason: entry.pairs for entry in report.left_out if entry.pairs} == faults
    assert report.kept == number - number // 100


def test_made_pairs_are_real_ones():
    source, target = next(islice(_made([("ein Satz", "a sentence")]), 7, None))
    assert (source, target) == ("ein Satz 7", "a sentence 7")


def test_a_corpus_without_sentences_is_refused(tmp_path):
    with pytest.raises(InputError, match="has no pairs of 10 to 400 letters"):
        write_made_corpus(tmp_path, Pairs(["a"], ["b"]), 1000)


@pytest.mark.thorough
def test_training_from_shards_is_compared_with_training_from_memory(tmp_path):
    settings = ("model.dim=4", "model.num_sets=1", "model.dilations=[1]", "training.jit_compile=false")
    config = load_config("numbers", [*settings, "data.batch_size=4", "data.bucketing=none"])
    memory, shards = compare_training(PAIRS, config, tmp_path, steps=3, repeats=2)
    assert (memory.pairs_from, shards.pairs_from) == ("memory", "shards")
    assert memory.ratio.median == 1
    assert shards.positions_per_second.least > 0
