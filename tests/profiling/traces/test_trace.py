"""Events of a trace are converted to steps and operations."""

import json

import pytest

from bytenet.errors import InputError, MissingFileError
from bytenet.profiling.traces.capture.trace_folder import write_notes
from bytenet.profiling.traces.trace import interpret, read_trace
from bytenet.profiling.traces.trace_file import CAPTURE_FILE, capture_notes, find_trace


def seconds_by_kind(trace, only_help=False):
    sums = {}
    for segment in trace.segments:
        if segment.is_help or not only_help:
            kind = segment.operation.place.kind
            sums[kind] = sums.get(kind, 0) + segment.end - segment.start
    return sums


def test_trace_has_the_expected_steps_and_operations(two_steps):
    trace = interpret(two_steps)
    assert [(step.number, step.start, step.seconds) for step in trace.steps] == [(7, 0, 10), (8, 10, 10)]
    assert trace.has_steps
    assert not trace.is_compiled
    assert trace.devices == ["CPU"]
    assert seconds_by_kind(trace) == pytest.approx(
        {"convolution": 12, "normalisation": 4, "dense": 2, "runtime": 2, "input pipeline": 4}
    )
    assert trace.host_calls == [(1, 10), (11, 20)]


def test_work_of_a_helper_thread_counts_for_its_operation(two_steps):
    assert seconds_by_kind(interpret(two_steps), only_help=True) == pytest.approx({"convolution": 4})


def test_nested_help_counts_for_the_first_operation(raw_trace):
    trace = interpret(
        raw_trace(
            ("/host:CPU", "tf_Compute/1", [
                ("a/b/MatMul:MatMul", 0, 4), ("ThreadpoolListener::Record", 1, 1, {"_p": 1}),
            ]),
            ("/host:CPU", "tf_Eigen/1", [
                ("ThreadpoolListener::StartRegion", 1, 1, {"_c": 1}),
                ("ThreadpoolListener::Record", 2, 2, {"_p": 2}),
                ("ThreadpoolListener::StopRegion", 3, 3),
            ]),
            ("/host:CPU", "tf_Eigen/2", [
                ("ThreadpoolListener::StartRegion", 2, 2, {"_c": 2}), ("ThreadpoolListener::StopRegion", 3, 3),
            ]),
            ("/host:CPU", "tf_Eigen/3", [
                ("ThreadpoolListener::StartRegion", 2, 2, {"_c": 77}), ("ThreadpoolListener::StopRegion", 3, 3),
            ]),
        )
    )  # fmt: skip
    assert seconds_by_kind(trace) == pytest.approx({"dense": 7, "runtime": 1})


def test_waiting_does_not_count_as_work(raw_trace):
    trace = interpret(raw_trace(("/host:CPU", "t", [("ExecutorState::Process", 0, 5), ("BlockUntilReady", 1, 4)])))
    assert seconds_by_kind(trace) == pytest.approx({"runtime": 2})


def test_trace_without_step_marks_is_one_step(raw_trace):
    trace = interpret(raw_trace(("/host:CPU", "t", [("a/b/Mul:Mul", 2, 3), ("a/b/Add:AddV2", 4, 6)])))
    assert not trace.has_steps
    assert [(step.start, step.end) for step in trace.steps] == [(2, 6)]
    assert trace.warnings == []  # only the profiler gives warnings


def test_outer_and_first_of_overlapping_step_marks_count(raw_trace):
    marks = [(1, 0, 10), (100, 0, 4), (101, 5, 10), (2, 10, 20), (102, 19, 25), (3, 25, 30)]
    python = [("train", start, end, {"step_num": number}) for number, start, end in reversed(marks)]
    trace = interpret(raw_trace(("/host:CPU", "python", python), ("/host:CPU", "t", [("a/b/Mul:Mul", 0, 30)])))
    assert [(step.number, step.start, step.end) for step in trace.steps] == [(1, 0, 10), (2, 10, 20), (3, 25, 30)]


def test_model_replicas_on_one_host_are_devices(raw_trace):
    trace = interpret(
        raw_trace(("/host:CPU", "t", [
            ("S/bytenet_1/encoder_1/add:AddV2", 0, 1), ("S/replica_1/bytenet_1/encoder_1/add:AddV2", 1, 3),
        ]))
    )  # fmt: skip
    assert trace.devices == ["CPU:0", "CPU:1"]


def test_numbered_updates_belong_to_replicas_only_if_there_are_any(raw_trace):
    updates = [("S/adam/adam/update_1/mul:Mul", 0, 1), ("S/adam/adam/update_2/mul:Mul", 1, 2)]
    assert interpret(raw_trace(("/host:CPU", "t", updates))).devices == ["CPU"]
    copy = ("S/replica_1/bytenet_1/encoder_1/add:AddV2", 2, 3)
    trace = interpret(raw_trace(("/host:CPU", "t", [*updates, copy])))
    assert [(segment.operation.device, segment.start) for segment in trace.segments] == [
        ("CPU:1", 0), ("CPU:0", 1), ("CPU:1", 2),
    ]  # fmt: skip


def test_accelerator_streams_form_a_device_and_host_stays_one(raw_trace):
    stats = {"tf_op": "replica_1/bytenet/encoder/set_0/block_0_dilation_1/conv_dilated/convolution:Conv2D"}
    trace = interpret(
        raw_trace(
            ("/device:GPU:1", "Stream #13(Compute)", [("void cudnn::kernel", 0, 2, stats), ("Memset", 3, 4)]),
            ("/device:GPU:1", "Steps", [("7", 0, 10, stats)]),  # derived from the other lines
            ("/host:CPU", "t", [("replica_1/bytenet/encoder/add:AddV2", 0, 1)]),
        )
    )
    assert trace.devices == ["CPU", "GPU:1"]
    on_gpu = [segment for segment in trace.segments if segment.operation.device == "GPU:1"]
    assert [(segment.operation.place.kind, segment.end - segment.start) for segment in on_gpu] == [
        ("convolution", 2),
        ("data movement", 1),
    ]


@pytest.mark.parametrize(("line", "seconds"), [("Stream #13(Compute)", 2), ("XLA Modules", 3)])
def test_xla_line_counts_only_without_streams(raw_trace, line, seconds):
    stats = {"tf_op": "bytenet/encoder/set_0/block_0_dilation_1/conv_dilated/convolution:Conv2D"}
    trace = interpret(
        raw_trace(
            ("/device:GPU:0", line, [("kernel", 0, 2, stats)]),
            ("/device:GPU:0", "XLA Ops", [("fusion", 0, 3, stats)]),
        )
    )
    assert seconds_by_kind(trace) == pytest.approx({"convolution": seconds})


def test_missing_file_and_empty_folder_are_refused(tmp_path):
    with pytest.raises(MissingFileError, match="There is no"):
        read_trace(tmp_path / "nowhere")
    with pytest.raises(MissingFileError, match="holds no trace"):
        read_trace(tmp_path)


@pytest.mark.parametrize("content", [b"not a trace at all", b"\x0a\xff\xff\xff\x7f", b""])
def test_damaged_or_empty_file_is_refused(tmp_path, content):
    file = tmp_path / "vm.xplane.pb"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"vm.xplane.pb (cannot be read as a trace|holds no events)"):
        read_trace(file)


@pytest.mark.parametrize(
    ("text", "notes"), [('{"dim": 8}', {"dim": 8}), ("null", {}), ("3", {}), ("[1]", {}), ("{", {})]
)
def test_notes_that_are_no_mapping_are_ignored(tmp_path, text, notes):
    (tmp_path / CAPTURE_FILE).write_text(text, encoding="utf-8")
    assert capture_notes(tmp_path / "plugins" / "host.xplane.pb") == notes


@pytest.mark.parametrize(
    ("path", "are_of_it"),
    [
        ("plugins/profile/now/vm.xplane.pb", True),
        ("now/vm.xplane.pb", True),
        ("vm.xplane.pb", True),
        ("plugins/profile/later/vm.xplane.pb", False),
        ("other.xplane.pb", False),
    ],
)
def test_notes_of_another_trace_are_ignored(tmp_path, path, are_of_it):
    """Copies of a trace beside its notes may lie in fewer folders."""
    notes = {"trace": "plugins/profile/now/vm.xplane.pb", "what": "decoding"}
    (tmp_path / CAPTURE_FILE).write_text(json.dumps(notes), encoding="utf-8")
    assert capture_notes(tmp_path / path) == (notes if are_of_it else {})


def test_written_notes_name_their_trace(tmp_path):
    trace = tmp_path / "plugins" / "profile" / "now" / "vm.xplane.pb"
    trace.parent.mkdir(parents=True)
    trace.touch()
    assert write_notes(tmp_path, {"what": "decoding"}) == trace
    assert capture_notes(trace) == {"trace": "plugins/profile/now/vm.xplane.pb", "what": "decoding"}


def test_newest_trace_of_a_folder_is_used(tmp_path):
    import os

    for index, name in enumerate(["b", "a"]):
        folder = tmp_path / "plugins" / "profile" / name
        folder.mkdir(parents=True)
        (folder / "vm.xplane.pb").touch()
        os.utime(folder / "vm.xplane.pb", (index, index))
    assert find_trace(tmp_path).parent.name == "a"
