"""The paths of a prepared run."""

from dataclasses import dataclass
from pathlib import Path

from bytenet.run_folder import RunFolder


@dataclass(frozen=True)
class PreparedFolder:
    """What `bytenet prepare` adds to a run folder, in its folder `prepared`.

    Attributes:
        run: the run folder.
    """

    run: RunFolder

    @property
    def path(self) -> Path:
        """The folder."""
        return self.run.path / "prepared"

    @property
    def train_path(self) -> Path:
        """The training pairs."""
        return self.path / "train.npz"

    @property
    def validation_path(self) -> Path:
        """The validation pairs, if there are any."""
        return self.path / "validation.npz"

    @property
    def start_path(self) -> Path:
        """The model to start from, if there is one."""
        return self.path / "start.keras"
