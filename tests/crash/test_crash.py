"""A short campaign of kills, and the campaigns' own eyes: what must not happen is seen. `make crash-test` does more."""

import gc
import subprocess
import sys

import pytest

from bytenet.errors import InputError
from bytenet.files import write_text_atomic
from tests.crash import own_mounts
from tests.crash.campaign import Campaign
from tests.crash.contents import contents, differing, leftovers, unwhole
from tests.crash.full_disk import FullDisks, Report, Work
from tests.crash.killing import Kill, run
from tests.crash.victims.downloads import Download
from tests.crash.victims.shards import Shards
from tests.crash.victims.victim import OUTPUT, Victim


@pytest.mark.parametrize(("victim", "size"), [(Shards, 2000), (Download, 400_000)])
def test_killed_and_repeated_work_ends_like_an_unbroken_one(victim, size, tmp_path):
    (tmp_path / "inputs").mkdir()
    report = Campaign(victim(tmp_path / "inputs", size), tmp_path / "cases", seed=1).run(kills=1)
    assert (report.unwhole, report.differing, report.failed) == ([], [], [])
    assert report.kills == 1


class HalfWriter(Victim):
    """Writes a file in two halves, in place."""

    name = "half writer"
    program = "import sys, time; f = open(sys.argv[1], 'w'); f.write('{'); f.flush(); time.sleep(600)"

    def command(self, case):
        return [sys.executable, "-c", self.program, str(case / "a.json")]


def test_half_a_file_is_seen_after_a_kill(tmp_path):
    victim = HalfWriter(tmp_path)
    ending = run(victim.command(tmp_path), {}, [tmp_path], Kill(folder=0, seconds=0.0, children=True))
    assert ending.killed
    assert (tmp_path / "a.json").exists()
    (tmp_path / "a.json").write_text("{")
    (tmp_path / ".partial-host-1-2-a.json").write_text("{")
    (tmp_path / "b.csv").write_text("step,loss\n1,0.5\n2")
    assert [problem.partition(":")[0] for problem in unwhole(tmp_path)] == ["a.json", "b.csv"]
    assert leftovers(tmp_path) == [".partial-host-1-2-a.json"]


def test_contents_differ_in_everything_but_times(tmp_path):
    (tmp_path / "a.csv").write_text("step,seconds,loss\n1,10,0.5\n")
    before = contents(tmp_path)
    (tmp_path / "a.csv").write_text("step,seconds,loss\n1,20,0.5\n")
    assert differing(contents(tmp_path), before) == []
    (tmp_path / "a.csv").write_text("step,seconds,loss\n1,20,0.6\n")
    (tmp_path / "more").touch()
    assert differing(contents(tmp_path), before) == ["a.csv", "more"]


@pytest.fixture
def disks(tmp_path):
    try:
        own_mounts.mount(tmp_path / "probe", "size=4k")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting a small file system needs root")
    own_mounts.unmount(tmp_path / "probe")
    gc.freeze()  # its collections go over the objects of these tests alone
    yield FullDisks(Report("full disk"), tmp_path)
    gc.unfreeze()


def two_files(out):
    out.mkdir(exist_ok=True)
    write_text_atomic(out / "a.txt", "a" * 6000)
    write_text_atomic(out / "b.txt", "b" * 6000)


def test_every_write_fails_once_on_a_full_disk(disks):
    pages = disks.try_all_sizes(Work("two files", two_files))
    assert pages == 4
    assert disks._report == Report("full disk", cases={"two files": 3})


def test_what_must_not_happen_on_a_full_disk_is_seen(disks):
    def plain(out):
        out.mkdir(exist_ok=True)
        (out / "a.json").write_text('"' + "a" * 6000 + '"')

    def unexplained(out):
        try:
            plain(out)
        except OSError:
            raise InputError("It did not work.") from None

    for work in (plain, unexplained):
        disks.try_all_sizes(Work(work.__name__, work))
    report = disks._report
    assert [problem.partition(":")[0] for problem in report.failed] == ["plain, 1 pages", "unexplained, 1 pages"]
    assert "No space left" in report.failed[0]
    assert [problem.partition(": ")[2].partition(":")[0] for problem in report.unwhole] == [f"{OUTPUT}/a.json"] * 2
