"""Advice beside the preset that was chosen, and the reason if none was chosen."""

from typing import Final

from bytenet.config import ConfigSources
from bytenet.lite.pretrained import is_pretrained, pretrained_names
from bytenet.trained_model import open_model

_FEW = 2  # a corpus is small for a preset if it has this many times fewer pairs

ADVICE_FOR_STARTS: Final = (
    "Its learning rate and its epochs are for random weights. A trained model usually needs less: try "
    "training.learning_rate=5e-4"
)


def advice_to_start(model: str, preset: str) -> str:
    """A line on a pretrained model of the corpus's languages, and the preset for a training that starts from it."""
    return f"A pretrained model has these languages: to start from it, set training.start={model} (preset {preset})"


def advice_for_few_pairs(number: int, usual: int, epochs: int) -> list[str]:
    """A line of advice for a corpus that is much smaller than the preset is made for. An empty list for others.

    Args:
        number: of pairs in the corpus.
        usual: the number that the preset is made for.
        epochs: of the preset.
    """
    if number * _FEW > usual:
        return []
    as_many = round(epochs * usual / max(number, 1))
    return [f"Few pairs: set training.epochs={as_many} for as many steps as with {usual:,} pairs"]


def pretrained_start(sources: ConfigSources) -> str | None:
    """A pretrained model of the same languages, from which a training can start; None if there is none.

    Own text must name its languages.

    Args:
        sources: without a start.
    """
    from bytenet.datasets.corpora.entry import USERS_CORPORA

    data = sources.data_config()
    names_languages = sources.value("data.source_language") and sources.value("data.target_language")
    if data.corpus in USERS_CORPORA and not names_languages:
        return None
    for name in filter(is_pretrained, pretrained_names()):
        config = open_model(name).config
        if config.data.languages == data.languages and sources.misfit(config.model.family) is None:
            return name
    return None


def why_no_preset(sources: ConfigSources) -> str:
    """Why no preset is chosen for a file that says how large the model is, or for semi-supervised settings."""
    if sources.is_semi_supervised:
        return (
            "No preset is chosen, because settings of semi_supervised are named; other settings have their defaults. "
            "Set the number of epochs, the batches and the learning rate, too, or begin the file with a preset."
        )
    sizes = sources.named_sizes
    return (
        f"No preset is chosen, because {sources.preset_or_file} sets {' and '.join(sizes)}; other settings have their "
        f"defaults. To have one chosen, give {'it' if len(sizes) == 1 else 'them'} as --set instead."
    )
