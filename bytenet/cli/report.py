"""`bytenet report`: a page of Markdown about a run."""

from pathlib import Path

import click


@click.command()
@click.argument("run_dir", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), help="The Markdown file.  [default: RUN/report.md]")
@click.option("--title", help="Its heading.  [default: the name of the folder RUN]")
def report(run_dir: Path, output: Path | None, title: str | None) -> None:
    """Write a page about the run in the folder RUN: command, machine, time, speed, curves, scores, translations.

    It includes every evaluation of the present model in RUN/evaluation, where `bytenet evaluate` saves them. The curves
    are a PNG file beside the page.
    """
    from bytenet.evaluation.run_page import write_run_page
    from bytenet.trained_model import open_run

    open_run(run_dir, "bytenet report")
    output = output or run_dir / "report.md"
    write_run_page(run_dir, output, title or run_dir.resolve().name)
    click.echo(str(output))
