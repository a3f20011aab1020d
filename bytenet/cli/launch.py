"""`bytenet launch`: several workers on this machine."""

import click


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--workers", type=click.IntRange(min=2), default=2, show_default=True, help="Number of processes.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)
@click.pass_context
def launch(ctx: click.Context, workers: int, command: tuple[str, ...]) -> None:
    """Run COMMAND as several workers on this machine, which train together: bytenet launch -- train numbers --run DIR

    The workers share each batch. The GPUs are divided equally; fewer GPUs than workers is an error. Without GPUs, each
    worker uses its share of the processor. Lines of their output begin with the number of the worker. If one fails, all
    end. For several machines, see docs/several-machines.md.
    """
    if command[0] != "train":
        raise click.UsageError(
            f"Only train can have several workers, not {command[0]!r}. For example: bytenet launch --workers 2 -- "
            "train numbers --run runs/numbers"
        )
    from bytenet.training.distribution.launcher import launch as run_workers

    ctx.exit(run_workers(command, workers))
