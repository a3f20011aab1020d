"""`bytenet data report`: look at a corpus before training on it."""

import click

from bytenet.cli.common.json_output import print_json
from bytenet.cli.common.set_option import set_option
from bytenet.cli.common.sized_config import check_is_named, read_sized_config


@click.command()
@click.argument("preset_or_file", required=False)
@set_option("data.max_length=200")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option("--list", "list_corpora", is_flag=True, help="List the corpora that data.corpus can name, and exit.")
def report(preset_or_file: str | None, overrides: tuple[str, ...], as_json: bool, list_corpora: bool) -> None:
    """Show the corpus of PRESET_OR_FILE as a training would see it.

    With --set data.corpus=NAME, PRESET_OR_FILE can be left out.

    The report has a histogram of lengths, the buckets with their batches and padding, the alphabet with rare and odd
    characters, pairs that may not be translations of each other, and how much of the monolingual text would be used.
    """
    if list_corpora:
        if preset_or_file is not None or overrides:
            raise click.UsageError("--list shows all corpora. Leave out PRESET_OR_FILE and --set.")
        _list_corpora(as_json)
        return
    check_is_named(preset_or_file, overrides, "bytenet data numbers, or: bytenet data --list")
    config = read_sized_config(preset_or_file, overrides)

    from bytenet.datasets.corpus_report import CorpusReport

    corpus_report = CorpusReport.from_config(config.data)
    if as_json:
        print_json(corpus_report.to_dict())
    else:
        from rich.console import Console

        from bytenet.datasets.corpus_report.terminal_tables import print_report

        print_report(corpus_report, Console(highlight=False))


def _list_corpora(as_json: bool) -> None:
    from bytenet.datasets import available

    if as_json:
        print_json([entry.to_dict() for entry in available()])
    else:
        from rich.console import Console

        from bytenet.datasets.corpus_report.terminal_tables import print_corpora

        print_corpora(available(), Console(highlight=False))
