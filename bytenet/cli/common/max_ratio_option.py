"""The option that leaves out pairs with sides of very different lengths."""

import click

max_ratio_option = click.option(
    "--max-ratio",
    type=click.FloatRange(min=1),
    default=3,
    show_default=True,
    help="Most characters of the longer side for each one of the shorter side, if the longer side has at least 20; inf "
    "for no limit.",
)
