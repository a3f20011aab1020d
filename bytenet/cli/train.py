"""`bytenet train`: train a model into a run folder."""

import os
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bytenet.cli.common.messages import say
from bytenet.cli.common.set_option import set_option
from bytenet.cli.common.sized_config import check_is_named

if TYPE_CHECKING:
    from bytenet.config import Config


def _choices() -> str:
    """The presets, the families of models and their variants, for --help."""
    from bytenet.config import preset_names
    from bytenet.config.families import family_configs, family_descriptions

    families = "".join(
        f"\n\n\b\n{name}: {description}\n{_variants(family_configs()[name].VARIANTS)}"
        for name, description in family_descriptions().items()
    )
    return (
        f"Presets: {', '.join(preset_names())}.\n\n"
        "Families of models, for --set model.family=NAME, and their variants, for --set model.variant=NAME (see "
        f"docs/models.md):{families}"
    )


def _variants(names: Iterable[str]) -> str:
    return textwrap.fill(f"Variants: {', '.join(names)}.", 74, initial_indent="  ", subsequent_indent="    ")


class _Train(click.Command):
    """Reads presets and families only for --help."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.epilog = _choices()
        super().format_epilog(ctx, formatter)


@click.command(cls=_Train)
@click.argument("preset_or_file", required=False)
@set_option("training.epochs=5")
@click.option(
    "--run",
    "run_dir",
    type=click.Path(path_type=Path),
    required=True,
    help="The run folder, in which everything is saved.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Resume the training in the run folder after it was stopped or killed. With PRESET_OR_FILE, begin it if there "
    "is none.",
)
def train(preset_or_file: str | None, overrides: tuple[str, ...], run_dir: Path, resume: bool) -> None:
    """Train a model with the settings of PRESET_OR_FILE, and save it in the folder given as --run.

    PRESET_OR_FILE is the name of a preset or the path of a YAML file. If it names a corpus, but no preset and no model,
    a preset is chosen by the number of pairs: pairs-2k-bahdanau, pairs-10k-bahdanau, pairs-30k-bahdanau or
    pairs-150k-bahdanau. These train recurrent models. If a setting does not fit them, the preset of the same size with
    a ConvS2S or a ByteNet is chosen, such as pairs-2k-convs2s or pairs-2k; for a Transformer, that with a ByteNet. If
    training.start names a ByteNet or a Transformer, a preset for such trainings is chosen, such as pairs-2k-start.
    Leave PRESET_OR_FILE out with --set data.corpus=NAME (a preset is chosen), or with --resume (the run keeps its
    settings). `bytenet settings` prints all settings with explanations.

    With TF_CONFIG, or in a step of Slurm, several processes train together: see docs/several-machines.md.
    """
    if not resume:
        check_is_named(preset_or_file, overrides, "bytenet train numbers --run runs/numbers")
    # Which of several workers is the chief is not known yet, and only the chief has the run folder.
    is_alone = "TF_CONFIG" not in os.environ and os.environ.get("SLURM_STEP_NUM_TASKS", "1") == "1"
    if is_alone and not resume:
        _check_free(run_dir)
    config, message = _config(preset_or_file, overrides, run_dir, resume)
    if is_alone:
        _check_start(config, run_dir, resume)
    if message:
        say(message)

    from bytenet.training import train as run_training
    from bytenet.training.distribution.cluster import Cluster

    run_training(config, run_dir, resume=resume, cluster=Cluster.from_environment())


def _config(
    preset_or_file: str | None, overrides: tuple[str, ...], run_dir: Path, resume: bool
) -> "tuple[Config, str | None]":
    """Read the configuration to train with.

    Returns:
        The configuration; and a message on the chosen preset and on the scores to expect, or None.
    """
    from bytenet.config import load_config
    from bytenet.presets.by_size import load_sized_config
    from bytenet.presets.expectations import expectation
    from bytenet.run_folder import RunFolder

    if preset_or_file is None and resume:
        return load_config(RunFolder.open(run_dir).config_path, overrides), None
    goes_on = resume and not RunFolder(run_dir).missing
    sized = load_sized_config(preset_or_file, overrides, RunFolder(run_dir).config_path if goes_on else None)
    if not sized.choice and not goes_on and preset_or_file is not None:
        return sized.config, expectation(preset_or_file, overrides)
    return sized.config, sized.message


def _check_free(run_dir: Path) -> None:
    """Check the folder before the corpus is read. The training checks it again."""
    from bytenet.run_folder import RunFolder

    RunFolder(run_dir).check_free()


def _check_start(config: "Config", run_dir: Path, resume: bool) -> None:
    """Check what the training checks first, before the import of TensorFlow, which takes long."""
    from bytenet.run_folder import RunFolder
    from bytenet.training.starts import check_start

    check_start(config, RunFolder(run_dir), resume)
