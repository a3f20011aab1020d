"""`bytenet data`: look at a corpus, back-translate its text, or split it into shards. Each module is one command.

`bytenet data PRESET_OR_FILE` is short for `bytenet data report PRESET_OR_FILE`, as looking at a corpus is what most
users want of this verb.
"""

import click

from bytenet.cli.common.lazy_group import LazyGroup

_VERBS = {
    "report": "Show the corpus of PRESET_OR_FILE. This is what `bytenet data PRESET_OR_FILE` does.",
    "back-translate": "Translate monolingual text into training pairs, with a model of the other direction.",
    "shard": "Split a corpus that is larger than memory into files to train from.",
}


class _ReportByDefault(LazyGroup):
    """A group that takes arguments without a verb for those of `report`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in (*self._verbs, *ctx.help_option_names):
            args = ["report", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=_ReportByDefault,
    package=__name__,
    verbs=_VERBS,
    subcommand_metavar="PRESET_OR_FILE | --list | COMMAND ...",
)
def data() -> None:
    """Look at a corpus before training: lengths, buckets, alphabet, odd pairs.

    `bytenet data --list` lists the corpora that data.corpus can name.

    `bytenet data report --help` explains what is shown, `bytenet data back-translate --help` how to use monolingual
    text, and `bytenet data shard --help` what to do with more text than fits into memory.
    """
