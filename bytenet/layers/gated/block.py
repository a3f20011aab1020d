"""A layer of ConvS2S: a gated convolution, attention to the source, and a residual connection."""

import math
from functools import partial

import keras
from keras import ops

from bytenet.layers.attention.dot_attention import dot_attention
from bytenet.layers.fast import apply_dropout, make_dropout
from bytenet.layers.gated.maps import make_map

ROOT_OF_HALF = math.sqrt(0.5)


def gated_linear_unit(values):
    """`A · sigmoid(B)`, where A is the first half of the channels and B the second: float `(..., 2d)` → `(..., d)`.

    Reference:
        Dauphin et al. 2016.
    """
    with keras.name_scope("gated_linear_unit"):
        outputs, gates = ops.split(values, 2, axis=-1)
        return outputs * ops.sigmoid(gates)


@keras.saving.register_keras_serializable("bytenet")
class GatedBlock(keras.layers.Layer):
    """A gated convolution with a residual connection. In the decoder, it may attend to the source.

    `v = GLU(convolution(dropout(x)))`, and R is x, or a linear map of x if the widths differ. g are the embedded target
    characters, and c is the context that the attention finds for a query q.

    "code": `q = (W_d·v + b_d + g)·√.5`, `v' = (W_c·c + b_c + v)·√.5`, `output = (v' + R)·√.5`.
    "text": `h = (v + R)·√.5`, `q = W_d·h + b_d + g`, `output = (W_c·c + b_c + h)·√.5`.
    Without attention, both are `output = (v + R)·√.5`.

    Mask: true at real steps. The other steps are set to zero before the convolution, so that padding never reaches a
    real step. A causal block needs no mask, because padding comes last.

    Args:
        width: channels d of the output.
        kernel_size: taps of the convolution.
        causal: whether the convolution sees past and present only (decoder) or both sides (encoder).
        attention_dim: channels f of g, queries, keys and values; None for a block without attention.
        equations: "code" is the order of the authors' code; "text" is the order of the paper's text.
        dropout: share of the input of the convolution that is dropped in training.
        weight_normalization: whether convolution and linear maps have normalised weights.

    Raises:
        ValueError: `equations` is unknown.

    Reference:
        Gehring et al. 2017, sections 3.2 and 3.3, and the code of its authors.
    """

    def __init__(
        self,
        width: int,
        kernel_size: int,
        causal: bool,
        attention_dim: int | None = None,
        equations: str = "code",
        dropout: float = 0.0,
        weight_normalization: bool = True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        if equations not in ("code", "text"):
            raise ValueError(f"Unknown equations {equations!r}; known are code, text.")
        self.arguments = {
            "width": width, "kernel_size": kernel_size, "causal": causal, "attention_dim": attention_dim,
            "equations": equations, "dropout": dropout, "weight_normalization": weight_normalization,
        }  # fmt: skip
        self.width = width
        self.attention_dim = attention_dim
        self.residual_is_first = equations == "text"
        self._make_map = partial(make_map, weight_normalization=weight_normalization, dtype=self.dtype_policy)
        self.dropout = make_dropout(dropout, name="dropout", dtype=self.dtype_policy)
        self.convolution = self._make_map(
            2 * width, kernel_size, causal, kept_share=1 - dropout, gated=True, name="gated_convolution"
        )
        self.maps = {}
        if attention_dim is not None:
            self.maps["query"] = self._make_map(attention_dim, name="query_map")
            self.maps["context"] = self._make_map(width, name="context_map")

    def build(self, input_shape):
        self.convolution.build(input_shape)
        if self.attention_dim is not None:
            self.maps["query"].build((*input_shape[:-1], self.width))
            self.maps["context"].build((*input_shape[:-1], self.attention_dim))
        if input_shape[-1] != self.width:
            self.maps["residual"] = self._make_map(self.width, name="residual_map")
            self.maps["residual"].build(input_shape)

    def call(self, inputs, embedded=None, memory=None, mask=None, training=False):
        """Compute all steps at once.

        Args:
            inputs: float `(batch, length, channels)`.
            embedded: the embedded target characters, float `(batch, length, attention_dim)`; only with attention.
            memory: keys and values, float `(batch, S, attention_dim)`, and offsets of the scores, float
                `(batch, 1, S)`; only with attention.
            mask: bool `(batch, length)`, or None.
            training: whether dropout is on.

        Returns:
            float `(batch, length, width)`; with attention also its weights, float `(batch, length, S)`.
        """
        hidden = apply_dropout(self.dropout, inputs, training)
        if mask is not None:
            hidden = hidden * ops.cast(mask, hidden.dtype)[..., None]
        outputs, weights = self._connected(self.convolution(hidden), inputs, embedded, memory, self.maps)
        return outputs if weights is None else (outputs, weights)

    def step_kernels(self) -> dict:
        """The kernels for `step`, cut and normalised once before the first step."""
        layers = {"convolution": self.convolution, **self.maps}
        return {name: layer.present_kernel() for name, layer in layers.items()}

    def step(self, inputs, embedded, memory, from_past, kernels):
        """One step of a causal block.

        Args:
            inputs: float `(rows, channels)`, the block's input at time t. Each source has `rows / batch` successive
                rows.
            embedded: float `(rows, attention_dim)`, at time t.
            memory: as in `call`, for each source.
            from_past: float `(rows, 2 * width)`, the product of the earlier taps, see `DilatedConvolution.step`; None
                if the convolution has one tap.
            kernels: the result of `step_kernels`.

        Returns:
            float `(rows, width)`, equal to `call(...)[:, t]`.
        """
        with keras.name_scope(self.name):  # the scope of `call`, for profiles
            convolved = self.convolution.step(inputs, kernels["convolution"], from_past)
            maps = {name: partial(layer.step, present_kernel=kernels[name]) for name, layer in self.maps.items()}
            return self._connected(convolved, inputs, embedded, memory, maps)[0]

    def _connected(self, convolved, inputs, embedded, memory, maps):
        """The output of the block and the weights of its attention, from the output of the convolution."""
        scale = ops.cast(ROOT_OF_HALF, inputs.dtype)
        residual = maps["residual"](inputs) if "residual" in maps else inputs
        outputs, weights = gated_linear_unit(convolved), None
        if self.residual_is_first:
            outputs = (outputs + residual) * scale
        if self.attention_dim is not None:
            queries = maps["query"](outputs) + embedded
            context, weights = _attend(queries if self.residual_is_first else queries * scale, memory)
            outputs = (maps["context"](context) + outputs) * scale
        if not self.residual_is_first:
            outputs = (outputs + residual) * scale
        return outputs, weights

    def get_config(self):
        return super().get_config() | self.arguments


def _attend(queries, memory):
    """The context and the weights of queries, float `(batch, length, channels)` or `(rows, channels)`."""
    keys, values, offsets = memory
    with keras.name_scope("multi_step_attention"):
        if len(queries.shape) == 3:
            return dot_attention(queries, keys, values, offsets)
        # The hypotheses of a source share its memory, which is not copied.
        queries_of_source = ops.reshape(queries, (ops.shape(keys)[0], -1, queries.shape[-1]))
        context, weights = dot_attention(queries_of_source, keys, values, offsets)
        return ops.reshape(context, (-1, queries.shape[-1])), weights
