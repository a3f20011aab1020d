"""`bytenet benchmark exchange`: how long workers take to add up their gradients."""

import click

from bytenet.cli.benchmark.output import Columns, print_tables
from bytenet.cli.common.given_option import given_option
from bytenet.cli.common.messages import say
from bytenet.cli.common.number_range import NumberRange

_SIZES = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_MACHINES = (2, 4, 8, 16, 32, 64)
_FOR_MODEL = ("fitted", "checked", "links", "gradient", "step")


_TIMES: Columns = {
    "workers": lambda row: row.time.workers,
    "MB": lambda row: f"{row.time.megabytes:g}",
    "ms, median (min to max)": lambda row: row.time.seconds.scaled(1000),
}
_COMPARED: Columns = {
    **_TIMES,
    "ms by the model": lambda row: f"{1000 * row.model_seconds:.4g}",
    "measured / model": lambda row: f"{row.time.seconds.median / row.model_seconds:.2f}",
}
_PREDICTED: Columns = {
    "machines": lambda row: row.machines,
    "Gbit/s": lambda row: f"{row.gigabits:g}",
    "ms to exchange": lambda row: f"{1000 * row.exchange_seconds:.4g}",
    "efficiency": lambda row: f"{row.efficiency:.1%}",
}


@click.command()
@click.option(
    "--workers", "fitted", multiple=True, type=click.IntRange(min=2),
    help="Number of processes, for the model; repeated.  [default: 2, 3]",
)  # fmt: skip
@click.option(
    "--check-workers", "checked", multiple=True, type=click.IntRange(min=2),
    help="Number of processes, to check the model; may be repeated.  [default: 4]",
)  # fmt: skip
@click.option(
    "--link", "links", multiple=True, type=NumberRange(min=0, min_open=True),
    help="Gbit/s of the links between machines; may be repeated.  [default: 1, 10, 100]",
)  # fmt: skip
@click.option(
    "--gradient", type=NumberRange(min=0), default=10.6, show_default=True,
    help="MB of the gradient: 4 for each million weights.",
)  # fmt: skip
@click.option(
    "--step", type=NumberRange(min=0, min_open=True), default=1.0, show_default=True,
    help="Seconds of a step of one machine.",
)  # fmt: skip
@click.option("--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Turns of each size.")
@click.option(
    "--json", "as_json", is_flag=True,
    help='Print a JSON object of the lists "measured" and "predicted". With TF_CONFIG there is only "measured", and '
    '"model_seconds" in its rows is null.',
)  # fmt: skip
@click.pass_context
def exchange(
    context: click.Context,
    fitted: tuple[int, ...],
    checked: tuple[int, ...],
    links: tuple[float, ...],
    gradient: float,
    step: float,
    repeats: int,
    as_json: bool,
) -> None:
    """Time exchanges of vectors between workers on this machine, and predict those of many machines.

    A model is fitted to the times of some numbers of workers and must predict the times of another number. Then it
    predicts the exchange between machines, and the efficiency of training steps: the share of a step that is not the
    exchange, if every machine keeps a batch of its own size.

    With TF_CONFIG set, as for `bytenet train` on several machines, this is one of the workers that TF_CONFIG names. The
    chief prints the measured times, and there is no model.
    """
    from bytenet.profiling.benchmarks.workers.exchange import measure_exchange, measure_exchange_as_worker
    from bytenet.profiling.benchmarks.workers.exchange_model import ComparedTime, ExchangeModel
    from bytenet.training.distribution.cluster import Cluster

    cluster = Cluster.from_environment()
    if cluster is not None:
        if option := given_option(context, _FOR_MODEL):
            raise click.UsageError(
                f"TF_CONFIG names the workers, and they only measure. Leave out {option}, or unset TF_CONFIG."
            )
        times = measure_exchange_as_worker(_SIZES, repeats)
        if cluster.is_chief:
            rows = [ComparedTime(time, model_seconds=None) for time in times]
            print_tables({"measured": (rows, _TIMES)}, as_json)
        return
    fitted, checked = fitted or (2, 3), checked or (4,)
    if len(set(fitted)) < 2:
        raise click.UsageError(
            f"--workers {fitted[0]} is only one number of workers. The model needs two, such as 2 and 3."
        )
    times_of = {}
    for count in dict.fromkeys((*fitted, *checked)):
        say(f"{count} workers ...")
        times_of[count] = measure_exchange(count, _SIZES, repeats)
    model = ExchangeModel.fitted([time for count in fitted for time in times_of[count]])
    say(
        f"model of {' and '.join(map(str, fitted))} workers: {1000 * model.call_seconds:.2f} ms a call, "
        f"{1000 * model.round_seconds:.2f} ms a round, {1e9 * model.byte_seconds:.2f} ms a sent MB"
    )
    compared = [model.compared(time) for times in times_of.values() for time in times]
    predicted = [
        model.prediction(machines, link, gradient * 1e6, step)
        for link in links or (1, 10, 100)
        for machines in _MACHINES
    ]
    print_tables({"measured": (compared, _COMPARED), "predicted": (predicted, _PREDICTED)}, as_json)
