"""The files of a prepared run."""

from dataclasses import dataclass
from pathlib import Path

import keras

from bytenet.errors import MissingFileError
from bytenet.files import atomic_folder
from bytenet.run_folder import PREPARED_PAIRS, PREPARED_START, RunFolder
from bytenet.saved.keras_model import load_keras_model, write_model
from bytenet.training.prepared.pairs import PreparedPairs

_TRAIN, _VALIDATION = PREPARED_PAIRS


@dataclass(frozen=True)
class PreparedFolder:
    """What `bytenet prepare` adds to a run folder, in its folder `prepared`.

    Attributes:
        run: the run folder.
    """

    run: RunFolder

    def save(self, train: PreparedPairs, validation: PreparedPairs, start: keras.Model | None) -> None:
        """Save everything, or nothing if there is an error. The folder must not exist.

        Args:
            train, validation: the pairs. There may be no validation pairs.
            start: the model to start from; None to start from random weights.

        Raises:
            InputError: the disk is full.
        """
        with atomic_folder(self.run.prepared) as partial:
            partial.mkdir()
            train.save(partial / _TRAIN)
            validation.save(partial / _VALIDATION)
            if start is not None:
                write_model(start, partial / PREPARED_START)

    def train(self) -> PreparedPairs:
        """Read the training pairs.

        Raises:
            MissingFileError: the run was not prepared.
            InputError: the file is damaged.
        """
        return PreparedPairs.load(self._file(_TRAIN))

    def validation(self) -> PreparedPairs:
        """Read the validation pairs; there may be none. Errors are those of `train`."""
        return PreparedPairs.load(self._file(_VALIDATION))

    def start(self) -> keras.Model | None:
        """Read the model to start from, if `training.start` names one. Errors are those of `train`."""
        return None if self.run.config.training.start is None else load_keras_model(self._file(PREPARED_START))

    def _file(self, name: str) -> Path:
        path = self.run.prepared / name
        if path.is_file():
            return path
        if self.run.is_prepared:
            raise MissingFileError(f"{path} is missing. Copy the whole folder again, or prepare the run again.")
        raise MissingFileError(
            f"{path} is missing: this run was not prepared by `bytenet prepare`. Continue it with "
            f"`{self.run.resume_command}`."
        )
