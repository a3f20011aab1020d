"""What the NumPy networks share, and how models are compared with them."""

import numpy as np
from keras.ops import convert_to_numpy

from ...contract.cases import draw_sentences
from ...contract.traced_model import traced


class NumpyNetwork:
    """One sentence pair at a time, in double precision. It looks up the weights of a model by their paths."""

    def __init__(self, model):
        self.weights = {
            weight.path.split("/", 1)[1]: convert_to_numpy(weight).astype("float64") for weight in model.weights
        }
        self.config = model.config

    def logits(self, source_ids, target_ids):
        """Float64 `(target_length, vocab_size)`."""
        raise NotImplementedError

    def table(self, name):
        """The embeddings of all ids, float `(V, channels)`. That of padding is zero."""
        table = self.weights[f"{name}/table"]
        return np.concatenate([np.zeros((1, table.shape[1])), table])

    def linear(self, path, x):
        return x @ self.weights[f"{path}/kernel"] + self.weights[f"{path}/bias"]


def check_logits(network, config, lengths, tolerance=1e-4):
    """Check that a model has the logits of its `NumpyNetwork`, for a source and a target of these lengths."""
    net = traced(config)
    source, target = draw_sentences(lengths)
    expected = network(net.model).logits(source, target)
    assert np.std(expected) > 0.1
    np.testing.assert_allclose(net.logits([source], [target])[0], expected, atol=tolerance)
