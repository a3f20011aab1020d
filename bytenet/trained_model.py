"""A trained model by its path or name: a run folder, a `.bytenet` file, or a pretrained model of the package."""

import os
from pathlib import Path

from bytenet.errors import MissingFileError
from bytenet.lite.archive import is_model_file
from bytenet.lite.pretrained import model_path, names_hint
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
        raise MissingFileError(
            f"{path} does not exist; expected the folder of a run, which `bytenet train PRESET --run {path}` makes, or "
            f"the name of a pretrained model. {names_hint(path.name)}"
        ) from error
