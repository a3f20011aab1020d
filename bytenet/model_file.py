"""A trained model in one `.bytenet` file, as the whole package reads it."""

import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from bytenet.config import Config, DataConfig, DecodingConfig, ModelConfig
from bytenet.config.families import family_configs
from bytenet.errors import InputError
from bytenet.lite.archive import LARGEST_NUMBER, LITE_MODEL, SETTINGS, VOCABULARY, WEIGHTS, Archive, is_model_file
from bytenet.lite.cards import card_of, facts_of
from bytenet.lite.pretrained import model_path, named_path
from bytenet.lite.reranking import chosen_reranker, explaining_missing_reranker

if TYPE_CHECKING:
    import keras
    import numpy as np

    from bytenet.datasets import Vocabulary


class ModelFile:
    """The content of a `.bytenet` file. It has what decoding needs of a `RunFolder`.

    Args:
        path: of the file.

    Raises:
        MissingFileError: there is no such file.
        InputError: it is damaged or something else.

    Attributes:
        path: of the file.
        config: the settings of the model and of the search, the languages, and the length of sentences. Other settings
            have their defaults.
        vocabulary: the characters and their ids.
        card: a text for people, Markdown.
        trained_lengths: the padded lengths of the training pairs if the model reads padding, else None.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self._archive = Archive(path)
        self.path = self._archive.path
        self._settings = self._archive.read_json(SETTINGS)

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    @cached_property
    def config(self) -> Config:
        try:
            settings = {name: dict(self._settings[name]) for name in ("model", "data", "decoding")}
            name = settings["decoding"].get("rerank_with")
            if name is not None:
                settings["decoding"]["rerank_with"] = os.fspath(named_path(name, self.path))
            family = family_configs()[settings["model"]["family"]]
            return Config(
                model=family(**settings["model"]),
                data=DataConfig(**settings["data"]),
                decoding=DecodingConfig(**settings["decoding"]),
            )
        except (ValueError, KeyError, TypeError) as error:  # pydantic's errors and InputError are ValueErrors
            raise self._error(SETTINGS, error) from error

    @cached_property
    def vocabulary(self) -> "Vocabulary":
        from bytenet.datasets import Vocabulary

        vocabulary = Vocabulary.from_json(self._archive.read_small(VOCABULARY), where=f"{VOCABULARY} of {self.path}")
        if "\n" in vocabulary.characters:  # a translation would be two lines
            raise self._error(VOCABULARY, "it has the line end as a character")
        return vocabulary

    @property
    def card(self) -> str:
        return card_of(self._archive)

    @property
    def facts(self) -> dict[str, str]:
        """The lines "- name: value" of the card."""
        return facts_of(self.card)

    @property
    def trained_lengths(self) -> list[int] | None:
        lengths = self._settings.get("trained_lengths")
        is_list = isinstance(lengths, list) and all(isinstance(length, int) and length > 0 for length in lengths)
        if not is_list and lengths is not None:
            raise self._error(SETTINGS, "trained_lengths is no list of lengths")
        return lengths

    @property
    def has_weights(self) -> bool:
        """Whether TensorFlow can translate with the file."""
        return WEIGHTS in self._archive

    def suits_lite(self, rerank_with: str | os.PathLike[str] | None = None, rerank_weight: float | None = None) -> bool:
        """Whether LiteRT is installed, and translates with the file nearly as TensorFlow does.

        With weights in float32, the translations are the same. In float16, a few differ: TensorFlow's part has rounded
        weights, LiteRT's part has rounded constants of its graph. In int8, LiteRT also rounds the inputs of matrix
        products, so many differ. LiteRT must also be able to score with the reranker, if there is one.

        Args:
            rerank_with, rerank_weight: as for `bytenet.lite.Translator`.

        Raises:
            MissingFileError: there is no such reranker.
            InputError: the file or the reranker is damaged; or as for `chosen_reranker`.
        """
        decoding = self.config.decoding
        choice = chosen_reranker(
            (decoding.rerank_with, decoding.rerank_weight), (rerank_with, rerank_weight), decoding.num_hypotheses
        )
        return self._is_for_lite and (choice is None or _scores_with_lite(choice[0]))

    @property
    def scores_with_lite(self) -> bool:
        """Whether LiteRT scores given translations with the file, nearly as TensorFlow does.

        False for int8, and for some files of earlier versions.
        """
        return self._is_for_lite and self._lite_settings.get("scores") is True

    @property
    def _is_for_lite(self) -> bool:
        is_installed = find_spec("ai_edge_litert") is not None
        is_precise = self._lite_settings.get("precision") in ("float32", "float16")
        return is_installed and LITE_MODEL in self._archive and is_precise

    @property
    def _lite_settings(self) -> dict[str, Any]:
        settings = self._settings.get("lite")
        return settings if isinstance(settings, dict) else {}

    def load_model(self) -> "keras.Model":
        """Build the model and give it its weights. It computes in float32.

        Raises:
            InputError: the file has no weights for TensorFlow, or they do not fit the settings.
        """
        if not self.has_weights:
            raise InputError(
                f"{self.path} was exported for LiteRT alone. Only `bytenet translate`, `bytenet serve` and "
                "`bytenet-lite` can use it, with the search of its export. For other options and commands, export it "
                "again with --engine both."
            )
        from bytenet.models import build_model
        from bytenet.models.model_size import weight_shapes

        weights, config, vocab_size = self._weights(), self.config.model, self.vocabulary.size
        shapes = {name: values.shape for name, values in weights.items()}
        if not has_readable_sizes(config, len(weights)) or weight_shapes(config, vocab_size) != shapes:
            raise self._error(WEIGHTS, f"its weights are not those of a {config.kind} of these settings")
        model = build_model(config, vocab_size, "float32")
        for variable in model.weights:
            variable.assign(weights[variable.path])
        return model

    def _weights(self) -> "Mapping[str, np.ndarray]":
        from safetensors import SafetensorError
        from safetensors.numpy import load

        content = self._archive.read(WEIGHTS)
        try:
            return load(content)
        except (SafetensorError, ValueError, KeyError, TypeError) as error:
            raise self._error(WEIGHTS, error) from error

    def _error(self, name: str, reason: object) -> InputError:
        text = str(reason).replace("\n", " ")[:300]
        return InputError(
            f"{name} of {self.path} cannot be used: {text}. It was damaged, or written by another version of this "
            "package. Export the model again."
        )


def _scores_with_lite(reranker: str | os.PathLike[str]) -> bool:
    with explaining_missing_reranker():
        path = model_path(reranker)
    return is_model_file(path) and ModelFile(path).scores_with_lite


def settings_of_file(config: Config, trained_lengths: list[int] | None, lite: Mapping[str, Any] | None) -> dict:
    """The content of `settings.json`, without paths of this machine.

    Args:
        config: of the model and of the search.
        trained_lengths: as in `ModelFile`.
        lite: what the translator without TensorFlow must know; None if the file has no LiteRT model.
    """
    source_language, target_language = config.data.languages
    return {
        "model": asdict(config.model),
        "data": {
            "source_language": source_language,
            "target_language": target_language,
            "max_length": config.data.max_length,
        },
        "decoding": config.decoding.in_use,  # so that earlier versions can read files without newer settings
        "trained_lengths": trained_lengths,
        "lite": lite,
    }


def has_readable_sizes(config: ModelConfig, num_weights: int) -> bool:
    """Whether a file with so many weights may have a model of a configuration.

    A damaged file could ask for a model that is too large to be described. Its settings are checked first.
    """
    for field in fields(config):
        value = getattr(config, field.name)
        most = num_weights if field.name.endswith(("layers", "sets")) else LARGEST_NUMBER
        if isinstance(value, int) and value > most:
            return False
        if isinstance(value, tuple) and (len(value) > num_weights or max(value, default=0) > LARGEST_NUMBER):
            return False
    return True
