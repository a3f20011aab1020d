"""Which settings a resumed run saves, and what it says about those that changed."""

from collections.abc import Iterator
from dataclasses import replace

from bytenet.config import PATH_KEYS, Config
from bytenet.run_folder import RunFolder
from bytenet.training.starts import starts_of


def resumed_config(config: Config, begun: Config) -> Config:
    """The configuration that a resumed run saves for a translator.

    Args:
        config: of the translator, as it was asked for.
        begun: of the run, as it began.
    """
    # The weights of the checkpoint come from the models that the run started from, not from those asked for.
    semi = begun.semi_supervised
    return replace(
        config,
        training=replace(config.training, start=begun.training.start),
        semi_supervised=replace(
            config.semi_supervised, start_forward=semi.start_forward, start_backward=semi.start_backward
        ),
    )


def messages_of_resuming(folder: RunFolder, config: Config, begun: Config) -> Iterator[str]:
    """Messages for a run that is resumed from a checkpoint.

    Args:
        folder: of the run.
        config: of the run, as it was asked for.
        begun: of the run, as it began.
    """
    changes = [
        f"{key} from {before!r} to {after!r}"
        for key, before, after in begun.differences(resumed_config(config, begun))
        if key not in PATH_KEYS or key.startswith("decoding.")
    ]
    if changes:
        yield f"changed settings: {', '.join(changes)}"
    if starts_of(begun) != starts_of(config):
        yield (
            "the weights come from the checkpoint, not from the models that the settings name as starts now; "
            f"{folder.config_path} keeps the earlier names"
        )
