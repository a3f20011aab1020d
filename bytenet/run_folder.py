"""The folder of a run: everything that training leaves behind and that every later command needs."""

import hashlib
import os
import shlex
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from bytenet.config import Config, fixed_settings, forbidden_changes, load_config
from bytenet.errors import InputError, MissingFileError
from bytenet.files import PARTIAL, remove, write_text_atomic
from bytenet.folder_lock import LOCK_NAME
from bytenet.limits import read_json
from bytenet.saved.environment import Environment

PREPARED_PAIRS = ("train.npz", "validation.npz")
"""The files of the folder `prepared`."""
PREPARED_START = "start.keras"
"""A further file there, with `training.start`."""

if TYPE_CHECKING:
    import keras

    from bytenet.datasets import Vocabulary


class RunFolder:
    """The paths and the contents of a run folder. Training makes one with `RunFolder.create`, the others with `open`.

    Attributes:
        path: the folder.
        config_path: the configuration with all defaults.
        vocabulary_path: the characters and their ids.
        checkpoints: folder with the checkpoints of the training.
        model_path: the trained model, in Keras's format.
        logs: folder for TensorBoard.
        metrics_path: the measurements of each epoch, and of the evaluations inside of epochs.
        continuous_path: the measurements of random validation batches, between the epochs.
        environment_path: versions, commit, seed and devices of the training.
        evaluation: folder with scores, translations and references.
        prepared: folder with what `bytenet prepare` made for `bytenet fit`.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self.config_path = self.path / "config.yaml"
        self.vocabulary_path = self.path / "vocabulary.json"
        self.checkpoints = self.path / "checkpoints"
        self.model_path = self.path / "model.keras"
        self.logs = self.path / "logs"
        self.metrics_path = self.path / "metrics.csv"
        self.continuous_path = self.path / "continuous.csv"
        self.environment_path = self.path / "environment.json"
        self.evaluation = self.path / "evaluation"
        self.prepared = self.path / "prepared"

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    @classmethod
    def create(
        cls, path: str | os.PathLike[str], config: Config, vocabulary: "Vocabulary", resume: bool = False
    ) -> Self:
        """Make the folder and save configuration and vocabulary in it; or check that its run can be resumed.

        Args:
            path: a folder that does not exist or is empty. With `resume`, it may also hold a run.
            config: of the run. If the run is resumed, `forbidden_changes` must find nothing. Other settings may change;
                `go_on_with` saves them.
            vocabulary: of the training data.
            resume: go on with the run in the folder, if there is one.

        Raises:
            InputError: the folder is in use, or its run has another model, other data or another vocabulary.
        """
        folder = cls(path)
        folder.make()
        if folder.config_path.exists() and resume:
            folder.check_settings(config)
            folder._check_vocabulary(vocabulary)
            folder._remove_partial_files()
            if not folder.vocabulary_path.exists():
                vocabulary.save(folder.vocabulary_path)
            return folder
        folder.clear()
        vocabulary.save(folder.vocabulary_path)
        # The configuration makes the folder a run, so it comes last. After a kill before it, the same command works.
        folder.go_on_with(config)
        return folder

    def make(self) -> None:
        """Make the folder, unless it exists."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise self._file_in_its_place() from None

    def check_free(self) -> None:
        """Raise an InputError if there is something in the folder, or a file in its place."""
        if not self.path.is_dir():
            if any(path.exists() and not path.is_dir() for path in (self.path, *self.path.parents)):
                raise self._file_in_its_place()
            return
        names = os.listdir(self.path)
        if self.config_path.name in names:
            raise InputError(
                f"{self.path} holds a run already. Continue it with `{self.resume_command}`, or give another folder."
            )
        # What a killed `create` or `prepare` leaves does not count.
        left = {self.vocabulary_path.name, LOCK_NAME}
        if self._has_prepared_files:
            left |= {self.prepared.name, self.environment_path.name}
        names = sorted(name for name in {*names} - left if not name.startswith(PARTIAL))
        if names:
            raise InputError(
                f"{self.path} is not empty and not a run folder: it holds {', '.join(names[:3])}"
                f"{', ...' if len(names) > 3 else ''}. Give --run a folder that is empty or does not exist yet."
            )

    def clear(self) -> None:
        """Remove what a killed process left that was making a run here. Errors are those of `check_free`."""
        self.check_free()
        self._remove_partial_files()
        remove(self.prepared)
        remove(self.environment_path)

    def go_on_with(self, config: Config) -> None:
        """Save the configuration that the run has from now on. If the run is resumed, check its checkpoint first."""
        write_text_atomic(self.config_path, config.to_yaml())
        self.__dict__.pop("config", None)  # the one that was read before

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open the folder of a run that was started.

        Raises:
            MissingFileError: there is no such folder, or it is not a run folder; it names what is missing.
        """
        folder = cls(path)
        if not folder.path.is_dir():
            is_file = folder.path.exists()
            quoted = shlex.quote(str(folder.path))
            kind, run_dir = ("is a file", "DIR") if is_file else ("does not exist", quoted)
            preset = quoted if is_file and folder.path.suffix in (".yaml", ".yml") else "PRESET"
            made = f"which `bytenet train {preset} --run {run_dir}` makes"
            raise MissingFileError(f"{folder.path} {kind}; expected the folder of a run, {made}.")
        if folder.missing:
            raise MissingFileError(
                f"{folder.path} is not a run folder: {' and '.join(folder.missing)} missing. Give the folder that "
                "`bytenet train` was given as --run."
            )
        return folder

    @property
    def missing(self) -> list[str]:
        """Names of the files that every run folder has and this one lacks."""
        return [path.name for path in (self.config_path, self.vocabulary_path) if not path.is_file()]

    @cached_property
    def config(self) -> Config:
        """The saved configuration."""
        return load_config(self.config_path)

    @property
    def name(self) -> str:
        """The last part of the absolute path, also for the path "."."""
        return os.path.basename(os.path.abspath(self.path))

    @property
    def trained_in(self) -> Path:
        """The folder of the run that trains this model: the folder around it if this is a part of it, else itself."""
        whole = RunFolder(Path(os.path.abspath(self.path)).parent)
        return whole.path if not whole.missing and self.name in whole.config.parts else self.path

    @cached_property
    def vocabulary(self) -> "Vocabulary":
        """The saved vocabulary.

        Raises:
            InputError: the file is damaged, or the run was trained with another vocabulary.
        """
        from bytenet.datasets import Vocabulary

        vocabulary = Vocabulary.load(self.vocabulary_path)
        if self.environment_path.is_file():
            environment = self.environment()
            if environment.get("vocabulary", vocabulary.fingerprint()) != vocabulary.fingerprint():
                raise InputError(
                    f"{self.vocabulary_path} is not the vocabulary that the run was trained with: its characters "
                    f"differ from those noted in {self.environment_path.name}. Put back the file of this run."
                )
        return vocabulary

    def environment(self) -> Environment:
        """The commands, versions and machine of the training.

        Raises:
            InputError: the file is damaged.
        """
        try:
            return read_json(self.environment_path, Environment, "the environment of a training")
        except InputError as error:
            raise InputError(
                f"{error} Bring it back. Without it, there are no reports, the vocabulary is not checked, and a model "
                "that reads padding (thesis) translates a little differently without the lengths of its training."
            ) from None

    @property
    def trained_lengths(self) -> list[int] | None:
        """The padded lengths of the training pairs if the model reads padding, else None."""
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
                f"{self.model_path} is missing: the training has not saved a model yet. If it is running, wait until "
                "it has measured the validation pairs for the first time. If it was stopped, continue it with "
                f"`{self.resume_command}`."
            )
        from bytenet.saved.keras_model import load_keras_model

        model = load_keras_model(self.model_path)
        if model.vocab_size != self.vocabulary.size:
            raise InputError(
                f"{self.model_path} was trained with a vocabulary of {model.vocab_size} symbols, but "
                f"{self.vocabulary_path} has {self.vocabulary.size}. The two files belong to different runs; "
                "put back the vocabulary that the model was trained with."
            )
        return model

    @property
    def model_sha256(self) -> str | None:
        """The checksum of the trained model's file; None if nothing was saved yet."""
        if not self.model_path.is_file():
            return None
        with open(self.model_path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @property
    def is_prepared(self) -> bool:
        """Whether `bytenet prepare` made the folder, so that `bytenet fit` trains in it."""
        return self.prepared.is_dir()

    @property
    def _has_prepared_files(self) -> bool:
        """Whether the folder `prepared` is one of `bytenet prepare`, and not a folder of the user with this name."""
        names = set(os.listdir(self.prepared)) if self.prepared.is_dir() else set()
        return names - {PREPARED_START} == set(PREPARED_PAIRS)

    @property
    def resume_command(self) -> str:
        """The command that goes on with the training of this model."""
        if self.is_prepared:
            return f"bytenet fit {shlex.quote(str(self.path))}"
        return f"bytenet train --resume --run {shlex.quote(str(self.trained_in))}"

    def resume_command_of(self, workers: int) -> str:
        """The command that goes on with the training of this model with as many workers as before, on one machine."""
        if workers == 1:
            return self.resume_command
        return f"bytenet launch --workers {workers} -- {self.resume_command.removeprefix('bytenet ')}"

    def how_to_resume(self, workers: int) -> str:
        """How to go on with the training of this model with as many workers as before; the end of a message."""
        command = self.resume_command_of(workers)
        if workers == 1:
            return f"Resume with: {command}"
        return f"To resume, start all {workers} workers again with --resume. On one machine: {command}"

    def _file_in_its_place(self) -> InputError:
        return InputError(
            f"{self.path} cannot be a run folder: there is a file of that name. Give --run another folder."
        )

    def _remove_partial_files(self) -> None:
        """Remove what `atomic_path` and `atomic_folder` leave when they are killed."""
        for partial in [*self.path.glob(f"{PARTIAL}*"), *self.checkpoints.glob(f"{PARTIAL}*")]:
            remove(partial)

    def check_settings(self, config: Config, fixed: Mapping[str, Any] | None = None) -> None:
        """Check that the run can go on with a configuration.

        Args:
            config: to go on with.
            fixed: `fixed_settings` of the run; None for those of the saved configuration.

        Raises:
            InputError: a setting differs that must stay the same.
        """
        if fixed is None:
            fixed = fixed_settings(self.config)
        changes = [
            f"{key} was {saved!r} and is {requested!r}" for key, saved, requested in forbidden_changes(fixed, config)
        ]
        if changes:
            raise InputError(
                f"The run in {self.path} cannot go on with other settings: {'; '.join(changes)}. Leave these "
                "as they were, or start a new run in another folder."
            )

    def _check_vocabulary(self, vocabulary: "Vocabulary") -> None:
        if self.vocabulary_path.exists() and self.vocabulary != vocabulary:
            raise InputError(
                f"The training data has other characters than {self.vocabulary_path}, so that the saved "
                "weights do not fit it: the corpus changed since the run began. Bring back the corpus, or "
                "start a new run in another folder."
            )
