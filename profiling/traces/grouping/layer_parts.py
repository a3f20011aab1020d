"""The part of the model to which each layer belongs."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bytenet.models.translation_model import ProfilePart


@cache
def parts_of_layers() -> Mapping[str, "ProfilePart"]:
    """By the name of a layer, its part: the declared layers of all families, the embeddings and the output layer."""
    # Imported here, since models import TensorFlow, and a profile can be drawn from a table without it.
    from bytenet.models.registry import profile_parts
    from bytenet.models.translation_model import ProfilePart

    parts = dict.fromkeys(("source_embedding", "target_embedding"), ProfilePart("embedding"))
    parts |= dict.fromkeys(("head", "dense"), ProfilePart("other", "dense"))
    for of_family in profile_parts().values():
        parts |= of_family
    return parts
