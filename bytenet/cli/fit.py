"""`bytenet fit`: train in a folder of `bytenet prepare`, on any backend of Keras."""

from pathlib import Path

import click

from bytenet.cli.common.messages import say


@click.command()
@click.argument("run_dir", metavar="RUN", type=click.Path(path_type=Path))
def fit(run_dir: Path) -> None:
    """Train in the run folder RUN, which `bytenet prepare` made, or resume a stopped training.

    KERAS_BACKEND chooses the backend: jax, torch or tensorflow. TensorFlow need not be installed for the others.
    """
    from bytenet.training.prepared.fitting import fit_prepared

    fit_prepared(run_dir, say)
