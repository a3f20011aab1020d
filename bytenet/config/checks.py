"""The checked dataclass, the types and checks of settings, and the mark of fixed settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar, cast, dataclass_transform

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass as checking_dataclass

_T = TypeVar("_T")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def checked(cls: type[_T]) -> type[_T]:
    """Turn a class into a frozen dataclass that checks its values."""
    config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    return cast(type[_T], checking_dataclass(frozen=True, kw_only=True, config=config)(cls))


def problem_of(item: Mapping[str, Any]) -> str:
    """What is wrong with a value: "should be ...". The item is one of `ValidationError.errors`."""
    message: str = item["msg"]
    return message.removeprefix("Value error, ").removeprefix("Input ").removeprefix("Value ")


def _list_like(example: str) -> BeforeValidator:
    """Checks that a value is a list. The message has an example."""

    def check(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise ValueError(f"should be a list, such as {example}")
        return value

    return BeforeValidator(check)


def _odd(value: int) -> int:
    if value % 2 == 0:
        raise ValueError("should be an odd number")
    return value


def _not_empty(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values:
        raise ValueError("should have at least one item")
    return values


def _one_character(value: str) -> str:
    if len(value) != 1:
        raise ValueError("should be one character")
    return value


# NumPy's seeds and most sizes are 32-bit numbers.
_LARGEST = 2**32 - 1
# More layers or list items take minutes to build. The deepest published variant has 30 blocks in each half.
MOST_LAYERS = 1000

Positive = Annotated[int, Field(ge=1, le=_LARGEST)]
NonNegative = Annotated[int, Field(ge=0, le=_LARGEST)]
Layers = Annotated[int, Field(ge=1, le=MOST_LAYERS)]
PositiveFloat = Annotated[float, Field(gt=0)]
NonNegativeFloat = Annotated[float, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, lt=1)]
Share = Annotated[float, Field(gt=0, le=1)]
Even = Annotated[int, Field(ge=2, le=_LARGEST, multiple_of=2)]
Odd = Annotated[int, Field(ge=1, le=_LARGEST), AfterValidator(_odd)]
Character = Annotated[str, AfterValidator(_one_character)]
Name = Annotated[str, Field(min_length=1)]
# YAML and Python callers pass lists. The configuration has tuples, which cannot change.
LayerNumbers = Annotated[tuple[Positive, ...], Field(strict=False), _list_like("[1, 2]")]
Positives = Annotated[LayerNumbers, Field(max_length=MOST_LAYERS), AfterValidator(_not_empty)]
Names = Annotated[tuple[Name, ...], Field(strict=False), AfterValidator(_not_empty), _list_like("[GPU:0, GPU:1]")]
Year = Annotated[int, Field(ge=2008, le=2016)]
Years = Annotated[tuple[Year, ...], Field(strict=False), AfterValidator(_not_empty), _list_like("[2013, 2014]")]


@dataclass(frozen=True)
class Fixed:
    """Marks a setting that a resumed run must not change, as its checkpoints or its scores would no longer fit.

    Used as `Annotated[type, Fixed()]`.

    Args:
        aspect: what must stay the same, computed from the value. By default, the value itself.
    """

    aspect: Callable[[Any], Any] = lambda value: value


def check_layer_numbers(name: str, numbers: Sequence[int], most: int) -> None:
    """Check that a setting has different numbers of layers, in ascending order.

    Raises:
        ValueError: it does not.
    """
    if list(numbers) != sorted(set(numbers)) or max(numbers, default=0) > most:
        raise ValueError(f"{name} {list(numbers)} should be different numbers from 1 to {most}, in ascending order")


def check_length_limits(min_length: int, max_length: int | None) -> None:
    """Check the two limits of a length.

    Raises:
        ValueError: no length is within them.
    """
    if max_length is not None and min_length > max_length:
        raise ValueError(f"min_length {min_length} is more than max_length {max_length}")


def is_set(value: Any) -> bool:
    """Whether a setting has a value. An aspect for `Fixed`."""
    return value is not None
