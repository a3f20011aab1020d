"""The option that leaves out pairs with sides of very different lengths."""

import click

from bytenet.cli.common.number_range import NumberRange

max_ratio_option = click.option(
    "--max-ratio",
    type=NumberRange(min=1),
    default=3,
    show_default=True,
    help="Largest ratio of the lengths of the two sides, if the longer side has at least 20 characters; inf for no "
    "limit.",
)
