"""The whole network equals a NumPy network from figures 2.6.1, 2.6.4 and 3.4.1 of Madsen 2017.

Attention to the source, which the thesis does not have, is added from the equations in docs/models/bytenet.md.
"""

import numpy as np
import pytest

from bytenet.config.families.bytenet import ByteNetConfig

from ...contract.cases import CASES, Case, narrow, parametrize
from ...numpy_functions import softmax
from .numpy_network import NumpyNetwork, check_logits


class ByteNetNetwork(NumpyNetwork):
    def logits(self, source_ids, target_ids):
        config = self.config
        length = len(target_ids)
        if config.length_rule == "pair":
            memory_length = len(source_ids)
        else:
            memory_length = int(np.ceil(config.unfold_scale * len(source_ids) + config.unfold_offset - 1e-9))
            memory_length = max(memory_length, len(source_ids))
        embedded = self.table("source_embedding")[[*source_ids, *[0] * memory_length][:memory_length]]
        encoded = self.stack("encoder", embedded, config.encoder_kernel_size, causal=False)
        memory = encoded[: len(source_ids)]
        encoded = np.concatenate([encoded, np.zeros((length, config.dim))])[:length]
        previous = self.table("target_embedding")[[0, *target_ids[:-1]]]
        joined = np.concatenate([encoded, previous], axis=1) if config.join == "concat" else encoded + previous
        decoded = self.stack("decoder", joined, config.decoder_kernel_size, causal=True, memory=memory)
        return decoded @ self.weights["head/kernel"][0] + self.weights["head/bias"]

    def stack(self, half, x, kernel_size, causal, memory=None):
        norm = getattr(self.config, f"{half}_normalization")
        for set_index in range(self.config.num_sets):
            for block_index, rate in enumerate(self.config.dilations):
                block = f"{half}/set_{set_index}/block_{block_index}_dilation_{rate}"
                hidden = self.act(f"{block}/pre_normalization", x, norm)
                if self.config.block_size == "full":
                    hidden = self.dilated(f"{block}/reduce_dim", hidden, 1, 1, causal)
                    hidden = self.act(f"{block}/reduce_dim_normalization", hidden, norm)
                hidden = self.dilated(f"{block}/conv_dilated", hidden, kernel_size, rate, causal)
                if self.config.block_size == "full":
                    hidden = self.act(f"{block}/conv_dilated_normalization", hidden, norm)
                    hidden = self.dilated(f"{block}/recover_dim", hidden, 1, 1, causal)
                x = x + hidden
                number = set_index * len(self.config.dilations) + block_index + 1
                if f"{half}/attention_{number}/source_attention/query/kernel" in self.weights:
                    x = x + self.attend(f"{half}/attention_{number}", x, memory)
        return x

    def attend(self, path, x, memory):
        config = self.config
        queries = self.linear(f"{path}/source_attention/query", self.placed(f"{path}/query_normalization", x))
        memory = self.placed("decoder/memory_normalization", memory)
        keys, values = np.split(self.linear(f"{path}/source_attention/key_value", memory), 2, axis=1)
        width = config.dim // config.attention_heads
        context = np.zeros_like(queries)
        for t in range(len(x)):
            seen = np.arange(len(memory))
            if config.source_attention == "window":
                centre = min(int(np.floor(config.attention_slope * t + 0.5 + 1e-9)), len(memory) - 1)
                seen = seen[abs(seen - centre) <= config.attention_radius]
            for head in range(config.attention_heads):
                own = slice(head * width, (head + 1) * width)
                weights = softmax(queries[t, own] @ keys[seen, own].T / np.sqrt(width))
                context[t, own] = weights @ values[seen, own]
        return self.linear(f"{path}/source_attention/attention_output", context)

    def placed(self, path, x):
        """Normalised steps, with the sinusoids of their positions."""
        deviation = np.sqrt(x.var(axis=1, keepdims=True) + self.config.norm_epsilon)
        standardized = (x - x.mean(axis=1, keepdims=True)) / deviation
        normalized = self.weights[f"{path}/gamma"] * standardized + self.weights[f"{path}/beta"]
        channels = np.arange(x.shape[1])
        angles = np.arange(len(x))[:, None] / 10000 ** (2 * (channels // 2) / x.shape[1])
        return normalized + np.where(channels % 2, np.cos(angles), np.sin(angles))

    def act(self, name, x, norm):
        epsilon = self.config.norm_epsilon
        if norm == "batch":
            mean = self.weights[f"{name}/normalization/moving_mean"]
            variance = self.weights[f"{name}/normalization/moving_variance"]
        elif norm == "layer":
            mean, variance = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
        if norm != "none":
            x = (x - mean) / np.sqrt(variance + epsilon) + self.weights[f"{name}/normalization/beta"]
        if self.config.activation == "relu":
            return np.maximum(x, 0)
        return 1.0507009873 * np.where(x > 0, x, 1.6732632423 * (np.exp(np.minimum(x, 0)) - 1))

    def dilated(self, name, x, kernel_size, rate, causal):
        kernel = self.weights[f"{name}/kernel"]
        centre = kernel_size - 1 if causal else (kernel_size - 1) // 2
        y = np.zeros((len(x), kernel.shape[-1])) + self.weights.get(f"{name}/bias", 0)
        for t in range(len(x)):
            for tap in range(kernel_size):
                seen = t + (tap - centre) * rate
                if 0 <= seen < len(x):
                    y[t] += x[seen] @ kernel[tap]
        return y


BYTENET_CASES = [case for case in CASES if case.config.family == "bytenet"] + [
    Case(f"{variant} as in the thesis", narrow(ByteNetConfig, variant=variant, settings="thesis"))
    for variant in ("simplified", "selu")
]


@parametrize(BYTENET_CASES)
@pytest.mark.parametrize("lengths", [(9, 12), (6, 30)])
def test_model_equals_the_network_in_numpy(case, lengths):
    check_logits(ByteNetNetwork, case.config, lengths)
