"""Seconds by group, calculated by hand for the trace of `two_steps`, with its report and pictures."""

import csv
import io
import json
from dataclasses import replace

import pytest

from bytenet.errors import InputError
from bytenet.profiling.traces.breakdown import breakdown
from bytenet.profiling.traces.breakdown_report import save_report, to_csv, to_json, to_text
from bytenet.profiling.traces.plots import Span, Timeline, draw_timeline, plot_grouped, plot_timeline
from bytenet.profiling.traces.trace import interpret


@pytest.fixture
def result(two_steps):
    return breakdown(interpret(two_steps))


def by_name(groups, value="seconds"):
    return {" ".join(group.group): getattr(group, value) for group in groups}


def test_seconds_by_group_match_hand_calculation(result):
    assert result.step_seconds == 10
    (device,) = result.devices
    # The convolution, its helper and the normalisation share 5-6. The convolution and the normalisation share 6-7.
    normalisation = 1 / 3 + 1 / 2
    assert by_name(device.level("kind")) == pytest.approx(
        {
            "convolution": 4 - normalisation,
            "input pipeline": 2,
            "dense": 1,
            "runtime": 1,
            "normalisation": normalisation,
        }
    )
    assert by_name(device.level("pass")) == pytest.approx({"forward": 4, "input": 2, "backward": 1, "other": 1})
    assert by_name(device.level("half")) == pytest.approx({"encoder": 4, "decoder": 1, "other": 3})
    assert by_name(device.level("part"))["conv-dilated"] == pytest.approx(4 - normalisation)
    assert by_name(device.level("pass", "kind"))["forward normalisation"] == pytest.approx(normalisation)


def test_durations_are_also_summed_over_threads_as_in_the_thesis(result):
    (device,) = result.devices
    assert by_name(device.level("kind"), "summed_seconds") == pytest.approx(
        {"convolution": 6, "input pipeline": 2, "dense": 1, "runtime": 1, "normalisation": 2}
    )
    assert by_name(device.level("kind"), "executions")["convolution"] == 1
    assert device.threads == pytest.approx(12 / 8)


def test_busy_and_idle_sum_to_the_step_and_each_level_to_the_busy_time(result):
    (device,) = result.devices
    assert (device.busy_seconds, device.idle_seconds) == (pytest.approx(8), pytest.approx(2))
    for level in ("pass", "half", "part", "kind"):
        assert sum(group.seconds for group in device.level(level)) == pytest.approx(device.busy_seconds)
        assert sum(group.share for group in device.level(level)) == pytest.approx(1)


def test_gaps_report_unnamed_and_python_time(result):
    assert result.gaps.unnamed == pytest.approx(1 / 8)
    assert result.gaps.python == pytest.approx(1 / 10)
    assert (result.gaps.ungrouped, result.gaps.fused) == (0, 0)


def test_time_between_steps_does_not_count(raw_trace):
    steps = [("train", 0, 2, {"step_num": 1}), ("train", 4, 6, {"step_num": 2})]
    raw = raw_trace(("/host:CPU", "python", steps), ("/host:CPU", "t", [("a/b/Mul:Mul", 1, 5)]))
    (device,) = breakdown(interpret(raw)).devices
    assert device.busy_seconds == pytest.approx(1)
    assert device.groups[0].executions == pytest.approx(0.5)


def test_operation_known_only_by_kind_is_ungrouped(raw_trace):
    events = [("MatMul_3:MatMul", 0, 1), ("bytenet/encoder/add:AddV2", 1, 4)]
    steps = [("search", 0, 4, {"step_num": 1})]
    result = breakdown(interpret(raw_trace(("/host:CPU", "python", steps), ("/host:CPU", "t", events))))
    assert [group.group[3] for group in result.devices[0].groups if group.seconds == 1] == ["dense"]
    assert result.gaps.ungrouped == pytest.approx(1 / 4)


def test_python_time_is_unknown_without_python_calls(raw_trace):
    result = breakdown(interpret(raw_trace(("/host:CPU", "t", [("bytenet/encoder/add:AddV2", 0, 1)]))))
    assert result.gaps.python is None
    assert json.loads(to_json(result))["gaps"]["python"] is None
    text = to_text(result)
    assert "Python outside of TensorFlow is not known" in text
    assert text.count("marks no steps") == 1
    assert "the profiler says" not in text


def test_device_without_work_in_the_steps_is_reported(raw_trace, tmp_path):
    raw = raw_trace(
        ("/host:CPU", "python", [("train", 0, 2, {"step_num": 1})]),
        ("/host:CPU", "t", [("a/b/Mul:Mul", 0, 1)]),
        ("/device:GPU:0", "Stream #1", [("Memset", 3, 4)]),
    )
    result = breakdown(interpret(raw))
    assert "GPU:0: no work within the steps\n" in to_text(result)
    assert len(save_report(interpret(raw), result, tmp_path, "idle")) == 5


@pytest.mark.parametrize("marks", [[("train", 5, 6, {"step_num": 1})], []])
def test_steps_without_operations_are_refused(raw_trace, marks):
    raw = raw_trace(("/host:CPU", "python", [*marks, ("TFE_Py_Execute", 5, 6)]))
    if marks:
        raw.lines.extend(raw_trace(("/host:CPU", "t", [("a/b/Mul:Mul", 0, 1)])).lines)
    with pytest.raises(InputError, match="holds no operations in the steps"):
        breakdown(interpret(raw))


def test_cost_of_the_profiler_is_reported_only_if_known(result):
    known = replace(result, capture={"settled_seconds_before": 8.0})
    assert "  steps were 25% slower with the profiler\n" in to_text(known)
    faster = replace(result, capture={"settled_seconds_before": 12.5})
    assert "  steps were 20% faster with the profiler\n" in to_text(faster)
    assert "slower" not in to_text(replace(result, capture={"settled_seconds_before": None}))


def test_time_of_a_search_is_divided_by_the_characters_of_all_its_sentences(result):
    capture = {"what": "decoding", "characters": 50, "batch_shapes": [[2, 30], [2, 30]], "settled_seconds_before": 8.0}
    text = to_text(replace(result, capture=capture))
    assert "decoding, plain graph, searches 7 to 8: 10,000 ms per search; batches of 2 x 30;" in text
    assert "; 100 ms per character\n" in text
    assert "  searches were 25% slower with the profiler\n" in text
    assert "step" not in text
    no_shapes = replace(result, capture={"characters": 50})
    assert "; 200 ms per character\n" in to_text(no_shapes)


def test_text_report_names_groups_and_gaps(result):
    text = to_text(result)
    for part in ("CPU: busy 8,000 ms (80%), idle 2,000 ms", "conv-dilated", "what the numbers do not cover"):
        assert part in text


def test_json_and_csv_have_the_same_numbers(result):
    values = json.loads(to_json(result))
    (device,) = values["devices"]
    assert set(device["levels"]) == {"pass", "half", "part", "kind"}
    rows = list(csv.DictReader(io.StringIO(to_csv(result))))
    assert sum(float(row["seconds"]) for row in rows) == pytest.approx(device["busy_seconds"])
    (convolution,) = [row for row in rows if row["kind"] == "convolution"]
    assert (convolution["device"], convolution["pass"], convolution["half"]) == ("CPU", "forward", "encoder")


def test_tables_and_pictures_are_saved(result, two_steps, tmp_path):
    paths = save_report(interpret(two_steps), result, tmp_path / "new", "training")
    assert [path.name for path in paths] == [
        "training.txt", "training.json", "training.csv", "training-timeline.png", "training-grouped.png",
    ]  # fmt: skip
    for path in paths[3:]:
        assert path.read_bytes().startswith(b"\x89PNG")


def test_unknown_step_is_refused(two_steps, tmp_path):
    with pytest.raises(InputError, match=r"no step 3 in .*\. It holds the steps 7, 8"):
        plot_timeline(interpret(two_steps), tmp_path / "a.png", step=3)


def test_percentages_of_the_bars_are_explained(result, tmp_path):
    plot_grouped(result, tmp_path / "bars.svg")
    assert "<!-- percentages are of the busy time -->" in (tmp_path / "bars.svg").read_text()


@pytest.mark.parametrize(
    ("left_out", "words"),
    [
        (0, ""),
        (1, "; 1 thread that does almost nothing is left out"),
        (3, "; 3 threads that do almost nothing are left out"),
    ],
)
def test_title_of_a_timeline_counts_threads_that_are_left_out(tmp_path, left_out, words):
    spans = [Span("CPU", "Compute 1", 0.0, 5.0, "dense")]
    draw_timeline(Timeline(7, 10.0, spans, left_out), tmp_path / "a.svg")
    assert f"<!-- Step 7 by device and thread{words} -->" in (tmp_path / "a.svg").read_text()
