"""Models that translate together."""

import keras
import numpy as np
import pytest
from keras.ops import convert_to_numpy, softmax

from bytenet.config.families.bytenet import ByteNetConfig
from bytenet.config.families.transformer import TransformerConfig
from bytenet.decoding import CompiledSearch
from bytenet.models import Ensemble
from bytenet.models.ensemble import _log_mean_probability

from ..contract.cases import VOCAB_SIZE, draw_sentences, narrow, pad
from ..contract.traced_model import traced
from ..contract.varied_model import varied

BYTENET, TRANSFORMER = narrow(ByteNetConfig), narrow(TransformerConfig)
SOURCES = pad(draw_sentences([7, 4], seed=1))


def test_probabilities_are_averaged():
    logits = [np.log([[0.9, 0.1]]) + 3.0, np.log([[0.2, 0.8]])]
    np.testing.assert_allclose(softmax(_log_mean_probability(logits)), [[0.55, 0.45]], atol=1e-6)


def test_one_model_twice_is_that_model():
    model = varied(BYTENET)
    results = [
        CompiledSearch(one, beam_size=4, n_best=3)(SOURCES, max_length=12) for one in (model, Ensemble([model, model]))
    ]
    for single, double in zip(*results, strict=True):
        np.testing.assert_allclose(double, single, atol=1e-4)


def test_families_translate_together_in_call_and_search():
    members = [varied(BYTENET), varied(TRANSFORMER)]
    ensemble = Ensemble(members)
    target_ids = pad(draw_sentences([6, 9], seed=2))
    inputs = {"source_ids": SOURCES, "target_ids": target_ids}
    expected = np.mean([convert_to_numpy(softmax(member(inputs))) for member in members], axis=0)
    np.testing.assert_allclose(softmax(ensemble(inputs)), expected, atol=1e-5)

    result = CompiledSearch(ensemble, beam_size=4, n_best=4)(SOURCES, max_length=12)
    for row, source in enumerate(SOURCES):
        ids = convert_to_numpy(result.ids[row])
        inputs = {"source_ids": np.repeat(source[None], 4, axis=0), "target_ids": ids}
        probabilities = np.mean([convert_to_numpy(softmax(member(inputs))) for member in members], axis=0)
        chosen = np.take_along_axis(probabilities, ids[..., None], axis=-1)[..., 0]
        np.testing.assert_allclose(
            result.log_probabilities[row], np.where(ids != 0, np.log(chosen), 0).sum(axis=1), atol=1e-3
        )


def test_alignment_is_the_mean_of_the_members_with_attention():
    model = traced(TRANSFORMER).model
    other = traced(narrow(TransformerConfig, positions="learned")).model
    ensemble = Ensemble([model, traced(BYTENET).model, other])
    previous_ids = pad(draw_sentences([5, 3]))
    expected = [one.alignment(one.encode(SOURCES), previous_ids) for one in (model, other)]
    assert ensemble.has_attention
    np.testing.assert_allclose(
        ensemble.alignment(ensemble.encode(SOURCES), previous_ids), np.mean(expected, axis=0), atol=1e-5
    )
    assert not Ensemble([traced(BYTENET).model]).has_attention


def test_limits_are_the_smallest_of_the_members():
    short = narrow(TransformerConfig, positions="learned", max_positions=9)
    ensemble = Ensemble([traced(BYTENET).model, traced(short).model])
    assert ensemble.max_target_length(20) == 9
    assert ensemble.length_policy.longest == 9


def test_a_member_that_needs_the_length_of_the_pair_makes_the_ensemble_need_it():
    unfolding, pairing = narrow(ByteNetConfig), narrow(ByteNetConfig, settings="thesis", mask_padding=True)
    members = [traced(config).model for config in (unfolding, pairing)]
    for ensemble in (Ensemble(members), Ensemble(members[::-1])):
        assert ensemble.length_policy.pads_to_pair
        assert ensemble.max_target_length(20) == 20
    assert not Ensemble(members[:1]).length_policy.pads_to_pair


def test_unfit_members_are_refused():
    with pytest.raises(ValueError, match="at least one"):
        Ensemble([])
    with pytest.raises(ValueError, match=rf"same vocabulary; they have \[{VOCAB_SIZE}, 5\]"):
        Ensemble([traced(BYTENET).model, traced(BYTENET, 5).model])
    with pytest.raises(ValueError, match="reads padding"):
        Ensemble([traced(narrow(ByteNetConfig, settings="thesis")).model])


def test_saved_ensemble_is_loaded_with_the_weights_of_all_members(tmp_path):
    ensemble = Ensemble([traced(BYTENET).model, traced(TRANSFORMER).model])
    ensemble.save(tmp_path / "ensemble.keras")
    loaded = keras.saving.load_model(tmp_path / "ensemble.keras")
    assert [member.config for member in loaded.members] == [BYTENET, TRANSFORMER]
    inputs = {"source_ids": SOURCES, "target_ids": pad(draw_sentences([6, 9], seed=2))}
    np.testing.assert_array_equal(loaded(inputs), ensemble(inputs))
