"""Real traces of small models show the named parts and account for nearly all of the time."""

import json

import pytest

from bytenet.config import load_config
from bytenet.errors import InputError
from bytenet.model_file import ModelFile
from bytenet.profiling.traces.breakdown import breakdown
from bytenet.profiling.traces.capture import Search, capture_decoding_of, capture_training, searches
from bytenet.profiling.traces.capture.settled_steps import settled_seconds
from bytenet.profiling.traces.grouping import place_of
from bytenet.profiling.traces.trace import read_trace
from bytenet.trained_model import find_model

_SMALL = (
    "model.dim=32", "model.num_sets=1", "model.dilations=[1,2]", "model.dropout=0.1", "data.num_train=128",
    "data.batch_size=32", "data.bucketing=none", "data.num_validation=16", "training.epochs=3",
)  # fmt: skip
_PARTS = ("pre-normalization", "reduce-dim", "conv-dilated", "recover-dim", "embedding")


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    """A function that captures a training once for each set of settings, and returns the trace and breakdown."""
    made = {}

    def make(*settings):
        if settings not in made:
            folder = tmp_path_factory.mktemp("profile") / "training"
            file = capture_training(load_config("digits", (*_SMALL, *settings)), folder)
            trace = read_trace(folder)
            assert trace.path == file
            made[settings] = trace, breakdown(trace)
        return made[settings]

    return make


def test_decoding_is_captured_with_the_model_of_the_start(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # a file or folder `de-en` would come before the pretrained model
    monkeypatch.setattr(searches, "build_model", lambda config, size: (config, size))
    monkeypatch.setattr(searches, "capture_decoding", lambda model, *others: model)
    pairs = tmp_path / "pairs"
    pairs.write_text("Haus\n", encoding="utf-8")
    settings = (f"data.train_source={pairs}", f"data.train_target={pairs}", "data.corpus=files", "training.start=de-en")
    start = ModelFile(find_model("de-en"))
    config, size = capture_decoding_of(load_config("multi30k", settings), tmp_path / "out")
    assert config.dim == start.config.model.dim != load_config("multi30k").model.dim
    assert size == start.vocabulary.size


def paths(trace):
    return {segment.operation.path for segment in trace.segments} | {
        source.path for segment in trace.segments for source in segment.operation.sources
    }


@pytest.mark.parametrize("xla", ["false", pytest.param("true", marks=pytest.mark.thorough)])
def test_training_is_divided_into_the_parts_of_the_thesis(captured, xla):
    trace, result = captured(f"training.jit_compile={xla}")
    assert len(trace.steps) == (3 if xla == "true" else 5)
    assert trace.steps[0].number == 6
    assert trace.is_compiled == (xla == "true")
    (device,) = result.devices
    for pass_ in ("forward", "backward"):
        for half in ("encoder", "decoder"):
            for part in _PARTS[:-1]:
                groups = {group.group: group.seconds for group in device.level("pass", "half", "part")}
                assert groups.get((pass_, half, part), 0) > 0, (pass_, half, part)
    written_out = {group.group for group in device.level("pass", "part", "kind")}
    for part in ("pre-normalization", "reduce-dim", "conv-dilated"):
        assert ("backward", part, "normalisation") in written_out
    kinds = {group.group[0] for group in device.level("kind")}
    assert {"normalisation", "dense", "activation", "optimiser", "data movement", "dropout"} <= kinds
    # With so few filters, XLA gets convolutions as matrix products.
    assert ("convolution" in kinds) == (xla == "false")
    assert {"forward", "backward", "optimiser", "input"} <= {group.group[0] for group in device.level("pass")}


@pytest.mark.parametrize("xla", ["false", pytest.param("true", marks=pytest.mark.thorough)])
def test_groups_sum_to_the_busy_time(captured, xla):
    _, result = captured(f"training.jit_compile={xla}")
    (device,) = result.devices
    assert 0 < device.busy_seconds <= result.step_seconds
    assert device.busy_seconds + device.idle_seconds == pytest.approx(result.step_seconds)
    for level in ("pass", "half", "part", "kind"):
        assert sum(group.seconds for group in device.level(level)) == pytest.approx(device.busy_seconds)
    # Named operations belong to a group. (In such a small model, the share of scheduling depends on the machine.)
    named = 1 - result.gaps.unnamed
    assert result.gaps.ungrouped < 0.2 * named
    assert 0 <= result.gaps.python < 1


@pytest.mark.parametrize("xla", ["false", pytest.param("true", marks=pytest.mark.thorough)])
def test_blocks_keep_their_names_in_forward_and_backward_operations(captured, xla):
    trace, _ = captured(f"training.jit_compile={xla}")
    for name in ("block_0_dilation_1", "block_1_dilation_2"):
        named = [path for path in paths(trace) if f"/{name}" in path]
        assert any("gradient_tape" in path for path in named)
        assert any("gradient_tape" not in path for path in named)
    assert {place_of(path, "Mul").pass_ for path in paths(trace) if "gradient_tape" in path} == {"backward"}


@pytest.mark.thorough
def test_share_of_fused_time_is_reported_with_xla(captured):
    _, result = captured("training.jit_compile=true")
    assert 0 < result.gaps.fused < 1
    for level, share in result.gaps.misplaced.items():
        assert 0 <= share <= result.gaps.mixed[level] <= result.gaps.fused


def test_capture_conditions_are_saved_with_the_trace(captured):
    _, result = captured("training.jit_compile=false")
    assert result.capture["what"] == "training"
    assert result.capture["steps"] == [6, 10]
    assert result.capture["settings"]["model.dim"] == 32
    assert not result.capture["compiled"]
    assert len(result.capture["seconds_before"]) == 5
    assert result.capture["settled_seconds_before"] > 0
    json.dumps(result.to_dict())


def test_decoding_is_divided_into_steps_and_parts(tmp_path):
    file = capture_decoding_of(load_config("digits", _SMALL), tmp_path / "decoding", Search(max_length=12, count=2))
    trace = read_trace(file)
    result = breakdown(trace)
    assert len(trace.steps) == 2
    assert result.capture["characters"] == 12
    assert not result.is_compiled  # although XLA computes its slice updates
    (device,) = result.devices
    places = {group.group for group in device.level("half", "part", "kind")}
    for part in ("reduce-dim", "conv-dilated", "recover-dim"):
        assert ("decoder", part, "dense") in places
    assert "encoder" in {half for half, _, _ in places}


@pytest.fixture
def searched(monkeypatch, policy):
    """A function that returns the model and sentences of the searches to capture."""
    found = {}

    def note(model, source_ids, *_):
        found.update(model=model, source_ids=source_ids)

    monkeypatch.setattr(searches, "capture_decoding", note)

    def search(*settings, batch_size=1):
        capture_decoding_of(load_config("digits", (*_SMALL, *settings)), "nowhere", Search(batch_size=batch_size))
        return found["model"], found["source_ids"]

    with policy("float32"):
        yield search


def test_search_uses_the_vocabulary_and_precision_of_training(searched):
    whole, _ = searched()
    fewer, _ = searched("data.unknown=symbol", "data.min_character_count=200", "training.mixed_precision=true")
    assert fewer.vocab_size < whole.vocab_size
    assert (whole.compute_dtype, fewer.compute_dtype) == ("float32", "bfloat16")


def test_sentences_are_repeated_if_there_are_too_few(searched):
    _, source_ids = searched("data.num_train=64", batch_size=150)
    assert len(source_ids) == 150
    assert (source_ids[128] == source_ids[64]).all()
    assert (source_ids[64] == source_ids[0]).all()


def test_settled_seconds_come_from_steps_of_the_same_shape():
    small, large = ((32, 10),), ((32, 50),)
    before, seconds = [small, large, small, large, small, small], [9.0, 9.0, 1.0, 5.0, 2.0, 3.0]
    assert settled_seconds(before, seconds, [small, large, small]) == pytest.approx((2 + 5 + 2) / 3)
    assert settled_seconds(before, seconds, [small, ((8, 8),)]) is None
    assert settled_seconds(before[:2], seconds[:2], [small]) is None  # the first step of a shape does not count


def test_used_folder_and_steps_after_the_training_are_refused(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(InputError, match="full exists and is not empty"):
        capture_training(load_config("digits", _SMALL), tmp_path / "full")
    small = ("model.variant=simplified", "model.dim=4", "model.dilations=[1]", "evaluation.every_epochs=9")
    short = load_config("digits", (*_SMALL, *small, "training.max_steps=2", "training.jit_compile=false"))
    with pytest.raises(InputError, match="The training has only 2 steps"):
        capture_training(short, tmp_path / "late", steps=(5, 6))


@pytest.mark.slow
def test_training_on_two_devices_is_divided_by_device(tmp_path):
    """This test starts its own process, because the logical devices of a process cannot change."""
    import subprocess
    import sys

    settings = [f"--set={setting}" for setting in (*_SMALL, "training.devices=[CPU:0,CPU:1]")]
    done = subprocess.run(
        [sys.executable, "-m", "bytenet", "profile", "digits", *settings, "--out", tmp_path / "out", "--json"],
        capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)
    assert [device["device"] for device in values["devices"]] == ["CPU:0", "CPU:1"]
    for device in values["devices"]:
        assert {"conv-dilated", "reduce-dim"} <= {group["group"][0] for group in device["levels"]["part"]}
    assert "communication" in {group["group"][0] for group in values["devices"][0]["levels"]["kind"]}
