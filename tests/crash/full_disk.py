"""A full disk at every write in turn: `python -m tests.crash.full_disk NAME FOLDER`.

A file system in memory gives room in pages of 4 kB. A work is done on one of one page, of two pages, and so on, until
the room suffices. So each write that needs a further page fails once, those of TensorFlow's native code too. Then the
file system grows, and the work is done again. It must end as if there had been room from the beginning.
"""

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from random import Random

from bytenet.errors import MOST_MESSAGE_CHARS, InputError
from tests.crash import own_mounts
from tests.crash.campaign import REPORT_NAME
from tests.crash.contents import contents, differing, leftovers, unwhole
from tests.crash.killing import run
from tests.crash.victims import OUTPUT
from tests.crash.victims.training import ONE_THREAD, SEMI_SUPERVISED, SETTINGS, Training

_PAGE_BYTES = 4096
_ROOM = "size=256m"
_COMMANDS = 4
"""Sizes of the disk that are also tried with the command itself, in a process of its own."""


@dataclass
class Report:
    """The results of full disks.

    Attributes:
        name: of this part of the campaign.
        cases: number of sizes of the disk, by work.
        unwhole: files that counted as whole on a full disk and were not.
        differing: files that differ from those of a work that had room.
        failed: errors without a message that names the file and the reason, and works that failed in spite of room.
        seconds: of all.
    """

    name: str
    cases: dict[str, int] = field(default_factory=dict)
    unwhole: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class Work:
    """Something that writes into a folder, and can be done again there.

    Attributes:
        name: in the report.
        do: takes the folder of the results.
        compare: the contents of the results that must be equal.
        step: pages between two sizes of the disk. More than one leaves writes out.
    """

    name: str
    do: Callable[[Path], None]
    compare: Callable[[Path], dict[str, str]] = contents
    step: int = 1


class FullDisks:
    """Does works on small file systems.

    Args:
        report: is filled.
        folder: for file systems and for the results that are compared.
    """

    def __init__(self, report: Report, folder: Path):
        self._report = report
        self._folder = folder

    def try_all_sizes(self, work: Work) -> int:
        """Do a work on ever larger disks. Returns the number of pages that suffice."""
        whole = self._folder / f"{work.name} whole"
        whole.mkdir(parents=True)
        work.do(whole / OUTPUT)
        expected = work.compare(whole)
        for pages in count(1, work.step):
            if self.try_size(work, pages, expected):
                break
            self._report.cases[work.name] = self._report.cases.get(work.name, 0) + 1
        return pages

    def try_size(self, work: Work, pages: int, expected: dict[str, str]) -> bool:
        """Do a work on a disk of so many pages, and again with more room. Returns whether the disk was large enough."""
        place = f"{work.name}, {pages} pages"
        disk = self._folder / place
        own_mounts.mount(disk, f"size={pages * _PAGE_BYTES}")
        try:
            had_room = self._done(work, disk, place)
            if not had_room:
                # The beginning of a download is kept; all others remove what they cannot finish.
                left = [f"{name} was left" for name in leftovers(disk) if not name.endswith(".part")]
                self._report.unwhole += [f"{place}: {problem}" for problem in (*unwhole(disk), *left)]
                own_mounts.change(disk, _ROOM)
                work.do(disk / OUTPUT)
            self._report.differing += [f"{place}: {name}" for name in differing(work.compare(disk), expected)]
        except Exception as error:
            self._report.failed.append(f"{place}, with room: {type(error).__name__}: {error}")
            had_room = False
        gc.collect()  # what still has files open
        own_mounts.unmount(disk)
        return had_room

    def _done(self, work: Work, disk: Path, place: str) -> bool:
        """Whether a work ends without an error. Every error must be explained."""
        try:
            work.do(disk / OUTPUT)
        except InputError as error:
            message = str(error)
            is_explained = str(disk) in message and ("full" in message or "No space" in message)
            if not is_explained or len(message) > MOST_MESSAGE_CHARS:
                self._report.failed.append(f"{place}: {message}")
            return False
        except Exception as error:
            self._report.failed.append(f"{place}: {type(error).__name__}: {error}")
            return False
        return True


def _works(folder: Path) -> Iterator[Work]:
    yield from _data_works(folder)
    yield from _training_works(folder)


def _data_works(folder: Path) -> Iterator[Work]:
    from bytenet.datasets.corpora.preparation.download import download
    from bytenet.datasets.shards.sharding.shard_corpus import shard_corpus
    from tests.crash.victims.downloads import Download

    pairs = folder / "pairs.tsv"
    random = Random(1)
    lines = ("".join(random.choices("abcdefgh ", k=40)) for _ in range(2000))
    pairs.write_text("".join(f"{line}\t{line[::-1]}\n" for line in lines), encoding="utf-8")

    def shard(processes: int) -> Callable[[Path], None]:
        return lambda out: void(shard_corpus([str(pairs)], out, shards=3, processes=processes))

    yield Work("data shard, one process", shard(0))
    yield Work("data shard, two processes", shard(1))

    remote = Download(folder, num_bytes=100_000).remote
    yield Work("download", lambda out: void(download(remote, out / "corpus.bin")))


def _training_works(folder: Path) -> Iterator[Work]:
    from bytenet.config import load_config
    from bytenet.decoding import Translator
    from bytenet.run_folder import RunFolder
    from bytenet.training import train
    from bytenet.training.compiled_models.model_pool import ModelPool
    from tests.crash.victims.exports import names_and_weights

    pool = ModelPool()

    def training(*settings: str) -> Callable[[Path], None]:
        config = load_config("digits", settings)
        return lambda out: void(train(config, out, resume=True, models=pool))

    yield Work("training", training(*SETTINGS))
    yield Work("training, semi-supervised", training(*SETTINGS, *SEMI_SUPERVISED, "training.max_steps=6"), step=4)
    run_folder = folder / "run"
    training(*SETTINGS, "training.max_steps=2")(run_folder)
    translator = Translator.from_run(RunFolder.open(run_folder))

    def export(ending: str, **options: str) -> Callable[[Path], None]:
        def write(out: Path) -> None:
            out.mkdir(exist_ok=True)
            translator.export(out / f"model{ending}", **options)  # type: ignore[arg-type]

        return write

    yield Work("export, .bytenet", export(".bytenet", engines="full"))
    yield Work("export, SavedModel", export(""), names_and_weights, step=16)


def void(result: object) -> None:
    """Forget a result."""


def _try_commands(report: Report, folder: Path, pages: int) -> None:
    """The command `bytenet train` on full disks of some sizes: a message, exit code 1, and all is well with room."""
    victim = Training(folder)
    whole = folder / "training whole"  # the same training, in this process
    for number in range(1, _COMMANDS + 1):
        place = f"bytenet train, {pages * number // (_COMMANDS + 1)} pages"
        disk = folder / place
        own_mounts.mount(disk, f"size={pages * number // (_COMMANDS + 1) * _PAGE_BYTES}")
        ending = run(victim.command(disk), victim.environment, [])
        if ending.code != 1 or "Traceback" in ending.message or str(disk) not in ending.message:
            report.failed.append(f"{place}: exit code {ending.code}: {ending.message}")
        own_mounts.change(disk, _ROOM)
        ending = run(victim.command(disk), victim.environment, [])
        if ending.code:
            report.failed.append(f"{place}, with room: exit code {ending.code}: {ending.message}")
        if contents(disk) != contents(whole):
            report.differing.append(place)
        own_mounts.unmount(disk)
    report.cases["bytenet train, the command"] = _COMMANDS


def main() -> None:
    """Do all works and write a report into the folder."""
    os.environ.update(ONE_THREAD)
    own_mounts.enter()
    name, folder = sys.argv[1], Path(sys.argv[2])
    began = time.monotonic()
    report = Report(name)
    disks = FullDisks(report, folder)
    pages = {work.name: disks.try_all_sizes(work) for work in _works(folder)}
    _try_commands(report, folder, pages["training"])
    report.seconds = time.monotonic() - began
    (folder / REPORT_NAME).write_text(json.dumps(asdict(report)), encoding="utf-8")


if __name__ == "__main__":
    main()
