"""Instructions of a compiled program are traced back to the operations of the model."""

import pytest
from tensorflow.compiler.xla.service import hlo_pb2

from bytenet.profiling.traces.breakdown import breakdown
from bytenet.profiling.traces.trace import interpret
from bytenet.profiling.traces.xla_instructions import instruction_sources

_BLOCK = "bytenet/encoder/set_0/block_0_dilation_1"


def add(computation, number, name, opcode, shape=(), op_name="", op_type="", operands=(), called=()):
    instruction = computation.instructions.add(id=number, name=name, opcode=opcode)
    instruction.shape.dimensions.extend(shape)
    instruction.metadata.op_name, instruction.metadata.op_type = op_name, op_type
    instruction.operand_ids.extend(operands)
    instruction.called_computation_ids.extend(called)


@pytest.fixture
def module():
    """A fusion of a normalisation (300 elements) and a bias (100), a convolution and a reduction in two parts."""
    module = hlo_pb2.HloModuleProto(name="step", entry_computation_id=1)
    fused = module.computations.add(id=2, name="fused")
    add(fused, 20, "p", "parameter", (1000,))
    add(fused, 21, "m1", "multiply", (100,), f"{_BLOCK}/pre_normalization/normalization/mul", "Mul")
    add(fused, 22, "m2", "multiply", (200,), f"{_BLOCK}/pre_normalization/normalization/mul", "Mul")
    add(fused, 23, "b", "add", (100,), f"{_BLOCK}/reduce_dim/add", "AddV2")
    entry = module.computations.add(id=1, name="entry")
    add(entry, 10, "add_fusion", "fusion", (100,), f"{_BLOCK}/reduce_dim/add", "AddV2", called=[2])
    add(entry, 11, "convolution.1", "convolution", (64,), f"{_BLOCK}/conv_dilated/convolution", "Conv2D")
    add(entry, 12, "wrapped_reduce-window", "reduce-window", (8,))
    add(entry, 13, "wrapped_reduce", "reduce", (1,), f"{_BLOCK}/pre_normalization/normalization/Sum", "Sum", [12])
    add(entry, 14, "nameless", "custom-call", (1,))
    return module


def test_sources_of_a_fusion_are_weighted_by_their_elements(module):
    heaviest, other = instruction_sources(module)["add_fusion"]
    assert (heaviest.path, heaviest.kind, heaviest.weight) == (
        f"{_BLOCK}/pre_normalization/normalization/mul",
        "Mul",
        pytest.approx(0.75),
    )
    assert (other.path, other.weight) == (f"{_BLOCK}/reduce_dim/add", pytest.approx(0.25))


def test_unnamed_instruction_gets_the_name_of_its_user(module):
    sources = instruction_sources(module)
    assert sources["wrapped_reduce-window"][0].path == f"{_BLOCK}/pre_normalization/normalization/Sum"
    assert sources["nameless"][0].path == ""


def test_breakdown_reports_fused_mixed_and_misplaced_time(module, raw_trace):
    def event(name, start, end):
        return name, start, end, {"hlo_op": name, "hlo_module": "step", "program_id": 5}

    events = [
        event("add_fusion", 0, 4),
        event("convolution.1", 4, 9),
        event("nameless", 9, 10),
    ]
    raw = raw_trace(("/host:CPU", "tf_Eigen/1", events), modules={5: module})
    result = breakdown(interpret(raw))
    assert result.is_compiled
    (device,) = result.devices
    assert {group.group[0]: group.seconds for group in device.level("kind")} == pytest.approx(
        {"normalisation": 4, "convolution": 5, "other": 1}
    )
    gaps = result.gaps
    assert gaps.unnamed == pytest.approx(0.1)
    assert gaps.fused == pytest.approx(0.4)
    assert gaps.mixed == pytest.approx({"pass": 0, "half": 0, "part": 0.4, "kind": 0.4})
    assert gaps.misplaced == pytest.approx({"pass": 0, "half": 0, "part": 0.1, "kind": 0.1})
