"""The cache of XLA's compiled code: set by the environment, never an obstacle, and used by TensorFlow."""

import os
import subprocess
import sys

import pytest

from bytenet import compile_cache


@pytest.fixture
def environment(monkeypatch, tmp_path):
    for name in ("TF_XLA_FLAGS", "BYTENET_COMPILE_CACHE"):
        monkeypatch.setenv(name, "")  # so that a value which the test sets is removed after it
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return monkeypatch


def test_cache_is_in_the_users_cache_folder_and_other_flags_are_kept(environment, tmp_path):
    environment.setenv("TF_XLA_FLAGS", "--tf_xla_auto_jit=0")
    folder = compile_cache.turn_on()
    assert folder.is_dir()
    assert folder.parent == tmp_path / "cache" / "bytenet-xla"
    flags = os.environ["TF_XLA_FLAGS"].split()
    assert flags[:2] == ["--tf_xla_auto_jit=0", f"--tf_xla_persistent_cache_directory={folder}"]


def test_environment_variable_can_set_another_folder(environment, tmp_path):
    environment.setenv("BYTENET_COMPILE_CACHE", str(tmp_path / "elsewhere"))
    assert compile_cache.turn_on().parent == tmp_path / "elsewhere" / "bytenet-xla"


@pytest.mark.parametrize(("name", "value"), [
    ("BYTENET_COMPILE_CACHE", "0"),
    ("BYTENET_COMPILE_CACHE", "Off"),
    ("TF_XLA_FLAGS", "--tf_xla_persistent_cache_directory=/mine"),
])  # fmt: skip
def test_cache_can_be_turned_off_and_respects_a_folder_set_in_the_flags(environment, tmp_path, name, value):
    environment.setenv(name, value)
    assert compile_cache.turn_on() is None
    assert os.environ.get("TF_XLA_FLAGS", value) == value
    assert not (tmp_path / "cache").exists()


def test_value_on_is_not_taken_as_a_folder_name(environment, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    expected = compile_cache.turn_on()
    environment.delenv("TF_XLA_FLAGS")
    environment.setenv("BYTENET_COMPILE_CACHE", "on")
    assert compile_cache.turn_on() == expected
    assert not (tmp_path / "on").exists()


@pytest.mark.parametrize("place", ["file/below", "with a space"])
def test_unusable_folder_turns_the_cache_off(environment, tmp_path, place):
    (tmp_path / "file").write_text("in the way")
    environment.setenv("BYTENET_COMPILE_CACHE", str(tmp_path / place))
    assert compile_cache.turn_on() is None
    assert "TF_XLA_FLAGS" not in os.environ


def test_user_without_a_home_folder_has_no_cache(environment):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    environment.delenv("XDG_CACHE_HOME")
    environment.setattr(compile_cache.Path, "home", no_home)
    assert compile_cache.turn_on() is None


def test_turning_off_removes_only_the_flag_of_the_cache(environment):
    environment.setenv("TF_XLA_FLAGS", "--tf_xla_auto_jit=0")
    compile_cache.turn_on()
    compile_cache.turn_off()
    assert os.environ["TF_XLA_FLAGS"] == "--tf_xla_auto_jit=0"


def test_oldest_cache_files_are_removed_first_and_no_other_files(tmp_path):
    for age, name in enumerate(["xla_compile_cache_b", "xla_compile_cache_c", "xla_compile_cache_a", "thesis.tex"]):
        path = tmp_path / name
        path.write_bytes(b"x" * 10)
        os.utime(path, (1000 - age, 1000 - age))
    compile_cache._remove_oldest(tmp_path, most_bytes=20)
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["thesis.tex", "xla_compile_cache_b", "xla_compile_cache_c"]


@pytest.mark.thorough
def test_tensorflow_writes_compiled_code_to_the_cache(environment, tmp_path):
    environment.setenv("BYTENET_COMPILE_CACHE", str(tmp_path / "kept"))
    program = (
        "from bytenet import compile_cache; compile_cache.turn_on(); import tensorflow as tf; "
        "tf.function(lambda x: x * 2 + 1, jit_compile=True)(tf.ones(3))"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, timeout=120)
    assert [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
