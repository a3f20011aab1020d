"""Handmade traces in the format of the profiler, and fixtures that make benchmarks quick."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bytenet.profiling.traces.trace_file import RawEvent, RawLine, RawTrace

_ENCODER = "StatefulPartitionedCall/bytenet_1/encoder_1/set_0_1/block_0_dilation_1_1"
_DECODER = "StatefulPartitionedCall/gradient_tape/bytenet_1/decoder_1/set_0_1/block_0_dilation_1_1"


@pytest.fixture
def raw_trace() -> Callable[..., RawTrace]:
    """A function that makes a trace from lines. A line has a plane, a name and events (name, start, end, stats)."""

    def make(*lines: tuple, modules: dict | None = None) -> RawTrace:
        read = [
            RawLine(plane, name, [RawEvent(event[0], event[1], event[2], *(event[3:] or [{}])) for event in events])
            for plane, name, events in lines
        ]
        return RawTrace(Path("hand-made.xplane.pb"), read, modules or {}, [])

    return make


@pytest.fixture
def two_steps(raw_trace) -> RawTrace:
    """Two steps of 10 seconds each. They run a plain graph on two threads and a helper thread.

    In each step, a convolution takes 4 s of its own thread and 2 s of a helper. A normalisation runs for 2 s at the
    same time. A gradient takes 1 s, scheduling 1 s, input 2 s and Python 1 s. In seconds of a step:

    0-1 Python; 1-3 input; 3-7 convolution (with help 4-6, with the normalisation 5-7); 7-8 gradient; 8-9 scheduling
    """

    def events(start):
        python = [
            ("train", start, start + 10, {"step_num": 7 + start // 10}),
            ("TFE_Py_Execute", start + 1, start + 10),
        ]
        first = [
            ("ExecutorState::Process", start + 3, start + 9),
            (f"{_ENCODER}/conv_dilated_1/convolution:_MklNativeConv2D", start + 3, start + 7),
            ("ThreadpoolListener::Record", start + 3.5, start + 3.5, {"_p": 100 + start}),
            (f"{_DECODER}/recover_dim_1/MatMul:_MklMatMul", start + 7, start + 8),
        ]
        second = [(f"{_ENCODER}/pre_normalization_1/normalization_1/Sum:Sum", start + 5, start + 7)]
        helper = [
            ("ThreadpoolListener::StartRegion", start + 4, start + 4, {"_c": 100 + start}),
            ("ThreadpoolListener::StopRegion", start + 6, start + 6),
        ]
        pipeline = [("Iterator::Root", start + 1, start + 3)]
        return python, first, second, helper, pipeline

    names = ("python", "tf_Compute/1", "tf_Compute/2", "tf_Eigen/1", "tf_data_iterator_get_next/1")
    steps = [events(0), events(10)]
    return raw_trace(*[("/host:CPU", name, [*steps[0][i], *steps[1][i]]) for i, name in enumerate(names)])


@pytest.fixture
def small_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small matrices measure the peak rate."""
    from bytenet.profiling.benchmarks import peak

    monkeypatch.setattr(peak, "_WIDTH", 64)
