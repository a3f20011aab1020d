"""The engine that answers at once: LiteRT translates until TensorFlow has started."""

import logging
import os
import threading
from collections.abc import Iterator, Sequence

from bytenet.errors import InputError
from bytenet.model_file import ModelFile
from bytenet.serving.engines.engine import Alignment, Candidate
from bytenet.serving.engines.lite_engine import LiteEngine
from bytenet.serving.engines.run_engine import RunEngine

_log = logging.getLogger(__name__)


class StartingEngine:
    """Translates with LiteRT until TensorFlow has started in another thread; from then on with TensorFlow.

    A server that starts again after a failure answers within seconds. Both engines give the same translations with
    weights in float32, and nearly the same in float16, see `ModelFile.suits_lite`.

    TensorFlow makes all graphs of `translate` before it takes over, so no translation waits for one. Drafts and
    attention make theirs when they first need them.

    Args:
        path: of a `.bytenet` file with models for both engines.

    Raises:
        InputError: the file is damaged.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self._path = path
        self._file = _identity(path)  # before it is read
        self._engine: LiteEngine | RunEngine = LiteEngine(path)
        self.languages = self._engine.languages
        self.max_candidates = self._engine.max_candidates
        self.max_sentence_chars = self._engine.max_sentence_chars
        # Python waits for this thread before it ends: TensorFlow aborts the process if it is cut off while it starts.
        # `bytenet serve` ends the process without Python's own end.
        self._loading = threading.Thread(target=self._load, name="loading")

    @staticmethod
    def can_read(path: str | os.PathLike[str]) -> bool:
        """Whether a `.bytenet` file has models for both engines that translate nearly alike, and LiteRT is installed.

        Raises:
            MissingFileError: there is no such file.
            InputError: it is damaged or something else.
        """
        model = ModelFile(path)
        return model.has_weights and model.suits_lite()

    @property
    def batch_sizes(self) -> tuple[int, ...]:
        """Numbers of sentences that are translated at once, see `Engine`. More come when TensorFlow has started."""
        return self._engine.batch_sizes

    @property
    def has_attention(self) -> bool:
        """Whether `align` works. It may become true when TensorFlow has started."""
        return self._engine.has_attention

    @property
    def is_starting(self) -> bool:
        """Whether TensorFlow is starting. False before `start_tensorflow`, and after a failure."""
        return self._loading.is_alive()

    def warm_up(self) -> None:
        """Translate a short sentence with LiteRT."""
        self._engine.warm_up()

    def start_tensorflow(self) -> None:
        """Begin to start TensorFlow in another thread. Called once."""
        self._loading.start()

    def translate(self, sentences: Sequence[str], num_candidates: int) -> list[list[Candidate]]:
        """Translate sentences, see `Engine`."""
        return self._engine.translate(sentences, num_candidates)

    def draft(self, sentence: str) -> Iterator[str]:
        """Write a quick translation in parts, see `Engine`. Nothing comes before TensorFlow has started."""
        return self._engine.draft(sentence)

    def align(self, sentence: str, translation: str) -> Alignment | None:
        """Compute what a translation attends to, see `Engine`."""
        return self._engine.align(sentence, translation)

    def _load(self) -> None:
        try:
            engine = RunEngine(self._path, jit_compile=True)
            if _identity(self._path) != self._file:
                raise InputError(f"{self._path} has been replaced. Start the server again to use the new file.")
            engine.make_graphs()
        except Exception:
            _log.exception("TensorFlow could not load %s. LiteRT goes on translating.", self._path)
        else:
            self._engine = engine
            _log.info("TensorFlow has loaded %s.", self._path)


def _identity(path: str | os.PathLike[str]) -> tuple[int, int, int] | None:
    """Inode, size and time of a file, which change if it is replaced; None if there is no file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
