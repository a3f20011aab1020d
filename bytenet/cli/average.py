"""`bytenet average`: one model from the last checkpoints of a run."""

from pathlib import Path

import click

from bytenet.cli.common.messages import say

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("run", metavar="RUN", type=_PATH)
@click.argument("out", metavar="OUT", type=_PATH)
@click.option("--last", type=click.IntRange(min=2), help="Number of checkpoints.  [default: all that RUN has kept]")
def average(run: Path, out: Path, last: int | None) -> None:
    """Average the weights of the last checkpoints in the folder RUN, and save the model in the new folder OUT.

    OUT translates, evaluates and exports like a run. A run keeps training.keep_checkpoints of its checkpoints, 3 by
    default. The weights themselves are averaged, not their moving averages (training.ema_momentum). The running
    statistics of batch normalisation are averaged, too.
    """
    from bytenet.output_paths import check_new_folder
    from bytenet.trained_model import open_run

    folder = open_run(run, "bytenet average")
    check_new_folder(out)

    from bytenet.training.checkpoints.average import average_checkpoints

    names = average_checkpoints(run, out, last)
    say(f"Averaged {', '.join(names)} into {out}.")
    if folder.config.training.ema_momentum is not None:
        unused = f"the moving averages of the weights (training.ema_momentum), which {folder.model_path} has"
        say(f"The weights themselves were averaged. Not used: {unused}.")
