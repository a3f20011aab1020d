"""The folder of a run: everything that training leaves behind and that every later command needs."""

import json
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from bytenet.config import PATH_KEYS, Config, forbidden_changes, load_config
from bytenet.errors import InputError, MissingFileError
from bytenet.files import write_text_atomic

if TYPE_CHECKING:
    import keras

    from bytenet.datasets import Vocabulary


class RunFolder:
    """The paths and the fixed contents of a run folder.

    Make one with `RunFolder.create` (training) or `RunFolder.open` (everything after it).

    Attributes:
        path: the folder.
        config_path: the configuration, defaults included.
        vocabulary_path: the characters and their ids.
        checkpoints: folder of the training's checkpoints.
        model_path: the trained model, in Keras's format.
        logs: folder for TensorBoard.
        metrics_path: what was measured at each epoch.
        environment_path: versions, commit, seed and devices of the training.
        evaluation: folder of scores and translations.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self.config_path = self.path / "config.yaml"
        self.vocabulary_path = self.path / "vocabulary.json"
        self.checkpoints = self.path / "checkpoints"
        self.model_path = self.path / "model.keras"
        self.logs = self.path / "logs"
        self.metrics_path = self.path / "metrics.csv"
        self.environment_path = self.path / "environment.json"
        self.evaluation = self.path / "evaluation"

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    @classmethod
    def create(
        cls, path: str | os.PathLike[str], config: Config, vocabulary: "Vocabulary", resume: bool = False
    ) -> Self:
        """Make the folder and save configuration and vocabulary there; or go on with it.

        Args:
            path: a folder that does not exist, is empty or, with `resume`, holds a run.
            config: of the run. When a run goes on, its model, data and seed, what it learns from and which
                translators it trains must be as saved; the rest may change, and is saved by `go_on_with`.
            vocabulary: of the training data.
            resume: go on with the run in the folder, if there is one.

        Raises:
            InputError: the folder is in use, or its run has another model, other data or another vocabulary.
        """
        folder = cls(path)
        folder._make()
        if folder.config_path.exists() and resume:
            folder._check_same_run(config, vocabulary)
            folder._remove_partial_files()
            if not folder.vocabulary_path.exists():
                vocabulary.save(folder.vocabulary_path)
            return folder
        folder.check_free()
        folder._remove_partial_files()
        vocabulary.save(folder.vocabulary_path)
        # Last, as it is what makes the folder a run: killed before this, the same command just starts again.
        folder.go_on_with(config)
        return folder

    def check_free(self) -> None:
        """Raise an InputError if there is something in the folder."""
        if self.path.is_dir() and (found := self._contents()):
            raise InputError(self._in_use(found))

    def go_on_with(self, config: Config) -> None:
        """Save the configuration that the run has from now on; of a resumed one, once its checkpoint fits."""
        write_text_atomic(self.config_path, config.to_yaml())
        self.__dict__.pop("config", None)  # as it was read before

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open the folder of a run that was started.

        Raises:
            MissingFileError: there is no such folder, or it is not a run folder; it names what is missing.
        """
        folder = cls(path)
        if not folder.path.is_dir():
            kind = "is a file" if folder.path.exists() else "does not exist"
            raise MissingFileError(
                f"{folder.path} {kind}; expected the folder of a run, as "
                f"`bytenet train PRESET --run {folder.path}` makes it."
            )
        if folder.missing:
            raise MissingFileError(
                f"{folder.path} is not a run folder: {' and '.join(folder.missing)} missing. Give the folder that "
                "`bytenet train` was given as --run."
            )
        return folder

    @property
    def missing(self) -> list[str]:
        """Names of the files without which a folder is none of a run."""
        return [path.name for path in (self.config_path, self.vocabulary_path) if not path.is_file()]

    @cached_property
    def config(self) -> Config:
        """The saved configuration."""
        return load_config(self.config_path)

    @property
    def trained_in(self) -> Path:
        """The folder of the run that trains this model: the folder around it if this is a part of it, else itself."""
        whole = RunFolder(self.path.absolute().parent)
        is_part = not whole.missing and self.path.name in whole.config.parts
        return whole.path if is_part else self.path

    @cached_property
    def vocabulary(self) -> "Vocabulary":
        """The saved vocabulary.

        Raises:
            InputError: the file is damaged, or is not the one that the run was trained with.
        """
        from bytenet.datasets import Vocabulary

        vocabulary = Vocabulary.load(self.vocabulary_path)
        if self.environment_path.is_file():
            environment = self.environment()
            if environment.get("vocabulary", vocabulary.fingerprint()) != vocabulary.fingerprint():
                raise InputError(
                    f"{self.vocabulary_path} is not the vocabulary that the run was trained with: its characters "
                    f"differ from those noted in {self.environment_path.name}. Put back the file that belongs to it."
                )
        return vocabulary

    def environment(self) -> dict:
        """What is noted of the command, versions and machine of the training.

        Raises:
            InputError: the file is damaged.
        """
        try:
            return json.loads(self.environment_path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(
                f"{self.environment_path} is damaged ({error}). Bring back the file. Without it reports and a check of "
                "the vocabulary are missing, and a model that reads padding (thesis) translates a little differently, "
                "as it is not known what its training padded to."
            ) from None

    @property
    def trained_lengths(self) -> list[int] | None:
        """What the pairs of the training were padded to, where the model reads padding; None where it does not."""
        if not self.config.model.length_policy.reads_padding or not self.environment_path.is_file():
            return None
        return self.environment().get("trained_lengths")

    def load_model(self) -> "keras.Model":
        """Load the trained model, without its optimiser.

        Returns:
            The `TranslationModel` of the run.

        Raises:
            MissingFileError: nothing was saved yet.
            InputError: the file is damaged, or was trained with another vocabulary.
        """
        if not self.model_path.is_file():
            raise MissingFileError(
                f"{self.model_path} is missing: training has not saved a model yet. Let it go on with "
                f"`bytenet train --resume --run {self.trained_in}`."
            )
        import keras

        import bytenet.models  # noqa: F401 - registers the classes of all models

        try:
            model = keras.models.load_model(self.model_path, compile=False)
        except Exception as error:  # Keras raises whatever the damaged part makes zipfile, h5py or json raise
            raise InputError(
                f"{self.model_path} cannot be loaded: {str(error).strip()[:300] or type(error).__name__}. It was "
                "damaged, or saved by another version of this package. Copy it again, or train again."
            ) from error
        if model.vocab_size != self.vocabulary.size:
            raise InputError(
                f"{self.model_path} was trained with a vocabulary of {model.vocab_size} symbols, but "
                f"{self.vocabulary_path} has {self.vocabulary.size}. The two files belong to different runs; "
                "put back the vocabulary that the model was trained with."
            )
        return model

    def _make(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InputError(f"{self.path} cannot be a run folder: there is a file of that name.") from None

    def _remove_partial_files(self) -> None:
        """Remove what `atomic_path` left behind when it was killed."""
        for partial in [*self.path.glob(".partial-*"), *self.checkpoints.glob(".partial-*")]:
            partial.unlink()

    def _contents(self) -> list[str]:
        """Names in the folder, without those that a `create` killed half-way leaves."""
        names = os.listdir(self.path)
        if self.config_path.name not in names:
            names = [name for name in names if name != self.vocabulary_path.name]
        return sorted(name for name in names if not name.startswith(".partial-"))

    def _in_use(self, found: list[str]) -> str:
        if self.config_path.name in found:
            return (
                f"{self.path} holds a run already. Go on with it with "
                f"`bytenet train --resume --run {self.path}`, or give another folder."
            )
        names = ", ".join(found[:3]) + (", ..." if len(found) > 3 else "")
        return (
            f"{self.path} is not empty and no run folder: it holds {names}. Give --run a folder that is "
            "empty or does not exist yet."
        )

    def _check_same_run(self, config: Config, vocabulary: "Vocabulary") -> None:
        changed = [
            f"{key} was {saved!r} and is {asked!r}"
            for key, saved, asked in forbidden_changes(self.config, config)
            if key not in PATH_KEYS
        ]
        if changed:
            raise InputError(
                f"The run in {self.path} cannot go on with other settings: {'; '.join(changed)}. Leave these "
                "as they were, or start a new run in another folder."
            )
        if self.vocabulary_path.exists() and self.vocabulary != vocabulary:
            raise InputError(
                f"The training data has other characters than {self.vocabulary_path}, so that the saved "
                "weights do not fit it: the corpus changed since the run began. Bring back the corpus, or "
                "start a new run in another folder."
            )

