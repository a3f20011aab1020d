"""Recurrent networks with attention."""

from typing import ClassVar, Literal

from bytenet.config.checks import Even, Positive, checked
from bytenet.config.model import ModelConfig


@checked
class AttentionConfig(ModelConfig):
    """The settings of `bytenet.models.AttentionModel`.

    Reference:
        Madsen 2017, section 3.6, and the thesis's code; Luong et al. 2015.
    """

    VARIANTS: ClassVar = {"dense": {}, "bounded": {"head": "bounded"}}
    THESIS: ClassVar = {"mask_padding": False, "length_rule": "pair"}

    family: Literal["attention"] = "attention"
    variant: str = "dense"
    dim: Even = 20  # width d of the embeddings and of the encoder's RNNs
    num_layers: Positive = 3  # RNNs in each direction of the encoder
    head: Literal["dense", "bounded"] = "dense"  # "bounded" is the thesis's
    # First weights: Keras's, or those of TensorFlow 1.1 and the thesis's code.
    initializer: Literal["auto", "thesis_code"] = "auto"
