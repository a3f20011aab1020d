"""Names of recurrent layers' options that do not exist."""

import pytest

from bytenet.layers.recurrent.cells import RecurrentCell
from bytenet.layers.recurrent.context_decoder import ContextDecoder
from bytenet.layers.recurrent.encoder import RecurrentEncoder


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (RecurrentCell, {"kind": "rnn", "activation": "Relu"}, "Unknown activation 'Relu'; known are tanh, relu"),
        (RecurrentCell, {"kind": "rnn", "normalization": "x"}, "Unknown normalization 'x'; known are none, layer"),
        (RecurrentEncoder, {"num_layers": 1, "directions": "x"}, "Unknown directions 'x'; known are forward, both"),
        (RecurrentEncoder, {"num_layers": 1, "meeting": "x"}, "Unknown meeting 'x'; known are layer, end"),
        (ContextDecoder, {"readout_units": 2, "readout_state": "x"}, "Unknown readout_state 'x'; known are current"),
    ],
)
def test_unknown_names_are_refused(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(**{"kind": "gru", "units": 2} | arguments)
