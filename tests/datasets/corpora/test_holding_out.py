"""Held-out pairs share no sentence with the training pairs."""

import numpy as np

from bytenet.datasets.corpora.preparation.holding_out import hold_out_components, hold_out_tail
from bytenet.datasets.parallel import Pairs


def test_splits_by_component_share_no_sentence():
    random = np.random.RandomState(0)
    pairs = Pairs(*([f"{side}{i}" for i in random.randint(0, 150, 200)] for side in "st"))
    train, validation, test = hold_out_components(pairs, 10, salt="x", max_pairs=5)
    assert len(validation) == len(test) == 10
    splits = [(set(split.source), set(split.target)) for split in (train, validation, test)]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert not splits[one][0] & splits[other][0]
        assert not splits[one][1] & splits[other][1]


def test_components_are_joined_by_both_sides():
    # Pairs 0-1 share a source, 1-2 a target, 2-3 a source. They form one component of four; pair 4 is alone.
    pairs = Pairs(["a", "a", "b", "b", "c"], ["1", "2", "2", "3", "4"])
    train, validation, test = hold_out_components(pairs, 1, salt="", max_pairs=3)
    assert (train.target, validation.target, test.target) == (["1", "2", "2", "3"], ["4"], [])


def test_unicode_forms_and_blanks_do_not_make_another_sentence():
    pairs = Pairs(["u\u0308 ", "a", "b", "\u00fc"], ["1", "2", "3", "4"])
    assert hold_out_tail(pairs, 1)[0].target == ["2"]
    splits = hold_out_components(pairs, 1, salt="")
    assert {"1", "4"} <= set(splits[0].target) or not {"1", "4"} & set(splits[0].target)
    assert sorted(len(split) for split in splits[1:]) == [1, 1]


def test_hold_out_tail_drops_training_pairs_with_held_out_targets():
    pairs = Pairs(list("abcdef"), list("ABCDEC"))
    train, validation, test = hold_out_tail(pairs, 1)
    assert (train.target, validation.target, test.target) == (["A", "B", "D"], ["E"], ["C"])
