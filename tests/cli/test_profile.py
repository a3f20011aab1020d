"""`bytenet profile`: tables, files and the TensorBoard command from a preset or a trace."""

import json
import os

import click
import pytest
from click.testing import CliRunner

from bytenet.cli.profile import _config, profile
from bytenet.errors import InputError, MissingFileError
from bytenet.profiling.traces import tensorboard
from bytenet.profiling.traces.tensorboard import check_profile_plugin, logdir_of, tensorboard_command

_SMALL = (
    "--set=model.dim=8", "--set=model.num_sets=1", "--set=model.dilations=[1]", "--set=data.num_train=64",
    "--set=data.bucketing=none", "--no-xla",
)  # fmt: skip


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """The folder of a profile of steps 3 and 4, and the result of the command."""
    folder = tmp_path_factory.mktemp("profile") / "out"
    arguments = ["digits", *_SMALL, "--steps", "3:4", "--out", str(folder)]
    result = CliRunner().invoke(profile, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return folder, result


def test_tables_go_to_stdout_and_all_files_to_the_folder(out):
    folder, result = out
    assert "training, plain graph, steps 3 to 4" in result.stdout
    assert "conv-dilated" in result.stdout
    assert result.stdout == (folder / "training.txt").read_text()
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "training", "training.txt", "training.json", "training.csv", "training-timeline.png", "training-grouped.png",
    }  # fmt: skip
    assert list(folder.glob("training/plugins/profile/*/*.xplane.pb"))


def test_tensorboard_command_is_printed(out):
    folder, result = out
    assert f"tensorboard --logdir {folder}" in result.stderr


def test_reading_a_trace_again_gives_the_same_result(out, invoke):
    folder, _ = out
    result = invoke(profile, "--trace", folder / "training", "--json")
    again, before = json.loads(result.stdout), json.loads((folder / "training.json").read_text())
    assert again == before
    assert f"tensorboard --logdir {folder / 'training'}" in result.stderr


def test_tables_of_a_trace_can_go_to_another_folder(out, invoke, tmp_path):
    folder, _ = out
    result = invoke(profile, "--trace", folder / "training", "--out", tmp_path / "tables")
    assert (tmp_path / "tables" / "trace.txt").read_text() == result.stdout
    assert f"Wrote {tmp_path / 'tables' / 'trace.txt'}, " in result.stderr
    assert f"tensorboard --logdir {folder / 'training'}" in result.stderr


def test_preset_wins_over_a_folder_of_the_same_name(tmp_path, monkeypatch):
    (tmp_path / "digits").mkdir()
    monkeypatch.chdir(tmp_path)
    assert _config("digits", (), None).data.corpus == "digits"
    with pytest.raises(MissingFileError):
        _config("./digits", (), None)  # the folder, which is not a run folder


def test_missing_plugin_still_gives_tables_and_an_install_hint(out, invoke, monkeypatch):
    folder, _ = out
    monkeypatch.setattr(tensorboard, "find_spec", lambda name: None)
    result = invoke(profile, "--trace", folder / "training")
    assert result.stdout.startswith(str(folder))
    assert "pip install '.[profiling]'" in result.stderr
    assert "--logdir" not in result.stderr


def test_plugin_that_tensorboard_cannot_find_is_an_error(monkeypatch):
    pytest.importorskip("xprof")
    check_profile_plugin()
    monkeypatch.setattr(tensorboard, "entry_points", lambda group: [])
    with pytest.raises(ValueError, match="would not find its Profile tab"):
        check_profile_plugin()


def test_tensorboard_logdir_comes_from_the_trace_path_and_is_quoted(tmp_path):
    assert logdir_of(tmp_path / "a b" / "plugins" / "profile" / "now" / "vm.xplane.pb") == tmp_path / "a b"
    assert logdir_of(tmp_path / "vm.xplane.pb") is None
    assert tensorboard_command("a b") == "tensorboard --logdir 'a b'"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing PRESET_OR_FILE, for example: bytenet profile"),
        ([], "bytenet profile --trace FOLDER"),
        (["--out", "x", "--set", "data.batch_size=4"], "Missing PRESET_OR_FILE"),
        (["--set", "data.corpus=digits"], "Missing --out"),
        (["digits", "--trace", "x"], "either PRESET_OR_FILE"),
        (["digits"], "Missing --out"),
        (["digits", "--out", "x", "--steps", "5"], "two step numbers such as 10:14"),
        (["digits", "--out", "x", "--steps", "5:4"], "two step numbers"),
        (["digits", "--out", "x", "--steps", "0:4"], "two step numbers"),
        (["digits", "--out", "x", "--steps", "1:\u00b2"], "two step numbers"),
        (["digits", "--out", "x", "--steps", f"1:{'9' * 5000}"], "two step numbers"),
        (["digits", "--out", "x", "--decode", "--steps", "1:2"], "--steps is for training"),
        (["--trace", "x", "--xla"], "--trace captures nothing"),
        (["--trace", "x", "--length", "100"], "are for decoding"),
        (["digits", "--out", "x", "--beam-size", "1"], "are for decoding; add --decode"),
        (["digits", "--out", "x", "--batch-size", "4"], "are for decoding"),
        (["digits", "--out", "x", "--length", "9"], "are for decoding"),
    ],
)
def test_wrong_arguments_are_usage_errors(arguments, message):
    with pytest.raises(click.UsageError) as error:
        profile.main(arguments, standalone_mode=False)
    assert message in error.value.format_message()


def test_folder_without_a_trace_is_refused(tmp_path):
    with pytest.raises(MissingFileError, match="holds no trace"):
        profile.main(["--trace", str(tmp_path)], standalone_mode=False)


def test_a_corpus_can_take_the_place_of_a_preset(monkeypatch, tmp_path):
    captured = {}

    def capture(config, folder, steps, say):
        captured[folder] = config.data.corpus
        raise InputError("that is enough")

    monkeypatch.setattr("bytenet.profiling.traces.capture.capture_training", capture)
    result = CliRunner().invoke(profile, ["--set", "data.corpus=digits", "--out", str(tmp_path / "profile")])
    assert str(result.exception) == "that is enough"
    assert "pairs: preset " in result.stderr
    assert captured == {tmp_path / "profile" / "training": "digits"}


def test_xla_profile_does_not_use_the_compile_cache(monkeypatch, tmp_path):
    """Cached XLA code has no operation names, so it cannot be grouped."""
    captured = {}

    def capture(config, folder, steps, say):
        captured["flags"] = os.environ["TF_XLA_FLAGS"]
        raise InputError("that is enough")

    monkeypatch.setattr("bytenet.profiling.traces.capture.capture_training", capture)
    monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_auto_jit=0 --tf_xla_persistent_cache_directory=/somewhere")
    result = CliRunner().invoke(profile, ["digits", "--out", str(tmp_path / "profile"), "--xla"])
    assert isinstance(result.exception, InputError)
    assert captured["flags"] == "--tf_xla_auto_jit=0"
