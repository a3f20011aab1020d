"""The type of options that are real numbers."""

import math
from typing import Any

import click


class NumberRange(click.FloatRange):
    """A number in a range; nan is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number
