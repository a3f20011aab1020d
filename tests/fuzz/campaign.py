"""Many cases for one target, and their results.

`python -m tests.fuzz.campaign NAME FOLDER FINDINGS CASES SEED` runs one target and writes its report into the folder.
"""

import json
import resource
import signal
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

import hypothesis

from bytenet.errors import MOST_MESSAGE_CHARS, InputError
from tests.fuzz.targets import Target, target_class

MOST_SECONDS = 5.0
"""A case that takes longer hangs. Of processor time, so that other work on the machine does not matter."""


REPORT_NAME = "report.json"
"""Of the report in the folder of the target."""


class HangError(BaseException):
    """A case took too long. No reader catches it."""


@dataclass
class Report:
    """The results of the cases of a target.

    Attributes:
        name: of the target.
        cases: their number.
        accepted: number of files that were read.
        refused: number of refused files, by type of error.
        unexpected: number of other exceptions, by type; wrong outputs and hangs counted apart.
        wrong: number of wrong outputs.
        hangs: number of cases of more than `MOST_SECONDS`.
        too_long: number of messages of more than `MOST_MESSAGE_CHARS`.
        slowest_seconds: of one case.
        longest_message: in characters.
        peak_bytes: of the process, everything included.
        findings: files of the cases that must not happen.
    """

    name: str
    cases: int = 0
    accepted: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    unexpected: dict[str, int] = field(default_factory=dict)
    wrong: int = 0
    hangs: int = 0
    too_long: int = 0
    slowest_seconds: float = 0.0
    longest_message: int = 0
    peak_bytes: int = 0
    findings: list[str] = field(default_factory=list)


class Campaign:
    """Runs cases of one target.

    Args:
        target: is fuzzed.
        findings: folder for the files of the cases that must not happen.
    """

    def __init__(self, target: Target, findings: Path):
        self.report = Report(target.name)
        self._target = target
        self._findings = findings

    def run(self, cases: int, seed: int) -> Report:
        """Run cases: half of them generated, if the target does that, the others mutated."""
        for content in self._target.seeds:
            self.try_case(content)
        num_generated = 0
        if (strategy := self._target.generated()) is not None:
            num_generated = cases // 2
            settings = hypothesis.settings(
                max_examples=num_generated, deadline=None, database=None, phases=[hypothesis.Phase.generate],
                suppress_health_check=list(hypothesis.HealthCheck),
            )  # fmt: skip
            hypothesis.seed(seed)(settings(hypothesis.given(strategy)(self.try_case)))()
        random = Random(seed)
        while self.report.cases < cases:
            self.try_case(self._target.mutated(random))
        self.report.peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        return self.report

    def try_case(self, content: bytes) -> None:
        """Let the target read one file, and note what happens. No exception comes out."""
        report = self.report
        self._target.path.write_bytes(content)
        report.cases += 1
        signal.signal(signal.SIGPROF, _hang)
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        began = time.process_time()
        try:
            self._target.read()
            report.accepted += 1
        except InputError as error:
            _count(report.refused, error)
            report.longest_message = max(report.longest_message, len(str(error)))
            if len(str(error)) > MOST_MESSAGE_CHARS:
                report.too_long += 1
                self._keep(content, "too-long")
        except AssertionError:
            report.wrong += 1
            self._keep(content, "wrong")
        except HangError:
            report.hangs += 1
            self._keep(content, "hang")
        except Exception as error:
            _count(report.unexpected, error)
            self._keep(content, type(error).__name__)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        report.slowest_seconds = max(report.slowest_seconds, time.process_time() - began)

    def _keep(self, content: bytes, kind: str) -> None:
        self._findings.mkdir(parents=True, exist_ok=True)
        path = self._findings / f"{kind}-{len(self.report.findings)}{self._target.suffix}"
        path.write_bytes(content)
        self.report.findings.append(str(path))


def _count(counts: dict[str, int], error: Exception) -> None:
    kind = type(error).__name__
    counts[kind] = counts.get(kind, 0) + 1


def _hang(number: int, frame: object) -> None:
    raise HangError


def main() -> None:
    """Run the target that the arguments name."""
    name, folder, findings, cases, seed = sys.argv[1:]
    target = target_class(name)(Path(folder))
    report = Campaign(target, Path(findings)).run(int(cases), int(seed))
    Path(folder, REPORT_NAME).write_text(json.dumps(asdict(report)), encoding="utf-8")


if __name__ == "__main__":
    main()
