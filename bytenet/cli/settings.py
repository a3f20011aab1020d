"""`bytenet settings`: all settings of a configuration, with their explanations."""

import click

from bytenet.cli.common.messages import say
from bytenet.cli.common.set_option import set_option
from bytenet.cli.common.sized_config import read_sized_config

_FILES = ("data.train_source=train.source", "data.train_target=train.target")
"""Stand for the names of the user's files."""


@click.command()
@click.argument("preset_or_file", required=False)
@set_option("model.family=transformer")
def settings(preset_or_file: str | None, overrides: tuple[str, ...]) -> None:
    """Print all settings of PRESET_OR_FILE as YAML, with explanations. Without it, print the defaults.

    The output is a complete configuration: save it, change it, and give the file to `bytenet train`. The settings of
    the section `model` depend on the family of the model. If a corpus is named, but no preset and no size of the model,
    the corpus is read, because its number of pairs chooses the preset.

    \b
    bytenet settings
    bytenet settings --set model.family=transformer
    bytenet settings multi30k-attention > my.yaml
    """
    from bytenet.config import ConfigSources
    from bytenet.config.described_settings import described_yaml

    if ConfigSources.read(preset_or_file, overrides).lacks_files:
        overrides = (*_FILES, *overrides)
        say("train.source and train.target stand for the names of your files.")
    config = read_sized_config(preset_or_file, overrides)
    click.echo(described_yaml(config).encode(), nl=False)  # a configuration is UTF-8 on every machine
