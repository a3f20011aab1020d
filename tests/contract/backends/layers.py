"""The layers that are compared between backends, their inputs and their values."""

from collections.abc import Callable

import keras
import numpy as np
from keras.ops import convert_to_tensor

from bytenet.layers import (
    DilatedConvolution,
    LayerNormalization,
    MaskedBatchNormalization,
    NormalizedActivation,
    ResidualBlock,
    ResidualSet,
    ResidualStack,
    ZeroPaddedEmbedding,
)
from bytenet.layers.fast import (
    FastBatchNormalization,
    FastLayerNormalization,
    HashedAlphaDropout,
    HashedDropout,
)
from bytenet.layers.fast.tap_products import product_of_taps
from bytenet.layers.gated.block import GatedBlock
from bytenet.layers.gated.stack import GatedStack
from bytenet.layers.gated.weight_normalization import WeightNormalizedConvolution
from bytenet.layers.positions import PositionEncoding
from bytenet.layers.recurrent.cells import RecurrentCell
from bytenet.layers.recurrent.encoder import RecurrentEncoder, RecurrentLayer
from bytenet.layers.recurrent.thesis_decoder import AttentionCell
from bytenet.layers.recurrent.thesis_encoder import BidirectionalEncoder
from bytenet.layers.residual.attending_stack import AttendingStack, SourceAttention

from ..cases import VOCAB_SIZE, draw_sentences, pad, randomize

Values = dict[str, np.ndarray]
CHANNELS = 4
MASK = np.arange(5) < np.array([5, 3, 0])[:, None]
SENTENCES = {
    "source_ids": pad(draw_sentences([6, 3, 5], seed=1)),
    "target_ids": pad(draw_sentences([4, 7, 5], seed=2)),
}


def draw(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype("float32")


STEPS = draw(3, 5, CHANNELS)
BLOCK = {"dim": CHANNELS, "kernel_size": 3, "causal": False, "dropout": 0.3}
TRAINING: dict[str, bool] = {"training": True}
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
    "attention between residual blocks": (
        lambda: SourceAttention(heads=2, head_dim=3, memory_dim=5), STEPS,
        {"keys": draw(3, 2, 6, 3), "values": draw(3, 2, 6, 3), "offsets": -30000.0 * np.eye(3, 6)[:, None, None]},
    ),
    "residual stack with a window of the source": (
        lambda: AttendingStack(1, [1, 2], [2], heads=2, head_dim=3, memory_dim=5, radius=1, slope=1.4, **BLOCK),
        STEPS,
        {"memory": {
            "keys": [draw(3, 2, 6, 3)], "values": [-draw(3, 2, 6, 3)], "source_lengths": np.array([6, 2, 0], "int32")
        }},
    ),
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
