"""The values of layers, models, losses and schedules on one Keras backend.

`python -m tests.contract.backend_values FILE` computes these values on the backend in KERAS_BACKEND and pickles them.
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
from bytenet.layers import (
    DilatedConvolution,
    LayerNormalization,
    MaskedBatchNormalization,
    NormalizedActivation,
    ResidualBlock,
    ResidualSet,
    ResidualStack,
    ThesisCodeUniform,
    ZeroPaddedEmbedding,
    batch_norm_statistics,
    initializers_for,
)
from bytenet.layers.fast import (
    FastBatchNormalization,
    FastLayerNormalization,
    HashedAlphaDropout,
    HashedDropout,
    plain_layers,
    use_tap_products,
)
from bytenet.layers.fast.tap_products import product_of_taps
from bytenet.layers.gated.block import GatedBlock
from bytenet.layers.gated.stack import GatedStack
from bytenet.layers.gated.weight_normalization import WeightNormalizedConvolution
from bytenet.layers.initializers import JointGlorotUniform, OpenGates
from bytenet.layers.positions import PositionEncoding
from bytenet.layers.recurrent.cells import RecurrentCell
from bytenet.layers.recurrent.encoder import RecurrentEncoder, RecurrentLayer
from bytenet.layers.recurrent.thesis_decoder import AttentionCell
from bytenet.layers.recurrent.thesis_encoder import BidirectionalEncoder
from bytenet.models import build_model
from bytenet.training.losses import SentenceCrossEntropy, sentence_cross_entropy
from bytenet.training.metrics import CharacterError
from bytenet.training.optimizers.schedules import WarmupDecay, make_schedule

from .cases import VARIANT_CASES, VOCAB_SIZE, draw_sentences, pad, randomize

Values = dict[str, np.ndarray]
CHANNELS = 4
MASK = np.arange(5) < np.array([5, 3, 0])[:, None]
SENTENCES = {
    "source_ids": pad(draw_sentences([6, 3, 5], seed=1)),
    "target_ids": pad(draw_sentences([4, 7, 5], seed=2)),
}
SAMPLE_WEIGHTS = np.array([0.5, 1.0, 0.1], "float32")


def draw(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype("float32")


STEPS = draw(3, 5, CHANNELS)
BLOCK = {"dim": CHANNELS, "kernel_size": 3, "causal": False, "dropout": 0.3}
TRAINING: dict[str, bool] = {"training": True}
SCHEDULES = ("constant", "cosine", "linear", "inverse_sqrt", "plateau", "step")
ATTENTION_MEMORY = [draw(3, 6, CHANNELS), -draw(3, 6, CHANNELS) / 2, -30000.0 * np.eye(3, 6)[:, None]]
ATTENTION_STATES = [draw(3, 6), draw(3, 6) / 2, -draw(3, 6), draw(3, 5, 6), -draw(3, 5, 6), -30000.0 * ~MASK]


def convolution_by_product() -> DilatedConvolution:
    layer = DilatedConvolution(6, 3, dilation_rate=2)
    layer.convolve = product_of_taps
    return layer


# For each layer: a function that makes it, its inputs, and the other arguments of its call.
LAYERS: dict[str, tuple[Callable[[], keras.layers.Layer], np.ndarray, dict]] = {
    "embedding": (lambda: ZeroPaddedEmbedding(VOCAB_SIZE, CHANNELS), SENTENCES["source_ids"], {}),
    "centred convolution": (lambda: DilatedConvolution(6, 3, dilation_rate=2), STEPS, {}),
    "causal convolution": (lambda: DilatedConvolution(6, 3, dilation_rate=2, causal=True), STEPS, {}),
    "convolution of one tap": (lambda: DilatedConvolution(6, 1), STEPS, {}),
    "convolution by product": (convolution_by_product, STEPS, {}),
    "batch normalisation": (MaskedBatchNormalization, STEPS, {"mask": MASK}),
    "batch normalisation in training": (MaskedBatchNormalization, STEPS, {"mask": MASK} | TRAINING),
    "fast batch normalisation": (FastBatchNormalization, STEPS, {"mask": MASK}),
    "fast batch normalisation in training": (FastBatchNormalization, STEPS, {"mask": MASK} | TRAINING),
    "layer normalisation": (LayerNormalization, STEPS, {}),
    "fast layer normalisation": (FastLayerNormalization, STEPS, {}),
    "relu after batch normalisation": (lambda: NormalizedActivation("batch", "relu"), STEPS, {"mask": MASK} | TRAINING),
    "selu": (lambda: NormalizedActivation("none", "selu"), STEPS, {}),
    "dropout": (lambda: HashedDropout(0.3, seed=7), STEPS, TRAINING),
    "alpha dropout": (lambda: HashedAlphaDropout(0.3, seed=7), STEPS, TRAINING),
    "layer normalisation with a gain": (lambda: FastLayerNormalization(scale=True), STEPS, {}),
    **{
        f"{kind} positions": (lambda kind=kind: PositionEncoding(kind), STEPS, {})
        for kind in ("sinusoidal", "sinusoidal_halves", "learned")
    },
    "normalised weights": (lambda: WeightNormalizedConvolution(6, 3, causal=True), STEPS, {}),
    "gated block": (lambda: GatedBlock(6, 4, causal=False), STEPS, {"mask": MASK}),
    "gated stack with attention": (
        lambda: GatedStack([6, 8], [3, 2], 5, causal=True, attention_layers=[1, 2], attention_dim=CHANNELS), STEPS,
        {"memory": ATTENTION_MEMORY},
    ),
    "RNN cell of ReLUs": (lambda: RecurrentCell("rnn", 4, activation="relu"), draw(3, 4), {"states": [draw(3, 4)]}),
    "normalised LSTM cell": (
        lambda: RecurrentCell("lstm", 2, normalization="layer"), draw(3, 8), {"states": [draw(3, 2), -draw(3, 2)]},
    ),
    "normalised GRU cell": (
        lambda: RecurrentCell("gru", 2, normalization="layer"), draw(3, 6), {"states": [draw(3, 2)]},
    ),
    "LSTM backward": (lambda: RecurrentLayer("lstm", 3, go_backwards=True), STEPS, {"mask": MASK}),
    "encoder whose layers meet": (
        lambda: RecurrentEncoder("gru", 3, 2, directions="both"), STEPS, {"mask": MASK},
    ),
    "encoder of stacks": (
        lambda: RecurrentEncoder("rnn", 3, 2, directions="both", meeting="end"), STEPS, {"mask": MASK},
    ),
    "attention cell": (lambda: AttentionCell(6), draw(3, 2), {"states": ATTENTION_STATES}),
    "bidirectional encoder": (lambda: BidirectionalEncoder(3, 2), STEPS, {"mask": MASK}),
    "bidirectional encoder without mask": (lambda: BidirectionalEncoder(3, 1), STEPS, {}),
    "residual block": (lambda: ResidualBlock(dilation_rate=2, **BLOCK), STEPS, {"mask": MASK} | TRAINING),
    "small residual block of SELUs": (
        lambda: ResidualBlock(dilation_rate=2, size="small", activation="selu", normalization="none", **BLOCK),
        STEPS, {"mask": MASK} | TRAINING,
    ),
    "residual set": (lambda: ResidualSet([1, 2], normalization="batch", **BLOCK), STEPS, {"mask": MASK}),
    "residual stack": (lambda: ResidualStack(2, [1, 2], **BLOCK), STEPS, {"mask": MASK} | TRAINING),
}  # fmt: skip


def layer_values(name: str) -> Values:
    """The outputs of a layer with random weights, and its weights afterwards."""
    make, inputs, arguments = LAYERS[name]
    keras.utils.set_random_seed(1)
    layer = make()
    if not layer.built:
        layer.build(inputs.shape)
    randomize(layer)
    arguments = keras.tree.map_structure(
        lambda value: convert_to_tensor(value) if isinstance(value, np.ndarray) else value, arguments
    )
    outputs = keras.tree.flatten(layer(convert_to_tensor(inputs), **arguments))
    return {f"output {index}": output for index, output in enumerate(outputs)} | weight_values(layer)


def weight_values(layer: keras.layers.Layer) -> Values:
    return {f"weight {index}, {weight.name}": weight for index, weight in enumerate(layer.weights)}


def model_values(config: ModelConfig) -> Values:
    """Logits of `call` and of `step`, the loss of the batch, and the change of all weights in one training step."""
    keras.utils.set_random_seed(1)
    model = build_model(replace(config, dropout=0.2) if config.family != "attention" else config, VOCAB_SIZE)
    randomize(model)
    inputs = {name: convert_to_tensor(ids) for name, ids in SENTENCES.items()}
    logits = model(inputs)
    loss = SentenceCrossEntropy(label_smoothing=0.1)
    schedule = WarmupDecay(1.0, "cosine", warmup_steps=1, total_steps=10)
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
    schedule = make_schedule(training, total_steps=40)
    schedule.begin_run(total_steps=40, steps_per_epoch=4)
    rates = [schedule(convert_to_tensor(step, dtype="int64")) for step in (0, 3, 4, 5, 20, 39, 60)]
    schedule.begin_run(total_steps=50, steps_per_epoch=5)
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
