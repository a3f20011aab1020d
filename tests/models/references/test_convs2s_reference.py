"""ConvS2S equals a NumPy network from the equations of Gehring et al. 2017 and the code of its authors."""

import numpy as np
import pytest

from bytenet.config.families.convs2s import ConvS2SConfig

from ...contract.cases import CASES, Case, narrow, parametrize
from ...numpy_functions import sigmoid, softmax
from .numpy_network import NumpyNetwork, check_logits

HALF = np.sqrt(0.5)


class ConvS2SNetwork(NumpyNetwork):
    def __init__(self, model):
        super().__init__(model)
        self.is_code = model.config.equations == "code"

    def logits(self, source_ids, target_ids):
        e = self.embed("source", source_ids)
        z = self.convolve("encoder/input_map", e)
        for layer in range(1, len(self.config.encoder_widths) + 1):
            path = f"encoder/layer_{layer}"
            z = (self.gated(path, z, causal=False) + self.residual(path, z)) * HALF
        z = self.convolve("encoder/output_map", z)
        y = (z + e) * (HALF if self.is_code else 1)

        g = self.embed("target", [0, *target_ids[:-1]])
        h = self.convolve("decoder/input_map", g)
        for layer in range(1, len(self.config.decoder_widths) + 1):
            path = f"decoder/layer_{layer}"
            v, residual = self.gated(path, h, causal=True), self.residual(path, h)
            if layer not in self.config.attending_layers:
                h = (v + residual) * HALF
            elif self.is_code:
                q = (self.convolve(f"{path}/query_map", v) + g) * HALF
                h = ((self.context(path, q, z, y) + v) * HALF + residual) * HALF
            else:
                h = (v + residual) * HALF
                h = (self.context(path, self.convolve(f"{path}/query_map", h) + g, z, y) + h) * HALF
        outputs = self.convolve("decoder/output_map", h)
        if self.config.tied_embeddings == "softmax":
            return outputs @ self.table("target_embedding").T + self.weights["head/bias"]
        return self.convolve("head", outputs)

    def embed(self, side, ids):
        positions = self.weights.get(f"{side}_positions/table", np.zeros((len(ids), 1)))
        return self.table(f"{side}_embedding")[ids] + positions[: len(ids)]

    def context(self, path, q, z, y):
        return self.convolve(f"{path}/context_map", np.sqrt(len(z)) * softmax(q @ z.T) @ y)

    def residual(self, path, x):
        return self.convolve(f"{path}/residual_map", x) if f"{path}/residual_map/kernel" in self.weights else x

    def gated(self, path, x, causal):
        a, b = np.split(self.convolve(f"{path}/gated_convolution", x, causal), 2, axis=1)
        return a * sigmoid(b)

    def convolve(self, path, x, causal=False):
        kernel = self.weights[f"{path}/kernel"]
        if self.config.weight_normalization:
            kernel = self.weights[f"{path}/gain"] * kernel / np.sqrt((kernel**2).sum(axis=(0, 1)))
        taps = len(kernel)
        left = taps - 1 if causal else (taps - 1) // 2
        padded = np.pad(x, [[left, taps - 1 - left], [0, 0]])
        products = sum(padded[tap : tap + len(x)] @ kernel[tap] for tap in range(taps))
        return products + self.weights[f"{path}/bias"]


CONVS2S_CASES = [case for case in CASES if case.config.family == "convs2s"] + [
    Case("attention in one layer, text", narrow(ConvS2SConfig, equations="text", attention_layers=(2,)))
]


@parametrize(CONVS2S_CASES)
@pytest.mark.parametrize("lengths", [(9, 12), (1, 7)])
def test_model_equals_the_network_in_numpy(case, lengths):
    check_logits(ConvS2SNetwork, case.config, lengths)
