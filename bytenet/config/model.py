"""What the configurations of all families of models have in common."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator
from pydantic_core import ArgsKwargs

from bytenet.config.checks import Name, NonNegative, Share, checked
from bytenet.config.length_policy import LengthPolicy


@checked
class ModelConfig:
    """A translation model. A family is a subclass of this in a module of `bytenet.config.families`.

    The values that are given win; then come those of the thesis, with `settings: thesis`; then those of the variant;
    then the defaults of the fields. None counts as not given. A configuration that is made has all its values.

    Attributes:
        VARIANTS: by name, the values in which a variant differs from the defaults.
        THESIS: the values of the thesis's code that differ from this project's.
    """

    VARIANTS: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({})
    THESIS: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    family: Name
    variant: str
    # "default" is good practice, "thesis" is what the code of Madsen (2017) does.
    settings: Literal["default", "thesis"] = "default"
    dropout: Share = 0.0
    # Keeps padding out of the network, so that a sentence's logits do not depend on its batch.
    mask_padding: bool = True
    # The longest translation of a source of n symbols: the padded pair's length, or ⌈unfold_scale · n + unfold_offset⌉.
    length_rule: Literal["unfold", "pair"] = "unfold"
    unfold_scale: Annotated[float, Field(ge=0.01)] = 1.2
    unfold_offset: NonNegative = 24

    @property
    def length_policy(self) -> LengthPolicy:
        """How long targets may be, and how sources are padded."""
        return LengthPolicy(self.length_rule, self.unfold_scale, self.unfold_offset, not self.mask_padding)

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, given: ArgsKwargs) -> ArgsKwargs:
        values = {key: value for key, value in (given.kwargs or {}).items() if value is not None}
        variant = cls.VARIANTS.get(values.get("variant", cls.variant), {})
        thesis = cls.THESIS if values.get("settings") == "thesis" else {}
        return ArgsKwargs(given.args, {**variant, **thesis, **values})

    @field_validator("variant")
    @classmethod
    def _check_variant(cls, variant: str) -> str:
        if variant not in cls.VARIANTS:
            raise ValueError(f"should be one of {', '.join(cls.VARIANTS)}")
        return variant
