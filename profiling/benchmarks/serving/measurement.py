"""The measurement of a server: one client, many clients, its memory, and its return after a kill."""

import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bytenet.errors import InputError, last_lines
from bytenet.profiling.benchmarks.serving.clients import Load, ask
from bytenet.profiling.benchmarks.serving.server_process import ServerProcess

_SAMPLE_SECONDS = 1.0
_SHARE_OF_ONE_CLIENT = 0.05
_FIRST_MINUTE_SECONDS = 60.0


@dataclass(frozen=True)
class ServingCost:
    """What a server does in a measurement, and what it needs.

    Attributes:
        each_text_once: the load of many clients that share the texts. The server makes its graphs meanwhile.
        one_client: the loads of one client, before and after the many.
        many_clients: the load of many clients at once.
        first_minute_bytes: largest memory of the server in the first minute of the many clients.
        later_bytes: largest memory after it; None if there was no later time.
        seconds_to_first_answer: from the start of the process.
        seconds_to_answer_again: the same after `kill -9`.
    """

    each_text_once: Load
    one_client: tuple[Load, Load]
    many_clients: Load
    first_minute_bytes: int
    later_bytes: int | None
    seconds_to_first_answer: float
    seconds_to_answer_again: float

    @property
    def speedup(self) -> float | None:
        """Requests a second of many clients, divided by the mean of one client; None if one client got no answer."""
        of_one = sum(load.requests_a_second for load in self.one_client)
        return self.many_clients.requests_a_second * 2 / of_one if of_one else None


def measure_serving(
    model: Path,
    texts: Sequence[str],
    languages: tuple[str, str],
    clients: int = 32,
    seconds: float = 600.0,
    options: Sequence[str] = (),
    say: Callable[[str], None] = lambda line: None,
) -> ServingCost:
    """Measure a server in a process of its own. Each answer is compared with the translation of `bytenet translate`.

    Args:
        model: the model.
        texts: different texts of one line, which the server does not split: without blanks around them, and no longer
            than its sentences.
        languages: that the model reads and writes.
        clients: number of clients that ask at the same time.
        seconds: time for which they ask. One client alone asks for a tenth of it in addition.
        options: options of the search, for both commands.
        say: called with messages on the progress.

    Raises:
        InputError: a command failed, or the server ended. The message has its last lines.
    """
    say(f"translating {len(texts):,} texts with bytenet translate ...")
    # Each text is one sentence, so that all texts count alike.
    options = ["--no-split", *options]
    expected = dict(zip(texts, _translations(model, texts, options), strict=True))
    with ServerProcess(model, options) as server:
        seconds_to_first_answer = server.seconds_to_answer(texts[0], languages)
        say(f"first answer after {seconds_to_first_answer:.1f} seconds")

        def load_of(clients: int, seconds: float | None = None) -> Load:
            load = ask(server.port, expected, languages, clients, seconds)
            server.check_running()
            return load

        def one_client() -> Load:
            load = load_of(1, _SHARE_OF_ONE_CLIENT * seconds)
            say(f"1 client: {load.requests_a_second:.1f} requests a second")
            return load

        each_text_once = load_of(clients)
        say(f"{len(texts):,} texts once: {each_text_once.wrong} wrong translations")
        server.wait_until_started()
        before = one_client()
        with _MemoryWatch(server) as memory:
            many_clients = load_of(clients, seconds)
        say(f"{clients} clients: {many_clients.requests_a_second:.1f} requests a second")
        after = one_client()
        server.kill()
    with ServerProcess(model, options) as server:
        seconds_to_answer_again = server.seconds_to_answer(texts[0], languages)
    num_first = round(_FIRST_MINUTE_SECONDS / _SAMPLE_SECONDS)
    return ServingCost(
        each_text_once=each_text_once,
        one_client=(before, after),
        many_clients=many_clients,
        first_minute_bytes=max(memory.samples[:num_first]),
        later_bytes=max(memory.samples[num_first:], default=None),
        seconds_to_first_answer=seconds_to_first_answer,
        seconds_to_answer_again=seconds_to_answer_again,
    )


class _MemoryWatch:
    """Notes the memory of a server every second while this is entered."""

    def __init__(self, server: ServerProcess):
        self.samples: list[int] = [server.resident_bytes()]
        self._server = server
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "_MemoryWatch":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._is_over.wait(_SAMPLE_SECONDS):
            self.samples.append(self._server.resident_bytes())


def _translations(model: Path, texts: Sequence[str], options: Sequence[str]) -> list[str]:
    """What `bytenet translate` writes for the texts."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".txt") as file:
        file.write("".join(f"{text}\n" for text in texts))
        file.flush()
        command = [sys.executable, "-m", "bytenet", "translate", str(model), file.name, *options]
        done = subprocess.run(command, capture_output=True)
    if done.returncode:
        messages = done.stderr.decode(errors="replace")
        raise InputError(f"bytenet translate {model} failed. Its last lines:\n{last_lines(messages)}")
    return done.stdout.decode("utf-8").removesuffix("\n").split("\n")
