"""The settings that models of all families have."""

from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import ArgsKwargs

from bytenet.config.checks import Fraction, Name, NonNegative, checked
from bytenet.config.length_policy import LengthPolicy
from bytenet.errors import ConfigError

Condition = Mapping[str, Collection[str]]
"""Names of settings, each with the values that it must have."""


@checked
class ModelConfig:
    """The settings of a translation model. Each module of `bytenet.config.families` has a subclass for one family.

    The value of a setting is the first of these that exists: the given value; with `settings: thesis`, the value in
    `THESIS`; the value of the variant in `VARIANTS`; the default of the field. None counts as not given. A finished
    configuration has all values.

    Attributes:
        VARIANTS: by the name of a variant, the values that differ from the defaults.
        THESIS: the values of the thesis's code that differ from this project's.
        READ_WITH: for each setting that only some models of the family read: the conditions for these models. Several
            conditions are alternatives.
    """

    VARIANTS: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({})
    THESIS: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    READ_WITH: ClassVar[Mapping[str, Condition | tuple[Condition, ...]]] = MappingProxyType(
        {name: {"length_rule": ("unfold",)} for name in ("unfold_scale", "unfold_offset")}
    )

    family: Name
    variant: str  # a configuration of the family; settings that are given here change it
    # "default" is good practice. "thesis" is what the code of Madsen (2017) does.
    settings: Literal["default", "thesis"] = "default"
    dropout: Fraction = 0.0  # share of the units that are dropped in training
    # Share of the target characters that the decoder does not see in training: it must then read the source.
    character_dropout: Fraction = 0.0
    # Hides padding from the network, so that a sentence's logits do not depend on its batch.
    mask_padding: bool = True
    # The longest translation for n source symbols. "unfold": ⌈unfold_scale · n + unfold_offset⌉ symbols. "pair": the
    # padded length of the pair.
    length_rule: Literal["unfold", "pair"] = "unfold"
    unfold_scale: Annotated[float, Field(ge=0.01)] = 1.2
    unfold_offset: NonNegative = 24

    @property
    def model_name(self) -> str:
        """The name of the model, with which the paths of its weights begin in checkpoints and profiles."""
        return self.family

    @property
    def problem_in_training(self) -> str | None:
        """Why the model cannot be trained, and what to change; None if it can."""
        return None

    @property
    def kind(self) -> str:
        """Family and variant in messages, such as "recurrent luong"; the family alone if both have the same name."""
        return self.family if self.variant == self.family else f"{self.family} {self.variant}"

    @property
    def length_policy(self) -> LengthPolicy:
        """The longest targets, and the padding of sources."""
        return LengthPolicy(
            self.length_rule, self.unfold_scale, self.unfold_offset, not self.mask_padding, self.longest_sequence
        )

    @property
    def longest_sequence(self) -> int | None:
        """The length of the longest source or target, with the end symbol; None for no limit."""
        return None

    @property
    def has_batch_statistics(self) -> bool:
        """Whether the model normalises by the statistics of a batch, so that its sentences depend on each other."""
        return False

    @property
    def has_dropout(self) -> bool:
        """Whether anything is dropped in training."""
        return any(self.dropout_rates.values())

    @property
    def dropout_rates(self) -> dict[str, float]:
        """The shares of what is dropped in training, by the name of the setting."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name.endswith("dropout")}

    def with_dropout_of(self, other: "ModelConfig") -> Self:
        """The same configuration with the dropout rates of another one. Rates that the other one lacks stay."""
        rates: dict[str, Any] = {name: rate for name, rate in other.dropout_rates.items() if name in self.dropout_rates}
        return replace(self, **rates)

    def with_added_sets(self, number: int) -> Self:
        """The configuration of a model with more sets of residual blocks in its encoder and in its decoder.

        Raises:
            ConfigError: the family has no such sets, and `number` is not 0.
        """
        if number:
            raise ConfigError(f"training.added_sets is for the family bytenet; the start is a {self.kind}.")
        return self

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, arguments: ArgsKwargs) -> ArgsKwargs:
        values = {key: value for key, value in (arguments.kwargs or {}).items() if value is not None}
        thesis = cls.THESIS if values.get("settings") == "thesis" else {}
        name = {"variant": cls.variant, **thesis, **values}["variant"]
        variant = cls.VARIANTS.get(name, {}) if isinstance(name, str) else {}  # other types are refused later
        return ArgsKwargs(arguments.args, {**variant, **thesis, **values})

    @field_validator("variant")
    @classmethod
    def _check_variant(cls, variant: str) -> str:
        if variant not in cls.VARIANTS:
            raise ValueError(f"should be one of {', '.join(cls.VARIANTS)}")
        return variant
