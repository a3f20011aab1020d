"""A trained model by its path or name: a run folder, a `.bytenet` file, or a pretrained model of the package."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from bytenet.errors import InputError, MissingFileError
from bytenet.lite.archive import is_model_file
from bytenet.lite.languages import check_direction
from bytenet.lite.pretrained import is_pretrained, model_path, name_or_path, names_hint, pretrained_name
from bytenet.model_file import ModelFile
from bytenet.run_folder import RunFolder


def open_model(path: str | os.PathLike[str]) -> RunFolder | ModelFile:
    """Open a run folder, a file whose name ends in `.bytenet`, or a pretrained model of the package, by its name.

    Raises:
        MissingFileError: there is no such folder, file or name.
        InputError: it is something else, or damaged.
    """
    path = find_model(path)
    return ModelFile(path) if is_model_file(path) else RunFolder.open(path)


def open_models(paths: Sequence[str | os.PathLike[str]]) -> list[RunFolder | ModelFile]:
    """Open one model, or several that translate together.

    Args:
        paths: as for `open_model`.

    Raises:
        MissingFileError: as for `open_model`.
        InputError: as for `open_model`; or there are no paths, or models that do not belong together.
    """
    if not paths:
        raise InputError("There is no model to translate with. Give at least one.")
    models = [open_model(path) for path in paths]
    first, *others = models
    for other in others:
        first_name, other_name = name_or_path(first.path), name_or_path(other.path)
        check_direction(
            other.path, other.config.data.languages, first.config.data.languages,
            f"{other_name} cannot translate together with {first_name}", _advice_on_languages(other),
        )  # fmt: skip
        if other.vocabulary != first.vocabulary:
            raise InputError(
                f"The models {first_name} and {other_name} have different vocabularies, so they cannot translate "
                "together. Train them on the same corpus."
            )
    if others:
        for model in models:
            if model.config.model.length_policy.reads_padding:
                raise InputError(
                    f"{name_or_path(model.path)} reads padding (model.mask_padding is false), so it cannot translate "
                    "together with other models. Translate with it alone."
                )
    return models


def _advice_on_languages(model: RunFolder | ModelFile) -> str:
    """Where the names of a model's languages can be corrected, after a space. Nothing for a pretrained model."""
    if pretrained_name(model.path):
        return ""
    is_run = isinstance(model, RunFolder)
    place = "in its config.yaml" if is_run else "in the config.yaml of its run, and export it again"
    return f" If only the names of the languages are wrong, correct them {place}."


def open_run(path: str | os.PathLike[str], command: str) -> RunFolder:
    """Open the run folder of a command that takes no other model.

    Args:
        path: of the folder.
        command: for the message about another model, such as "bytenet report".

    Raises:
        MissingFileError: as for `RunFolder.open`.
        InputError: it is another model.
    """
    kind = "a pretrained model" if is_pretrained(path) else "a model file" if is_model_file(path) else None
    if kind is not None:
        raise InputError(f"{path} is {kind}; `{command}` needs the folder of a run, which `bytenet train` makes.")
    return RunFolder.open(path)


def find_model(name: str | os.PathLike[str]) -> Path:
    """The path that a name stands for: the name itself, or the file of a pretrained model of the package.

    A file or the folder of a run comes before a pretrained model.

    Raises:
        MissingFileError: it stands for nothing.
    """
    try:
        return model_path(name)
    except MissingFileError as error:
        path = Path(name)
        if is_model_file(path):
            raise
        command = f"bytenet train PRESET --run {shlex.quote(str(path))}"
        raise MissingFileError(
            f"{path} does not exist; expected the folder of a run, which `{command}` makes, or the name of a "
            f"pretrained model. {names_hint(path.name)}"
        ) from error
