"""The measured memory of training."""

import importlib
import json
import mmap
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner

from bytenet.cli.benchmark import benchmark
from bytenet.config import load_config
from bytenet.datasets import Vocabulary, load_corpus
from bytenet.errors import ConfigError, InputError
from bytenet.profiling.benchmarks import memory
from bytenet.profiling.benchmarks.memory import MemoryCost, measure_in_this_process, measure_memory
from bytenet.profiling.benchmarks.training_case import TrainingCase

SMALL = ["model.dim=4", "model.num_sets=1", "model.dilations=[1,2]"]


@pytest.fixture(scope="module")
def case():
    return TrainingCase(load_config("numbers", SMALL), batch_size=2, length=6, jit_compile=False, vocab_size=8)


def test_measured_sizes_match_hand_calculation(case):
    cost = measure_in_this_process(replace(case, preset="numbers"))
    embeddings, head = 2 * 7 * 4, 8 * 8 + 8
    encoder = 2 * (4 * 2 + 5 * 2 * 2 + 2 * 4 + 4 + (4 + 2 + 2))
    decoder = 2 * (8 * 4 + 3 * 4 * 4 + 4 * 8 + 8 + (8 + 4 + 4))
    trainable = embeddings + encoder + decoder + head
    statistics = 2 * 2 * (4 + 2 + 2)
    assert cost.parameter_bytes == 4 * (trainable + statistics)
    assert 2 * 4 * trainable <= cost.optimizer_bytes <= 3 * 4 * trainable + 100
    assert 0 < cost.before_bytes <= cost.peak_bytes
    assert cost.training_bytes == cost.peak_bytes - cost.before_bytes
    assert (cost.preset, cost.batch_size, cost.length, cost.dim, cost.xla) == ("numbers", 2, 6, 4, False)


def test_peak_includes_released_memory():
    size = 200_000_000
    before = memory.peak_resident_bytes()
    with mmap.mmap(-1, size) as block:  # directly from the system, independent of the allocator
        for start in range(0, size, 4096):
            block[start] = 1
        now = memory.resident_bytes()
    assert now >= size
    inexact = 2_000_000  # the system updates the page count of each thread only from time to time
    assert memory.peak_resident_bytes() >= max(before, now) - inexact
    assert memory.resident_bytes() <= now - size / 2


@pytest.fixture
def function(tmp_path, monkeypatch):
    """Makes a function from its code. A new process can import the function without the imports of these tests."""
    monkeypatch.syspath_prepend(tmp_path)  # the process inherits this path

    def make(code):
        (tmp_path / "function_of_a_test.py").write_text(code)
        monkeypatch.delitem(sys.modules, "function_of_a_test", raising=False)
        return importlib.import_module("function_of_a_test").function

    return make


DIES = "import os\n\ndef function(*_):\n    os._exit(9)\n"


def test_killed_process_gives_an_explanation(case, function, monkeypatch):
    monkeypatch.setattr(memory, "measure_in_this_process", function(DIES))
    with pytest.raises(InputError, match=r"d=4, 2 x 6.* was killed.*Choose a smaller batch"):
        measure_memory([case])


@pytest.mark.thorough
def test_full_gpu_gives_an_explanation(case, function, monkeypatch):
    code = (
        "import tensorflow as tf\n\n"
        "def function(case):\n"
        "    raise tf.errors.ResourceExhaustedError(None, None, 'OOM when allocating tensor\\nand much more')\n"
    )
    monkeypatch.setattr(memory, "measure_in_this_process", function(code))
    with pytest.raises(InputError, match=r"d=4, 2 x 6.*too little memory.*OOM when allocating tensor$"):
        measure_memory([case])


def test_measuring_process_keeps_freed_memory_as_training_does(case, function, monkeypatch):
    monkeypatch.setattr("bytenet.new_process._begin", function(DIES))  # this keeps the memory
    with pytest.raises(InputError, match="was killed"):
        measure_memory([case])


def test_rows_and_messages_name_the_preset(case, monkeypatch):
    said = []
    monkeypatch.setattr(memory, "in_new_process", lambda function, case: function(case))
    measured = MemoryCost("a case", None, "bytenet", 4, 2, 6, False, 8, 1, 2, 3, 4, 5, None)
    monkeypatch.setattr(memory, "measure_in_this_process", lambda case: replace(measured, preset=case.preset))
    named = replace(case, preset="numbers")
    assert [cost.preset for cost in measure_memory([named, case], say=said.append)] == ["numbers", None]
    assert said == [f"numbers: {case.name} ...", f"{case.name} ..."]


def test_several_replicas_are_refused(case):
    with pytest.raises(InputError, match="one device"):
        measure_memory([replace(case, replicas=2)])


@pytest.mark.slow
def test_wider_model_needs_more_memory_in_its_own_process(case):
    wide = replace(case, config=load_config("numbers", [*SMALL, "model.dim=64"]), batch_size=64, length=200)
    large, small = measure_memory([wide, case])
    assert large.training_bytes > small.training_bytes + 10 * 64 * 200 * 64 * 4
    assert large.before_bytes < 1.5 * small.before_bytes


@pytest.fixture
def cases(monkeypatch):
    """Runs the command with a stand-in that records the cases and measures nothing."""
    asked = []

    def note(cases, say):
        asked[:] = cases
        return [MemoryCost("a case", "digits", "bytenet", 4, 2, 6, False, 8, 1_000_000, 2, 3, 4, 5_400_000_000, None)]

    monkeypatch.setattr(memory, "measure_memory", note)

    def run(*arguments):
        result = CliRunner().invoke(benchmark, ["memory", *arguments], catch_exceptions=False)
        assert result.exit_code == 0, result.stderr
        return list(asked), result.stdout

    return run


def test_command_measures_each_preset_and_batch_size(cases):
    found, printed = cases("multi30k", "europarl", "--batch-size", "2", "--batch-size", "4", "--no-xla")
    assert [case.name for case in found] == [
        "bytenet, d=128, 2 x 100, no XLA", "bytenet, d=128, 4 x 100, no XLA",
        "bytenet, d=400, 2 x 100, no XLA", "bytenet, d=400, 4 x 100, no XLA",
    ]  # fmt: skip
    assert [case.preset for case in found] == ["multi30k", "multi30k", "europarl", "europarl"]
    assert printed.split("\n")[1].split() == ["digits", "a", "case", "1", "0", "0", "0", "5,400"]
    ((found,), printed) = cases("--json")
    assert found.name == "bytenet, d=400, 64 x 100, XLA"
    assert found.preset == "europarl"
    assert json.loads(printed)[0]["preset"] == "digits"
    assert json.loads(printed)[0]["training_bytes"] == 5_400_000_000


def test_command_finds_the_largest_batch_of_a_corpus(cases):
    ((found,), _) = cases("digits", "--largest", "--no-xla", "--set", "data.bucketing=none")
    assert (found.batch_size, found.length) == (16, len("three three three") + 1)
    fewer = ["--set", "data.num_train=500", "--set", "data.bucketing=none"]
    ((found,), _) = cases("numbers", "--largest", "--no-xla", "--set", "data.batch_chars=1000", *fewer)
    assert 900 < found.batch_size * found.length <= 1000
    pairs = load_corpus(found.config.data).train
    assert found.vocab_size == Vocabulary.from_texts(pairs.source, pairs.target).size != 105


@pytest.mark.parametrize("option", ["--length", "--batch-size", "--vocab-size"])
def test_sizes_with_largest_batch_are_refused(option):
    result = CliRunner().invoke(benchmark, ["memory", "--largest", option, "9"])
    assert result.exit_code == 2
    assert "Leave out --batch-size" in result.stderr


def test_unknown_preset_is_refused():
    with pytest.raises(ConfigError):
        CliRunner().invoke(benchmark, ["memory", "multi31k"], catch_exceptions=False)
