"""Odd surroundings of a training: `python -m tests.crash.surroundings NAME FOLDER`.

Two processes on one run folder; a clock that was set back; a home that cannot be written to; a narrow terminal.
"""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.crash import own_mounts
from tests.crash.campaign import REPORT_NAME
from tests.crash.contents import contents, differing
from tests.crash.killing import MOST_SECONDS, Ending, run
from tests.crash.victims import OUTPUT
from tests.crash.victims.training import Training

_YEARS = 365 * 86400
_COLUMNS = 20

# The clock of Python goes wrong by so many seconds, and then the command begins.
_WITH_CLOCK = """
import sys, time
right, wrong_by = time.time, float(sys.argv.pop(1))
time.time = lambda: right() + wrong_by
from bytenet.cli import main
main()
"""


@dataclass
class Report:
    """The results of odd surroundings: what differs from the usual result, and what failed."""

    name: str
    cases: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Surroundings:
    """Trains in odd surroundings, and compares with a training in usual ones.

    Args:
        report: is filled.
        folder: for the runs.
    """

    def __init__(self, report: Report, folder: Path):
        self._report = report
        self._folder = folder
        self._victim = Training(folder)
        self._expected: dict[str, str] = {}

    def usual(self) -> None:
        """The run that the others are compared with."""
        case = self._begin("usual surroundings")
        self._check_code(case, run(self._victim.command(case), self._victim.environment, []), 0)
        self._expected = contents(case)

    def two_processes(self) -> None:
        """The second process on a run folder is refused and changes nothing. After the first, it may go on."""
        case = self._begin("two processes")
        first = self._stopped_process(case)
        before = contents(case)
        second = run(self._victim.command(case), self._victim.environment, [])
        self._check_code(case, second, 1)
        if "Another process trains a run" not in second.message:
            self._report.failed.append(f"{case.name}: the message is {second.message}")
        if contents(case) != before:
            self._report.differing.append(f"{case.name}: the refused process changed something")
        first.kill()
        first.wait()
        self._go_on(case, self._victim.command(case))

    def clock_set_back(self) -> None:
        """A run is killed, and goes on while the clock is ten years slow."""
        case = self._begin("clock set back")
        first = self._stopped_process(case)
        first.kill()
        first.wait()
        later = time.time() + 10 * _YEARS
        for path in case.rglob("*"):
            os.utime(path, (later, later))
        self._go_on(case, self._with_clock(case, -10 * _YEARS))

    def clock_of_1970(self) -> None:
        """A machine without a battery for its clock. Keras cannot save with such a date: the message says so."""
        case = self._begin("clock of 1970")
        ending = run(self._with_clock(case, -time.time()), self._victim.environment, [])
        self._check_code(case, ending, 1)
        if "clock" not in ending.message:
            self._report.failed.append(f"{case.name}: the message is {ending.message}")
        self._go_on(case, self._victim.command(case))

    def read_only_home(self) -> None:
        """Nothing can be written to the user's home, in which caches and settings of libraries are."""
        case = self._begin("read-only home")
        home = case / "home"
        own_mounts.mount(home, "ro")
        away = {"HOME": str(home), "XDG_CACHE_HOME": "", "MPLCONFIGDIR": "", "KERAS_HOME": ""}
        usual = {name: os.environ.pop(name) for name in away if name in os.environ}
        try:
            given = {name: value for name, value in away.items() if value}
            self._go_on(case, self._victim.command(case), given)
            for verb, *options in (("evaluate", "--split", "test"), ("report",)):
                command = [sys.executable, "-m", "bytenet", verb, str(case / OUTPUT), *options]
                self._check_code(case, run(command, given, []), 0)
        finally:
            os.environ.update(usual)
            own_mounts.unmount(home)

    def narrow_terminal(self) -> None:
        """A terminal of 20 columns: the bar is one line, with the time left at its end."""
        case = self._begin("terminal of 20 columns")
        shown, code = _on_terminal(self._victim.command(case), self._victim.environment)
        self._check_code(case, Ending(code, shown[-3000:], []), 0)
        without_colours = re.sub(r"\x1b\[[\d;]*m", "", shown)
        lines = re.split(r"\x1b\[2K|[\r\n]+", without_colours)
        bars = [line for line in lines if re.match(r"epoch \S+ +\S+$", line.rstrip())]
        if not bars:
            self._report.failed.append(f"{case.name}: there is no bar in {shown[-500:]}")
        self._report.failed += [f"{case.name}: {bar!r}" for bar in bars if len(bar.rstrip()) > _COLUMNS]
        self._compare(case)

    def _begin(self, name: str) -> Path:
        case = self._folder / name
        case.mkdir(parents=True)
        self._report.cases.append(name)
        return case

    def _stopped_process(self, case: Path) -> subprocess.Popen:
        """A training that is stopped in the middle, with its lock."""
        process = subprocess.Popen(
            self._victim.command(case), env=os.environ | self._victim.environment, stderr=subprocess.DEVNULL
        )
        checkpoints = case / OUTPUT / "checkpoints"
        deadline = time.monotonic() + MOST_SECONDS
        while not [*checkpoints.glob("step-*")]:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{case.name}: the training did not come to its first checkpoint")
            time.sleep(0.005)
        process.send_signal(signal.SIGSTOP)
        return process

    def _with_clock(self, case: Path, seconds: float) -> list[str]:
        python, _, _, *arguments = self._victim.command(case)
        return [python, "-c", _WITH_CLOCK, str(seconds), *arguments]

    def _go_on(self, case: Path, command: list[str], environment: Mapping[str, str] | None = None) -> None:
        """Train to the end, and compare."""
        self._check_code(case, run(command, {**self._victim.environment, **(environment or {})}, []), 0)
        self._compare(case)

    def _compare(self, case: Path) -> None:
        found = {name: value for name, value in contents(case).items() if name.startswith(OUTPUT)}
        self._report.differing += [f"{case.name}: {name}" for name in differing(found, self._expected)]

    def _check_code(self, case: Path, ending: Ending, expected: int) -> None:
        if ending.code != expected or "Traceback" in ending.message:
            self._report.failed.append(f"{case.name}: exit code {ending.code}: {ending.message}")


def _on_terminal(command: list[str], environment: Mapping[str, str]) -> tuple[str, int]:
    """Run a command on a terminal of 20 columns. Returns what it shows, and its exit code."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, _COLUMNS, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=variables | environment | {"TERM": "xterm"}
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # how a terminal ends
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return shown.decode(errors="replace"), process.wait()


def main() -> None:
    """Try all surroundings, and write a report into the folder."""
    own_mounts.enter()
    name, folder = sys.argv[1], Path(sys.argv[2])
    began = time.monotonic()
    report = Report(name)
    surroundings = Surroundings(report, folder)
    surroundings.usual()
    surroundings.two_processes()
    surroundings.clock_set_back()
    surroundings.clock_of_1970()
    surroundings.read_only_home()
    surroundings.narrow_terminal()
    report.seconds = time.monotonic() - began
    (folder / REPORT_NAME).write_text(json.dumps(asdict(report)), encoding="utf-8")


if __name__ == "__main__":
    main()
