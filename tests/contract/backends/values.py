"""The values of layers, models, losses and schedules on one Keras backend.

`python -m tests.contract.backends.values FILE` computes these values on the backend in KERAS_BACKEND and pickles them.
`test_backends.py` compares the files of the backends.
"""

import os
import pickle
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial

if __name__ == "__main__" and os.environ["KERAS_BACKEND"] != "tensorflow":
    sys.modules["tensorflow"] = None  # importing it fails, even if it is installed

import keras
import numpy as np
from keras.ops import convert_to_numpy, convert_to_tensor

from bytenet.config import ModelConfig, TrainingConfig
from bytenet.layers import ThesisCodeUniform, batch_norm_statistics, initializers_for
from bytenet.layers.fast import use_tap_products
from bytenet.layers.initializers import JointGlorotUniform, OpenGates
from bytenet.models import build_model
from bytenet.training.compiled_models.compilation import compile_model
from bytenet.training.losses import SentenceCrossEntropy, sentence_cross_entropy
from bytenet.training.metrics import CharacterError
from bytenet.training.optimizers.schedules import WarmupDecay, make_schedule

from ..cases import VARIANT_CASES, VOCAB_SIZE, randomize
from ..plain_layers import plain_layers
from .layers import LAYERS, SENTENCES, Values, draw, layer_values, weight_values

SAMPLE_WEIGHTS = np.array([0.5, 1.0, 0.1], "float32")
SCHEDULES = ("constant", "cosine", "linear", "inverse_sqrt", "plateau", "step")


def model_values(config: ModelConfig) -> Values:
    """Logits of `call` and of `step`, the loss of the batch, and the change of all weights in one training step."""
    keras.utils.set_random_seed(1)
    # The thesis's baseline has Keras's dropout, whose random numbers differ between backends.
    has_own_dropout = getattr(config, "decoder", None) != "madsen"
    model = build_model(replace(config, dropout=0.2) if has_own_dropout else config, VOCAB_SIZE)
    randomize(model)
    inputs = {name: convert_to_tensor(ids) for name, ids in SENTENCES.items()}
    logits = model(inputs)
    loss = SentenceCrossEntropy(label_smoothing=0.1)
    schedule = WarmupDecay(1.0, "cosine", warmup_steps=1, total_updates=10)
    model.compile(keras.optimizers.SGD(schedule), loss, metrics=[CharacterError()], run_eagerly=True, jit_compile=False)
    values = {
        "logits": logits,
        "logits of steps": step_logits(model),
        "loss": model.compute_loss(
            x=inputs, y=inputs["target_ids"], y_pred=logits, sample_weight=convert_to_tensor(SAMPLE_WEIGHTS)
        ),
    }
    with batch_norm_statistics(model, "batch"):
        values["logits with the statistics of the batch"] = model(inputs)
    before = model.get_weights()
    results = model.train_on_batch(SENTENCES, SENTENCES["target_ids"], SAMPLE_WEIGHTS, return_dict=True)
    values |= {f"training, {name}": value for name, value in results.items()}
    for name, old, new in zip(weight_values(model), before, model.get_weights(), strict=True):
        values[f"change of {name}"] = new - old
    return values


def step_logits(model):
    """The logits of four steps for two hypotheses of each source, which are reordered between steps, as in a beam."""
    memory = model.encode(convert_to_tensor(SENTENCES["source_ids"]))
    state, all_logits = model.initial_state(memory, 8, beam_size=2), []
    parents = convert_to_tensor(np.array([[1, 0], [1, 1], [0, 1]], "int32"))
    symbols = [[0] * 6, [3, 4, 5, 6, 7, 8], [6, 3, 1, 8, 9, 3], [2, 9, 10, 1, 4, 5]]
    for position, previous_ids in enumerate(symbols):
        logits, state = model.step(convert_to_tensor(np.array(previous_ids, "int32")), state, memory, position)
        all_logits.append(logits)
        state = model.select(state, parents)
    return keras.ops.stack(all_logits)


def fast_and_plain_values() -> Values:
    """The logits of a model with plain layers, and of a model that computes convolutions as products."""
    with plain_layers():
        plain = build_model(VARIANT_CASES[0].config, VOCAB_SIZE)
    product = build_model(VARIANT_CASES[0].config, VOCAB_SIZE)
    use_tap_products(product)
    values = {}
    for name, model in (("plain", plain), ("product", product)):
        randomize(model)
        values[name] = model({key: convert_to_tensor(ids) for key, ids in SENTENCES.items()}, training=True)
    return values


def r_drop_values() -> Values:
    """The measurements of three training steps that predict a batch twice, and the weights after them."""
    keras.utils.set_random_seed(1)
    model = build_model(replace(VARIANT_CASES[0].config, dropout=0.2), VOCAB_SIZE)
    randomize(model)
    compile_model(model, keras.optimizers.SGD(0.1), TrainingConfig(r_drop=5.0), jit_compile=False)
    batch = (SENTENCES, SENTENCES["target_ids"], SAMPLE_WEIGHTS)
    values = {}
    for step in range(3):
        results = model.train_on_batch(*batch, return_dict=True)
        values |= {f"step {step}, {name}": value for name, value in results.items()}
    return values | weight_values(model)


def loss_values() -> Values:
    logits, target_ids = convert_to_tensor(draw(3, 7, VOCAB_SIZE)), convert_to_tensor(SENTENCES["target_ids"])
    error = CharacterError()
    error.update_state(target_ids, logits)
    return {
        "cross entropy": sentence_cross_entropy(logits, target_ids),
        "smoothed cross entropy": sentence_cross_entropy(logits, target_ids, label_smoothing=0.1),
        "loss": SentenceCrossEntropy()(target_ids, logits, sample_weight=convert_to_tensor(SAMPLE_WEIGHTS)),
        "character error": error.result(),
    }


def schedule_values(name: str) -> Values:
    training = TrainingConfig(learning_rate=0.01, schedule=name, warmup_steps=5, final_learning_rate=0.001)
    schedule = make_schedule(training, total_updates=40)
    schedule.begin_run(total_updates=40, updates_per_epoch=4)
    rates = [schedule(convert_to_tensor(step, dtype="int64")) for step in (0, 3, 4, 5, 20, 39, 60)]
    schedule.begin_run(total_updates=50, updates_per_epoch=5)
    return {"rates": np.array([convert_to_numpy(rate) for rate in rates]), "later": schedule(20)}


def initializer_values() -> Values:
    """Largest value and root mean square of the drawn weights, because backends draw different numbers."""
    shapes = {
        "matrix of the thesis's code": (ThesisCodeUniform(seed=1), (60, 90)),
        "kernel of the thesis's code": (ThesisCodeUniform(seed=1, gain=2.0), (3, 40, 50)),
        **{
            f"{scheme}, {place}": (getattr(initializers_for(scheme, "relu", 5), place)(), (3, 40, 50))
            for scheme in ("auto", "he", "thesis_selu")
            for place in ("hidden", "residual", "head")
        },
    }
    values: Values = {}
    for name, (initializer, shape) in shapes.items():
        drawn = convert_to_numpy(initializer(shape))
        values[name] = np.array([np.abs(drawn).max(), np.square(drawn).mean() ** 0.5])
    matrix = convert_to_numpy(JointGlorotUniform(80, (100, 50), seed=1)((40, 150)))
    values["gates and candidate"] = np.array([np.abs(matrix[:, :100]).max(), np.abs(matrix[:, 100:]).max()])
    values["biases of gates"] = OpenGates()((6,))
    return values


# All values to compute. Each part has its own function, so that a failing part does not hide the others.
PARTS: dict[str, Callable[[], Values]] = {
    **{f"layer, {name}": partial(layer_values, name) for name in LAYERS},
    **{f"model, {case.name}": partial(model_values, case.config) for case in VARIANT_CASES},
    "fast and plain layers": fast_and_plain_values,
    "losses": loss_values,
    "R-Drop": r_drop_values,
    **{f"schedule, {name}": partial(schedule_values, name) for name in SCHEDULES},
    "initializers": initializer_values,
}


def main(path: str) -> None:
    results: dict[str, Values | str] = {}
    for name, compute in PARTS.items():
        try:
            results[name] = {key: convert_to_numpy(value) for key, value in compute().items()}
        except Exception:  # the test of this part reports any error
            results[name] = traceback.format_exc()
    with open(path, "wb") as file:
        pickle.dump(results, file)


if __name__ == "__main__":
    main(sys.argv[1])
