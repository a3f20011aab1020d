"""Profiles are written to CSV and read back. Verdicts are on handmade profiles."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from bytenet.errors import InputError
from bytenet.profiling.traces.breakdown import Breakdown, DeviceTime, Gaps, GroupTime
from bytenet.profiling.traces.plots import KnownStep, Span, Timeline
from bytenet.reproduction.engine.experiment import Work
from bytenet.reproduction.engine.results import read_table, write_table
from bytenet.reproduction.figures.time import captures, traces
from bytenet.reproduction.figures.time.trace_tables import (
    devices_of,
    grouped_table,
    thinned,
    timeline_of,
    timeline_table,
)
from bytenet.reproduction.figures.time.trace_verdicts import backward_share, largest_part, share_of_parts
from bytenet.reproduction.registry import find_experiment

SHOWN = Timeline(
    step=7,
    milliseconds=10.0,
    spans=[
        Span("CPU:0", "Compute 1", 1.0, 4.0, "convolution"),
        Span("CPU:0", "Compute 2", 3.0, 3.0, "dense"),
        Span("CPU:1", "Compute 1", 0.0, 2.5, "convolution"),
        Span("CPU:1", "Compute 1", 5.0, 3.0, "communication"),
        Span("CPU:1", "Compute 1", 9.0, 1.0, "loss"),
    ],
    left_out=2,
)


def breakdown_of(**devices):
    """A breakdown with the seconds of each group of each device, for a step of one second."""
    times = []
    for name, seconds in devices.items():
        busy = sum(seconds.values())
        groups = [GroupTime(group, value, value / busy, 2 * value, 0) for group, value in seconds.items()]
        times.append(DeviceTime(name, busy, 1 - busy, 0.0, groups, []))
    return Breakdown("a.xplane.pb", [(1, 1.0)], True, False, times, Gaps(0, 0, None, 0, {}, {}), [])


def through_csv(table, tmp_path):
    write_table(tmp_path / "table.csv", table)
    return read_table(tmp_path / "table.csv")


def test_timeline_is_restored_from_csv(tmp_path):
    table = through_csv(timeline_table(SHOWN), tmp_path)
    assert timeline_of(table) == SHOWN
    busy = {row["device"]: row["device_busy_ms"] for row in table}
    assert busy == {"CPU:0": 5, "CPU:1": 3.5}  # two threads overlap from 3 to 5; communication is not work


def test_waiting_is_averaged_over_the_devices_of_the_model(tmp_path):
    experiment = find_experiment("fig-3.3.4")
    (verdict,) = experiment.verdicts(timeline_table(SHOWN), "cpu")
    assert verdict.measured == pytest.approx((0.5 + 0.65) / 2)
    assert (verdict.outcome, "transfers" in verdict.note) == ("no claim", True)
    names = {"CPU:0": "CPU", "CPU:1": "GPU:0"}
    on_gpu = [span._replace(device=names[span.device]) for span in SHOWN.spans]
    (verdict,) = experiment.verdicts(timeline_table(replace(SHOWN, spans=on_gpu)), "thesis")
    assert verdict.measured == pytest.approx(0.65)
    assert (verdict.outcome, "transfers" in verdict.note) == ("not reproduced", False)
    experiment.plot(through_csv(timeline_table(SHOWN), tmp_path), tmp_path / "raw.png")
    assert (tmp_path / "raw.png").read_bytes().startswith(b"\x89PNG")


def test_thinned_timeline_has_few_spans_and_the_same_look():
    dense = [Span("CPU", "a", 0.005 * index, 0.005, ("dense", "loss")[index % 2]) for index in range(800)]
    sparse = [Span("CPU", "b", 0.01 * index, 0.001, "convolution") for index in range(400)]
    found = thinned([*dense, *sparse, Span("CPU", "c", 2.0, 2.0, "gather")], 4.0, most=300)
    assert len(found) <= 300
    assert [span.thread for span in found] == sorted(span.thread for span in found)
    working = {thread: sum(span.duration_ms for span in found if span.thread == thread) for thread in "abc"}
    assert working["a"] == pytest.approx(4.0, abs=0.1)
    assert working["b"] < 0.8  # it mostly waits
    assert [span[2:] for span in found if span.thread == "c"] == [(2.0, 2.0, "gather")]
    assert thinned(dense, 4.0, most=800) == dense


def test_groups_are_restored_from_csv(tmp_path):
    result = breakdown_of(**{
        "CPU:0": {("forward", "encoder", "reduce-dim", "dense"): 0.25, ("input", "other", "other", "input"): 0.125},
        "CPU:1": {("backward", "encoder", "reduce-dim", "dense"): 0.5},
    })  # fmt: skip
    table = through_csv(grouped_table(result), tmp_path)
    assert devices_of(table) == result.devices
    find_experiment("fig-3.3.6").plot(table, tmp_path / "grouped.png")
    assert (tmp_path / "grouped.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["fig-3.3.6", "fig-3.4.3", "fig-3.5.5", "fig-d.1.2"])
def test_thesis_seconds_are_drawn_below_our_seconds(name, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(traces, "draw_grouped", lambda *arguments: drawn.append(arguments))
    result = breakdown_of(**{"CPU:0": {("forward", "encoder", "reduce-dim", "dense"): 0.25}})
    experiment = find_experiment(name)
    experiment.plot(grouped_table(result), tmp_path / "grouped.png")
    (known,) = [argument for argument in drawn[0] if isinstance(argument, KnownStep)]
    busy, step = {
        "fig-3.3.6": (0.33, 1.15), "fig-3.4.3": (0.13, 0.96), "fig-3.5.5": (0.14, 0.5), "fig-d.1.2": (0.232, 0.86),
    }[name]  # fmt: skip
    assert known.step_seconds == step
    assert sum(known.seconds.values()) == pytest.approx(busy)
    assert f"busy {busy:g} s of a step of {step:g} s" in known.text


def test_backward_share_excludes_communication_and_unassigned_time():
    result = breakdown_of(
        a={
            ("forward", "encoder", "other", "loss"): 0.1,
            ("other", "other", "other", "runtime"): 0.5,
            ("backward", "encoder", "other", "communication"): 0.2,
        },
        b={("backward", "encoder", "other", "loss"): 0.2, ("forward", "decoder", "other", "loss"): 0.1},
    )
    verdict = backward_share(0.7)(result.devices)
    assert (verdict.measured, verdict.outcome) == (pytest.approx(0.5), "not reproduced")
    assert backward_share(0.52)(result.devices).outcome == "agrees"


def test_largest_part_is_chosen_among_the_parts_of_blocks():
    result = breakdown_of(
        a={
            ("forward", "encoder", "other", "loss"): 0.5,
            ("forward", "encoder", "conv-dilated", "convolution"): 0.2,
            ("backward", "encoder", "pre-normalization", "normalisation"): 0.1,
            ("backward", "encoder", "pre-normalization", "communication"): 0.2,
        }
    )
    verdict = largest_part("conv-dilated", "conv-dilated")(result.devices)
    assert (verdict.measured, verdict.outcome) == ("conv-dilated", "shown")
    assert "conv-dilated 0.25, pre-normalization 0.13" in verdict.note
    assert largest_part("pre-normalization", "three quarters")(result.devices).outcome == "not shown"


def test_share_of_parts_excludes_communication():
    result = breakdown_of(
        a={
            ("forward", "encoder", "other", "loss"): 0.1,
            ("forward", "decoder", "conv-dilated", "convolution"): 0.2,
            ("backward", "encoder", "reduce-dim", "dense"): 0.1,
            ("backward", "encoder", "reduce-dim", "communication"): 0.3,
        }
    )
    verdict = share_of_parts(("conv-dilated", "reduce-dim"), "most", "file.tex:1")(result.devices)
    assert (verdict.measured, verdict.outcome) == (pytest.approx(0.75), "no claim")


@pytest.mark.parametrize(
    ("scale", "devices", "names", "batch_size"),
    [
        ("thesis", 4, ["GPU:0", "GPU:1", "GPU:2", "GPU:3"], 64),
        ("cpu", 4, ["CPU:0", "CPU:1"], 32),
        ("smoke", 1, ["CPU:0"], 16),
    ],
)
def test_profile_has_the_devices_and_batch_size_of_its_scale(scale, devices, names, batch_size):
    config = captures.Captured("selu", devices).config(scale)
    assert (list(config.training.devices), config.data.batch_size, config.model.variant) == (names, batch_size, "selu")


@pytest.fixture
def profiling(monkeypatch):
    """The commands that profile, without their work. While `failing` is set, they fail."""

    class Profiling(list):
        failing = False

        def run(self, command, **_):
            self.append(command)
            return SimpleNamespace(returncode=int(self.failing), stderr="warning\nError: there is no GPU\n")

    commands = Profiling()
    monkeypatch.setattr(captures.subprocess, "run", commands.run)
    return commands


CAPTURED = captures.Captured("bytenet", 1)


def test_profile_is_captured_once_and_failure_gives_its_reason(profiling, tmp_path):
    work = Work("smoke", [1], tmp_path / "runs")
    profiling.failing = True
    with pytest.raises(InputError, match=r"failed with exit code 1: Error: there is no GPU$"):
        CAPTURED.trace_folder(work)
    profiling.failing = False
    folder = CAPTURED.trace_folder(work)
    assert (folder / "config.yaml").is_file()
    assert CAPTURED.trace_folder(work) == folder
    assert len(profiling) == 2
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [folder.name]
    with pytest.raises(InputError, match="captured with other settings"):
        CAPTURED.trace_folder(replace(work, scale="cpu"))


def test_profile_of_another_commit_or_machine_is_refused(profiling, tmp_path):
    here = {"versions": {"numpy": "2"}, "git_commit": "first", "machine": {"cores": 2}}
    work = Work("smoke", [1], tmp_path, environment=here)
    folder = CAPTURED.trace_folder(work)
    assert CAPTURED.trace_folder(replace(work, environment=here | {"versions": {}})) == folder
    for change, words in (
        ({"git_commit": "second"}, "from the commit first, not second"),
        ({"machine": {"cores": 4}}, "on another machine"),
    ):
        with pytest.raises(InputError, match=rf"{folder} was captured {words}\. Remove it, or give another --runs"):
            CAPTURED.trace_folder(replace(work, environment=here | change))
    (folder / "environment.json").unlink()
    with pytest.raises(InputError, match="was captured from an unknown commit"):
        CAPTURED.trace_folder(work)
    assert len(profiling) == 1


def test_profiles_of_the_thesis_are_consistent():
    for profile in captures.thesis_profiles().values():
        assert 1 - profile.busy / profile.step == pytest.approx(profile.idle, abs=0.01)
        assert sum(profile.named.values()) < profile.busy
