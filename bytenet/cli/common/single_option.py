"""An option that is refused if it is given twice."""

from typing import Any

import click

SEVERAL_REFERENCES = "For several references, use `sacrebleu REF1 REF2 -i HYPOTHESES`."
"""What to do instead of giving `--reference` twice."""


class SingleOption(click.Option):
    """An option that can be given once. click's own use the last value and say nothing of the others.

    Args:
        advice: what to do instead of giving it twice, for the message.
    """

    def __init__(self, *args: Any, advice: str = "", **kwargs: Any):
        super().__init__(*args, **{**kwargs, "multiple": True})
        self._advice = f" {advice}" if advice else ""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """The value; None if the option is not given."""
        values = super().process_value(ctx, value) or (None,)
        if len(values) > 1:
            times = "twice" if len(values) == 2 else f"{len(values)} times"
            raise click.UsageError(f"{self.opts[0]} is given {times}; one is possible.{self._advice}")
        return values[0]
