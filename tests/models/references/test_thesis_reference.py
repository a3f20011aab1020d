"""The thesis's recurrent baseline equals its equations, computed in NumPy."""

import numpy as np
import pytest

from bytenet.config.families.recurrent import RecurrentConfig

from ...contract.cases import CASES, Case, draw_sentences, narrow, pad, parametrize
from ...contract.traced_model import traced
from ...numpy_functions import sigmoid
from .numpy_network import NumpyNetwork, check_logits

BASELINES = [case for case in CASES if getattr(case.config, "decoder", None) == "madsen"] + [
    Case("dense, settings of the thesis", narrow(RecurrentConfig, variant="madsen", settings="thesis"))
]


class ThesisNetwork(NumpyNetwork):
    def __init__(self, model):
        super().__init__(model)
        self.vocab_size = model.vocab_size

    def logits(self, source_ids, target_ids):
        width = 2 * self.config.dim
        encoded = self.encode(source_ids)
        keys = encoded @ self.weights["decoder/cell/attention_keys/kernel"]
        lower, upper, attention = np.zeros((3, width))
        output, all_logits = np.zeros(self.vocab_size), []
        for previous in self.table("target_embedding")[[0, *target_ids[:-1]]]:
            lower = self.gru("decoder/cell/lower_gru", previous, lower)
            upper = self.gru("decoder/cell/upper_gru", np.concatenate([lower, attention]), upper)
            weights = np.exp(keys @ upper)
            context = weights / weights.sum() @ encoded
            attention = np.concatenate([upper, context]) @ self.weights["decoder/cell/attention_vector/kernel"]
            if self.config.head == "bounded":
                output = self.gru("head/cell", attention, output)
            else:
                output = self.linear("head", attention)
            all_logits.append(output)
        return np.array(all_logits)

    def encode(self, source_ids):
        """Read the source from both ends with stacks of h = tanh(W x + U h + b)."""
        sides = []
        for direction, order in (("forward", 1), ("backward", -1)):
            x = self.table("source_embedding")[source_ids][::order]
            for layer in range(self.config.encoder_layers):
                stack = f"encoder/{direction}" + ("/layers" if self.config.encoder_layers > 1 else "")
                path, hidden, outputs = f"{stack}/layer_{layer}", np.zeros(x.shape[1]), []
                for step in x:
                    hidden = step @ self.weights[f"{path}/kernel"] + hidden @ self.weights[f"{path}/recurrent_kernel"]
                    hidden = np.tanh(hidden + self.weights[f"{path}/bias"])
                    outputs.append(hidden)
                x = np.array(outputs)
            sides.append(x[::order])
        return np.concatenate(sides, axis=1)

    def gru(self, name, x, state):
        """h ← z h + (1 - z) tanh(W x + U (r h)), with the reset before the product."""
        wz, wr, wh = np.split(self.weights[f"{name}/kernel"], 3, axis=1)
        uz, ur, uh = np.split(self.weights[f"{name}/recurrent_kernel"], 3, axis=1)
        bz, br, bh = np.split(self.weights[f"{name}/bias"], 3)
        z = sigmoid(x @ wz + state @ uz + bz)
        r = sigmoid(x @ wr + state @ ur + br)
        return z * state + (1 - z) * np.tanh(x @ wh + (r * state) @ uh + bh)


@parametrize(BASELINES)
@pytest.mark.parametrize("lengths", [(9, 12), (6, 1), (1, 7)])
def test_model_equals_the_network_in_numpy(case, lengths):
    check_logits(ThesisNetwork, case.config, lengths, tolerance=1e-5)


@parametrize(BASELINES)
def test_model_with_padding_equals_the_network_in_numpy(case):
    """With masks, padding has no effect. Without masks, padding is read like characters."""
    net = traced(case.config)
    source, target = draw_sentences([5, 8])
    read = source if case.config.mask_padding else [*source, 0, 0, 0]
    logits = net.logits(pad([source], 8), pad([target], 10))[0]
    np.testing.assert_allclose(logits[:8], ThesisNetwork(net.model).logits(read, target), atol=1e-5)
