"""Every family can be trained with R-Drop: each step predicts a batch twice, with different dropout."""

import keras
import numpy as np
import pytest
from keras.ops import convert_to_numpy

from bytenet.config import TrainingConfig, load_config
from bytenet.errors import ConfigError
from bytenet.models import build_model
from bytenet.training.compiled_models.compilation import check_trainable, compile_model
from bytenet.training.losses import RDropCrossEntropy, SentenceCrossEntropy

from .cases import FAMILY_CASES, VOCAB_SIZE, draw_sentences, narrow, pad, parametrize, randomize

BYTENET = [case for case in FAMILY_CASES if case.config.family == "bytenet"]
SOURCE_IDS, TARGET_IDS = pad(draw_sentences([9, 4])), pad(draw_sentences([6, 11], seed=1))
PAIR = {"source_ids": SOURCE_IDS, "target_ids": TARGET_IDS}


def make_model(case, r_drop, **settings):
    keras.utils.set_random_seed(1)
    model = build_model(narrow(type(case.config), **settings), VOCAB_SIZE)
    randomize(model)
    training = TrainingConfig(r_drop=r_drop, label_smoothing=0.1)
    compile_model(model, keras.optimizers.SGD(0.1), training, jit_compile=False)
    return model


@parametrize(FAMILY_CASES)
def test_a_training_step_compares_two_predictions(case):
    model = make_model(case, r_drop=5.0, dropout=0.3)
    seen = []

    class Watched(RDropCrossEntropy):
        def call(self, y_true, y_pred):
            seen.append(convert_to_numpy(y_pred))
            return super().call(y_true, y_pred)

    model.compile(keras.optimizers.SGD(0.1), Watched(5.0), run_eagerly=True)
    logits = model(PAIR, training=True)
    loss = model.compute_loss(PAIR, TARGET_IDS, logits, np.ones(2, "float32"), training=True)
    (both,) = seen
    assert both.shape == (2, 2, *logits.shape[1:])
    np.testing.assert_array_equal(both[:, 0], logits)
    assert np.abs(both[:, 0] - both[:, 1]).max() > 1e-2
    np.testing.assert_allclose(loss, RDropCrossEntropy(5.0)(TARGET_IDS, both), rtol=1e-6)
    assert float(loss) > float(RDropCrossEntropy(0.0)(TARGET_IDS, both)) + 0.01


@parametrize(FAMILY_CASES)
def test_evaluation_predicts_once_and_gives_the_cross_entropy(case):
    model = make_model(case, r_drop=5.0, character_dropout=0.3)
    logits = model(PAIR)
    loss = model.compute_loss(PAIR, TARGET_IDS, logits, training=False)
    np.testing.assert_allclose(loss, SentenceCrossEntropy(0.1)(TARGET_IDS, logits), rtol=1e-6)
    np.testing.assert_allclose(model.evaluate(PAIR, TARGET_IDS, verbose=0)[0], loss, rtol=1e-5)


@parametrize(BYTENET)
def test_steps_lower_the_divergence_of_the_predictions(case):
    def divergence(r_drop):
        model = make_model(case, r_drop, dropout=0.3)
        model.run_eagerly = True
        for _ in range(20):
            model.train_on_batch(PAIR, TARGET_IDS)
        both = np.stack([model(PAIR, training=True) for _ in range(2)], axis=1)
        return float(RDropCrossEntropy(4.0)(TARGET_IDS, both) - RDropCrossEntropy(0.0)(TARGET_IDS, both))

    assert divergence(5.0) < 0.7 * divergence(0.0)


@parametrize(BYTENET)
def test_the_loss_has_the_settings_of_the_training(case):
    model = make_model(case, r_drop=5.0, dropout=0.3)
    assert isinstance(model.loss, RDropCrossEntropy)
    assert (model.loss.weight, model.loss.label_smoothing, model.training_passes) == (5.0, 0.1, 2)
    compile_model(model, keras.optimizers.SGD(0.1), TrainingConfig(), jit_compile=False)
    assert type(model.loss) is SentenceCrossEntropy
    assert model.training_passes == build_model(model.config, VOCAB_SIZE).training_passes == 1


@pytest.mark.parametrize("setting", ["dropout", "character_dropout", "attention_dropout"])
def test_any_dropout_is_enough_for_r_drop(setting):
    settings = ["model.family=transformer", "training.r_drop=5", "model.dropout=0"]
    check_trainable(load_config("digits", [*settings, f"model.{setting}=0.1"]))
    with pytest.raises(ConfigError, match="the model has no dropout"):
        check_trainable(load_config("digits", settings))
