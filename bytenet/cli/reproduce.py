"""`bytenet reproduce`: reproduces the figures and tables of the thesis, and judges them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bytenet.cli.common.given_option import given_option
from bytenet.cli.common.messages import say

if TYPE_CHECKING:
    from bytenet.reproduction import Experiment, Scale, Verdict

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("names", nargs=-1)
@click.option("--list", "show_list", is_flag=True, help="List all experiments, and what each needs.")
@click.option("--all", "take_all", is_flag=True, help="Run all experiments, also those beyond the thesis.")
@click.option(
    "--scale", type=click.Choice(["smoke", "cpu", "thesis"]), default="cpu", show_default=True,
    help="smoke: takes a minute, numbers mean nothing; cpu: for two cores; thesis: the thesis's settings.",
)  # fmt: skip
@click.option("--seeds", type=click.IntRange(min=1), help="Trainings of each model.  [default: set by each experiment]")
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Trainings at the same time.  [default: one for each core; thesis: 1]"
)
@click.option(
    "--out", type=_FOLDER, default="reproduction", show_default=True, help="Folder for data, pictures and verdicts."
)
@click.option(
    "--runs", type=_FOLDER, default="runs/reproduce", show_default=True,
    help="Folder for the trainings. Finished trainings are reused.",
)  # fmt: skip
@click.option(
    "--partial",
    is_flag=True,
    help="Train nothing. Measure the finished trainings in --runs that have the settings of this version.",
)
@click.option(
    "--join", is_flag=True, help="Keep the results of other trainings in --out, and do not train these again."
)
@click.option("--plot-only", is_flag=True, help="Draw and judge again from the data in --out. Train nothing.")
@click.option(
    "--page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Afterwards write a page of Markdown on all results in --out; those of the chapters go to --out, and "
    "thesis-and-code.md beside this page.",
)
@click.pass_context
def reproduce(
    context: click.Context,
    names: tuple[str, ...],
    show_list: bool,
    take_all: bool,
    scale: "Scale",
    seeds: int | None,
    jobs: int | None,
    out: Path,
    runs: Path,
    partial: bool,
    join: bool,
    plot_only: bool,
    page: Path | None,
) -> None:
    """Reproduce figures and tables of the thesis, by NAME such as fig-3.3.1, and compare them with the thesis.

    Other experiments go beyond the thesis, such as family-contest.

    Data (CSV), picture (PNG) and verdicts (JSON) of each are saved in --out. Trainings are saved in --runs. Figures
    that show the same training share it, and a stopped training resumes. With --partial, a figure of many trainings is
    made from the finished ones. With --join, several machines can make one figure: copy the results from one machine
    to the next, and join them there. Verdicts go to stdout.
    """
    if show_list:
        _print_list()
        return
    chosen = _chosen(names, take_all)
    if not chosen and page is None:
        raise click.UsageError("Missing NAMES, for example: bytenet reproduce fig-3.3.1 --scale smoke. See --list.")
    if plot_only:
        _check_plot_only(context)

    from bytenet.errors import InputError
    from bytenet.reproduction.engine import redrawing, runner
    from bytenet.reproduction.engine.results import ResultFiles

    verdicts: dict[str, list[Verdict]] = {}
    failures: dict[str, str] = {}
    if plot_only:
        if take_all:
            chosen = [experiment for experiment in chosen if ResultFiles(out, experiment.name, scale).data.is_file()]
        verdicts, failures = redrawing.redraw_all(chosen, scale, out, say)
    elif chosen:
        if (partial or join) and take_all:
            chosen = [experiment for experiment in chosen if experiment.in_part]
        verdicts, failures = runner.reproduce(chosen, scale, out, runs, seeds, jobs, partial, join, say)
    try:
        if verdicts:
            _print_verdicts(verdicts)
    finally:  # also if the reader of a pipe is gone
        if page is not None:
            from bytenet.reproduction.pages.write_pages import write_pages

            write_pages(page, out)
            say(f"Wrote {page}.")
    if failures:
        raise InputError("\n".join(f"{name} failed: {why}" for name, why in failures.items()))


def _chosen(names: tuple[str, ...], take_all: bool) -> "list[Experiment]":
    from bytenet.reproduction.registry import all_experiments, find_experiment

    if take_all and names:
        raise click.UsageError("Give either NAMES or --all.")
    return all_experiments() if take_all else [find_experiment(name) for name in dict.fromkeys(names)]


def _check_plot_only(context: click.Context) -> None:
    """Refuse the options that --plot-only would ignore."""
    option = given_option(context, ("seeds", "jobs", "runs", "partial", "join"))
    if option in ("--partial", "--join"):
        raise click.UsageError(f"Give either {option}, which measures, or --plot-only, which uses saved data.")
    if option:
        raise click.UsageError(f"--plot-only trains nothing and uses the data in --out. Leave out {option}.")


def _print_list() -> None:
    from rich.console import Console
    from rich.table import Table

    from bytenet.reproduction.engine.experiment import SCALES
    from bytenet.reproduction.registry import all_experiments

    table = Table("name", "shows", "corpus", "smoke", "cpu", "thesis", box=None, pad_edge=False)
    for experiment in all_experiments():
        needs = experiment.needs
        times = [needs.time.get(scale, "") for scale in SCALES]
        table.add_row(experiment.name, experiment.title, needs.corpus or "none", *times)
    Console(width=None if Console().is_terminal else 200, highlight=False).print(table)


def _print_verdicts(verdicts: "dict[str, list[Verdict]]") -> None:
    from rich.console import Console
    from rich.table import Table

    from bytenet.reproduction.engine.number_format import interval_text, number_text

    table = Table("", "quantity", "thesis", "measured", "95 % interval", "seeds", "verdict", box=None, pad_edge=False)
    for name, of_experiment in verdicts.items():
        for verdict in of_experiment:
            table.add_row(
                name, verdict.quantity, number_text(verdict.printed), number_text(verdict.measured),
                interval_text(verdict.interval), str(verdict.seeds), verdict.outcome,
            )  # fmt: skip
    Console(width=None if Console().is_terminal else 200, highlight=False).print(table)
