"""The groups of a profile: which pass, half, part and kind an operation belongs to.

An operation is grouped by its name in the graph and its type. The four levels are the thesis's:

| level | groups |
| --- | --- |
| 0 pass | forward, backward, optimiser, input, other |
| 1 half | encoder, decoder, other |
| 2 part | embedding, other, and the parts that the model's family declares (`TranslationModel.profile_parts`) |
| 3 kind | normalisation, activation, convolution, dense, optimiser, data movement, ... |

Reference:
    Madsen 2017, section 3.3 and figure 3.3.6.
"""

from bytenet.profiling.traces.grouping.layer_parts import parts_of_layers
from bytenet.profiling.traces.grouping.operation_names import folded_name, replica_of, update_of
from bytenet.profiling.traces.grouping.places import INPUT, LEVELS, RUNTIME, Place, place_of

__all__ = [
    "INPUT",
    "LEVELS",
    "RUNTIME",
    "Place",
    "folded_name",
    "parts_of_layers",
    "place_of",
    "replica_of",
    "update_of",
]
