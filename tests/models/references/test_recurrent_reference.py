"""Recurrent translators equal the equations of their papers."""

import numpy as np
import pytest

from bytenet.config.families.recurrent import RecurrentConfig

from ...contract.cases import narrow
from ...numpy_functions import sigmoid, softmax
from .numpy_network import NumpyNetwork, check_logits


class RecurrentNetwork(NumpyNetwork):
    """Each decoder is a method `luong`, `bahdanau`, ... It returns the inputs of the head for all steps."""

    def logits(self, source_ids, target_ids):
        read_ids = [*source_ids[-2::-1], source_ids[-1]] if self.config.reverse_source else source_ids
        encoded, states = self.encode(self.table("source_embedding")[read_ids])
        if self.config.reverse_source:
            encoded = np.concatenate([encoded[-2::-1], encoded[-1:]])
        embedded = self.table("target_embedding")[[0, *target_ids[:-1]]]
        outputs = getattr(self, self.config.decoder)(encoded, states, embedded)
        return np.array(outputs) @ self.weights["head/kernel"] + self.weights["head/bias"]

    def cell(self, path, kind, inputs, states):
        kernel, recurrent, bias = (self.weights[f"{path}/{name}"] for name in ("kernel", "recurrent_kernel", "bias"))
        state = states[0]
        if kind == "gru":
            (wz, wr, wh), (uz, ur, uh) = np.split(kernel, 3, axis=1), np.split(recurrent, 3, axis=1)
            bz, br, bh = np.split(bias, 3)
            z, r = sigmoid(inputs @ wz + state @ uz + bz), sigmoid(inputs @ wr + state @ ur + br)
            return [(1 - z) * state + z * np.tanh(inputs @ wh + (r * state) @ uh + bh)]
        i, f, c, o = np.split(inputs @ kernel + state @ recurrent + bias, 4)
        memory = sigmoid(f) * states[1] + sigmoid(i) * np.tanh(c)
        return [sigmoid(o) * np.tanh(memory), memory]

    def zeros(self, kind, units):
        return [np.zeros(units)] * (2 if kind == "lstm" else 1)

    def encode(self, inputs):
        """The encoded symbols, and the last states of each layer and direction."""
        kind, units, last_states = self.config.encoder_cell, self.config.width_of_encoder, []
        for layer in range(self.config.encoder_layers):
            sides, last = [], []
            for name, order in (("forward", 1), ("backward", -1))[: 2 if self.config.directions == "both" else 1]:
                states, outputs = self.zeros(kind, units), []
                for values in inputs[::order]:
                    states = self.cell(f"encoder/{name}_{layer}/recurrent_cell", kind, values, states)
                    outputs.append(states[0])
                sides.append(outputs[::order])
                last.append(states)
            inputs = np.concatenate(sides, axis=1)
            last_states.append(last)
        return inputs, last_states

    def stack(self, path, inputs, states):
        """One step of the decoder's layers. `states` has those of each layer and is changed."""
        for layer, of_layer in enumerate(states):
            states[layer] = self.cell(
                f"{path}/layer_{layer}/recurrent_cell", self.config.decoder_cell, inputs, of_layer
            )
            inputs = states[layer][0]
        return inputs

    def first_states(self, last_states):
        """The states of both directions side by side."""
        return [[np.concatenate(parts) for parts in zip(*of_layer, strict=True)] for of_layer in last_states]

    def sutskever(self, encoded, last_states, embedded):
        states = self.first_states(last_states)
        return [self.stack("decoder", values, states) for values in embedded]

    def luong(self, encoded, last_states, embedded):
        step, states = "decoder/step", self.first_states(last_states)
        attentional, outputs = np.zeros(self.config.dim), []
        for values in embedded:
            fed = [attentional] if self.config.input_feeding else []
            state = self.stack(f"{step}/layers", np.concatenate([values, *fed]), states)
            keys = encoded @ self.weights[f"{step}/alignment/key_map/kernel"]
            context = softmax(keys @ state) @ encoded
            attentional = np.tanh(np.concatenate([context, state]) @ self.weights[f"{step}/attentional_state/kernel"])
            outputs.append(attentional)
        return outputs

    def readout(self, state, values, context):
        inputs = np.concatenate([state, values, context])
        pairs = inputs @ self.weights["decoder/readout/kernel"] + self.weights["decoder/readout/bias"]
        return pairs.reshape(-1, 2).max(axis=1)

    def start(self, last_states):
        state = last_states[-1][-1][0]  # the backward one if there are two
        state = np.tanh(
            state @ self.weights["decoder/initial_state/kernel"] + self.weights["decoder/initial_state/bias"]
        )
        return [state, *self.zeros(self.config.decoder_cell, self.config.dim)[1:]]

    def cho(self, encoded, last_states, embedded):
        context = np.concatenate([states[0] for states in last_states[-1]])
        return self.with_contexts("decoder/recurrent_cell", lambda state: context, last_states, embedded)

    def bahdanau(self, encoded, last_states, embedded):
        path = "decoder/step/alignment"
        keys = encoded @ self.weights[f"{path}/key_map/kernel"] + self.weights[f"{path}/key_map/bias"]

        def attend(state):
            hidden = np.tanh(state @ self.weights[f"{path}/state_map/kernel"] + keys)
            return softmax(hidden @ self.weights[f"{path}/vector"][:, 0]) @ encoded

        return self.with_contexts("decoder/step/recurrent_cell", attend, last_states, embedded)

    def with_contexts(self, path, context_of, last_states, embedded):
        states, outputs = self.start(last_states), []
        for values in embedded:
            before, context = states[0], context_of(states[0])
            states = self.cell(path, self.config.decoder_cell, np.concatenate([values, context]), states)
            read = states[0] if self.config.readout_state == "current" else before
            outputs.append(self.readout(read, values, context))
        return outputs


@pytest.mark.parametrize(
    "settings",
    [
        {"variant": "sutskever"},
        {"variant": "sutskever", "directions": "both", "reverse_source": False, "encoder_cell": "gru",
         "decoder_cell": "gru"},
        {"variant": "cho"},
        {"variant": "cho", "directions": "both", "readout_state": "previous"},
        {"variant": "bahdanau"},
        {"variant": "bahdanau", "readout_state": "previous", "encoder_layers": 2, "decoder_cell": "lstm"},
        {"variant": "luong"},
        {"variant": "luong", "input_feeding": False, "directions": "both", "encoder_layers": 1, "decoder_layers": 1},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("lengths", [(9, 12), (1, 7)])
def test_model_equals_the_network_in_numpy(settings, lengths):
    check_logits(RecurrentNetwork, narrow(RecurrentConfig, **settings), lengths, tolerance=1e-5)
