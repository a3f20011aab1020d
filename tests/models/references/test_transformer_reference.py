"""The Transformer equals a NumPy network from the equations of Vaswani et al. 2017."""

import numpy as np
import pytest

from ...contract.cases import CASES, parametrize
from ...numpy_functions import softmax
from .numpy_network import NumpyNetwork, check_logits


class TransformerNetwork(NumpyNetwork):
    def __init__(self, model):
        super().__init__(model)
        self.is_pre = model.config.normalization_order == "pre"

    def logits(self, source_ids, target_ids):
        encoded = self.embed("source", source_ids)
        for layer in range(self.config.encoder_layers):
            path = f"encoder/layer_{layer}"
            encoded = self.sublayer(f"{path}/self_attention", encoded, self.attend)
            encoded = self.sublayer(f"{path}/feed_forward", encoded, self.feed_forward)
        encoded = self.on_top("encoder", encoded)

        outputs = self.embed("target", [0, *target_ids[:-1]])
        later = np.triu(np.ones((len(target_ids), len(target_ids)), bool), k=1)
        for layer in range(self.config.decoder_layers):
            path = f"decoder/layer_{layer}"
            outputs = self.sublayer(f"{path}/self_attention", outputs, self.attend, hidden=later)
            outputs = self.sublayer(f"{path}/cross_attention", outputs, self.attend, memory=encoded)
            outputs = self.sublayer(f"{path}/feed_forward", outputs, self.feed_forward)
        outputs = self.on_top("decoder", outputs)
        if self.config.tied_embeddings == "none":
            return self.linear("head", outputs)
        return outputs @ self.table_of("target").T + self.weights["head/bias"]

    def table_of(self, side):
        return self.table("embedding" if self.config.tied_embeddings == "all" else f"{side}_embedding")

    def embed(self, side, ids):
        dim, length = self.config.dim, len(ids)
        scaled = np.sqrt(dim) * self.table_of(side)[ids]
        if self.config.positions == "learned":
            return scaled + self.weights[f"{side}_positions/table"][:length]
        for position in range(length):
            for pair in range(dim // 2):
                halves = self.config.positions == "sinusoidal_halves"
                angle = position / 10000 ** (pair / (dim / 2 - 1) if halves else 2 * pair / dim)
                sine, cosine = (pair, dim // 2 + pair) if halves else (2 * pair, 2 * pair + 1)
                scaled[position, sine] += np.sin(angle)
                scaled[position, cosine] += np.cos(angle)
        return scaled

    def sublayer(self, path, x, function, **arguments):
        if self.is_pre:
            return x + function(path, self.normalize(f"{path}_normalization", x), **arguments)
        return self.normalize(f"{path}_normalization", x + function(path, x, **arguments))

    def on_top(self, half, x):
        return self.normalize(f"{half}/final_normalization", x) if self.is_pre else x

    def normalize(self, path, x):
        deviation = np.sqrt(x.var(axis=1, keepdims=True) + self.config.norm_epsilon)
        standardized = (x - x.mean(axis=1, keepdims=True)) / deviation
        return self.weights[f"{path}/gamma"] * standardized + self.weights[f"{path}/beta"]

    def attend(self, path, x, memory=None, hidden=False):
        memory = x if memory is None else memory
        heads, width, value_width = self.config.heads, self.config.width_of_head, self.config.width_of_values
        queries = self.linear(f"{path}/query", x)
        keys, values = np.split(self.linear(f"{path}/key_value", memory), [heads * width], axis=1)
        contexts = []
        for head in range(heads):
            own, own_values = (slice(head * size, (head + 1) * size) for size in (width, value_width))
            scores = queries[:, own] @ keys[:, own].T / np.sqrt(width)
            contexts.append(softmax(np.where(hidden, -np.inf, scores)) @ values[:, own_values])
        return self.linear(f"{path}/attention_output", np.concatenate(contexts, axis=1))

    def feed_forward(self, path, x):
        return self.linear(f"{path}/output", np.maximum(self.linear(f"{path}/hidden", x), 0))


TRANSFORMERS = [case for case in CASES if case.config.family == "transformer"]


def test_cases_have_both_orders_of_normalisation_and_all_positions_and_tables():
    configs = [case.config for case in TRANSFORMERS]
    assert {config.normalization_order for config in configs} == {"pre", "post"}
    assert {config.positions for config in configs} == {"sinusoidal", "sinusoidal_halves", "learned"}
    assert {config.tied_embeddings for config in configs} == {"all", "softmax", "none"}


@parametrize(TRANSFORMERS)
@pytest.mark.parametrize("lengths", [(9, 12), (1, 7)])
def test_model_equals_the_network_in_numpy(case, lengths):
    check_logits(TransformerNetwork, case.config, lengths)
