"""`bytenet reproduce`: the thesis's figures and tables again, and what comes of them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bytenet.reproduction import Experiment, Verdict

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command(short_help="Regenerate the thesis's figures and tables.")
@click.argument("names", nargs=-1)
@click.option("--list", "show_list", is_flag=True, help="List the figures and tables and what each needs.")
@click.option("--all", "take_all", is_flag=True, help="Take every one that this version can do.")
@click.option(
    "--scale", type=click.Choice(["smoke", "cpu", "thesis"]), default="cpu", show_default=True,
    help="smoke: a minute, numbers mean nothing; cpu: what two cores can do; thesis: its own settings.",
)  # fmt: skip
@click.option("--seeds", type=click.IntRange(min=1), help="Trainings of each model.  [default: the experiment's own]")
@click.option("--jobs", type=click.IntRange(min=1), help="Trainings side by side.  [default: one a core; thesis: 1]")
@click.option(
    "--out", type=_FOLDER, default="reproduction", show_default=True, help="Folder for data, pictures and verdicts."
)
@click.option(
    "--runs", type=_FOLDER, default="runs/reproduce", show_default=True,
    help="Folder for the trainings, which are not done twice.",
)  # fmt: skip
@click.option(
    "--partial",
    is_flag=True,
    help="Train nothing; measure the trainings in --runs that are finished, with this version's settings.",
)
@click.option(
    "--join", is_flag=True, help="Keep the results in --out of other trainings, which then are not done again."
)
@click.option("--plot-only", is_flag=True, help="Draw and judge again from the data in --out, without training.")
@click.option(
    "--page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Then write a page of Markdown on all results in --out.",
)
def reproduce(
    names: tuple[str, ...],
    show_list: bool,
    take_all: bool,
    scale: str,
    seeds: int | None,
    jobs: int | None,
    out: Path,
    runs: Path,
    partial: bool,
    join: bool,
    plot_only: bool,
    page: Path | None,
) -> None:
    """Regenerate figures and tables of the thesis by NAME, such as fig-3.3.1, and compare with what it printed.

    Each leaves its data (CSV), picture (PNG) and verdicts (JSON) in the folder given as --out. Trainings are kept in
    --runs: figures that show the same training share it, and what was stopped goes on. Figures of many trainings can
    be made of those that are finished: --partial; and in several places: bring the results of one to the next and
    --join them there. Verdicts go to stdout.
    """
    from bytenet.reproduction.registry import all_experiments, find_experiment

    if show_list:
        _print_list(all_experiments())
        return
    if take_all and names:
        raise click.UsageError("Give either NAMES or --all.")
    chosen = all_experiments() if take_all else [find_experiment(name) for name in dict.fromkeys(names)]
    if not chosen and page is None:
        raise click.UsageError("Missing NAMES, for example: bytenet reproduce fig-3.3.1 --scale smoke. See --list.")

    from bytenet.errors import InputError
    from bytenet.reproduction.engine.results import ResultFiles
    from bytenet.reproduction.engine.runner import redraw
    from bytenet.reproduction.engine.runner import reproduce as run

    if partial and plot_only:
        raise click.UsageError("Give either --partial, which measures, or --plot-only, which takes what was measured.")
    if join and plot_only:
        raise click.UsageError("Give either --join, which adds to what was measured, or --plot-only.")
    if (partial or join) and take_all:
        chosen = [experiment for experiment in chosen if experiment.in_part]
    if plot_only:
        if take_all:
            chosen = [experiment for experiment in chosen if ResultFiles(out, experiment.name, scale).data.is_file()]
        verdicts, failures = {experiment.name: redraw(experiment, scale, out) for experiment in chosen}, {}
    elif chosen:
        verdicts, failures = run(
            chosen, scale, out, runs, seeds, jobs, partial, join, say=lambda line: click.echo(line, err=True)
        )
    else:
        verdicts, failures = {}, {}
    if verdicts:
        _print_verdicts(verdicts)
    if page is not None:
        from bytenet.reproduction.pages.page import write_pages

        write_pages(page, out)
        click.echo(f"wrote {page}", err=True)
    if failures:
        raise InputError("\n".join(f"{name} failed: {why}" for name, why in failures.items()))


def _print_list(experiments: "list[Experiment]") -> None:
    from rich.console import Console
    from rich.table import Table

    from bytenet.reproduction.engine.experiment import SCALES

    table = Table("name", "shows", "corpus", "smoke", "cpu", "thesis", box=None, pad_edge=False)
    for experiment in experiments:
        needs = experiment.needs
        times = [needs.time.get(scale, "") for scale in SCALES]
        table.add_row(experiment.name, experiment.title, needs.corpus or "none", *times)
    Console(width=None if Console().is_terminal else 200, highlight=False).print(table)


def _print_verdicts(verdicts: "dict[str, list[Verdict]]") -> None:
    from rich.console import Console
    from rich.table import Table

    from bytenet.reproduction.engine.verdict_text import interval_text, number_text

    table = Table("", "quantity", "thesis", "measured", "95 % interval", "seeds", "verdict", box=None, pad_edge=False)
    for name, found in verdicts.items():
        for verdict in found:
            table.add_row(
                name, verdict.quantity, number_text(verdict.printed), number_text(verdict.measured),
                interval_text(verdict.interval), str(verdict.seeds), verdict.outcome,
            )  # fmt: skip
    Console(width=None if Console().is_terminal else 200, highlight=False).print(table)
