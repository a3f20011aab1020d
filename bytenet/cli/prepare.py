"""`bytenet prepare`: make the run folder of a training on a machine that may lack TensorFlow."""

from pathlib import Path

import click

from bytenet.cli.common.messages import say
from bytenet.cli.common.set_option import set_option
from bytenet.cli.common.sized_config import check_is_named, read_sized_config


@click.command()
@click.argument("preset_or_file", required=False)
@set_option("training.epochs=5")
@click.option(
    "--run", "run_dir", type=click.Path(path_type=Path), required=True, help="The run folder, in which `fit` trains."
)
def prepare(preset_or_file: str | None, overrides: tuple[str, ...], run_dir: Path) -> None:
    """Make a run folder with the settings of PRESET_OR_FILE and the encoded pairs.

    With --set data.corpus=NAME, PRESET_OR_FILE can be left out.

    Copy the folder to a machine with JAX or PyTorch, and train there: KERAS_BACKEND=jax python -m bytenet fit RUN. Then
    copy it back. It is a run folder like any other, for `translate`, `evaluate` and `export`.
    """
    check_is_named(preset_or_file, overrides, "bytenet prepare numbers --run runs/numbers")
    config = read_sized_config(preset_or_file, overrides)

    from bytenet.training.prepared.preparation import prepare as prepare_run

    prepared = prepare_run(config, run_dir, say)
    say(f"Prepared {run_dir}. Train with: KERAS_BACKEND=jax python -m {prepared.run.resume_command}")
