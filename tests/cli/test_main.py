"""The command starts fast, reports errors without a traceback, and returns the documented exit codes."""

import errno
import io
import json
import logging
import os
import subprocess
import sys
import types
from collections.abc import Callable

import click
import pytest

from bytenet import __version__
from bytenet.cli import _VERBS, main
from bytenet.cli.benchmark import _MEASURED
from bytenet.cli.common.backends import advice_on_missing, choose_backend
from bytenet.cli.data import _VERBS as _OF_DATA
from bytenet.errors import ConfigError, InputError, MissingFileError

VERBS = tuple(_VERBS)
GROUPS = {"benchmark": _MEASURED, "data": _OF_DATA}
HELPS = [
    *([verb, "--help"] for verb in VERBS),
    *([group, verb, "--help"] for group, verbs in GROUPS.items() for verb in verbs),
]


@pytest.fixture
def command(monkeypatch, capsys):
    """A function that runs the command in this process and returns exit code, stdout and stderr."""
    monkeypatch.delenv("BYTENET_TRACEBACK", raising=False)
    monkeypatch.setenv("KERAS_BACKEND", "")  # so that it is put back
    monkeypatch.setattr("bytenet.cli.keep_freed_memory", lambda: True)  # would stay on in later tests

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["bytenet", *arguments])
        with pytest.raises(SystemExit) as done:
            main()
        return (done.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def set_verb(monkeypatch):
    """A function that makes `bytenet train` call another function."""

    def set_function(function: Callable[[], None]) -> None:
        train = click.command("train")(function)
        monkeypatch.setitem(sys.modules, "bytenet.cli.train", types.SimpleNamespace(train=train))

    return set_function


@pytest.fixture
def failing_verb(set_verb):
    """A function that makes `bytenet train` raise an error."""

    def fail(error: BaseException) -> None:
        def train() -> None:
            raise error

        set_verb(train)

    return fail


WITHOUT_TENSORFLOW = [
    (["--help"], 0),
    (["-h"], 0),
    (["--version"], 0),
    *[(arguments, 0) for arguments in HELPS],
    (["trian"], 2),
    (["--wrong"], 2),
    (["train"], 2),
    (["train", "numbers"], 2),
    (["train", "numbers", "--run", "nowhere", "--wrong"], 2),
    (["train", "nombers", "--run", "nowhere"], 2),
    (["train", "numbers", "--set", "training.epoch=5", "--run", "nowhere"], 2),
    (["train", "numbers", "--set", "training.epochs=0", "--run", "nowhere"], 2),
    (["train", "--resume", "--run", "nowhere"], 1),
    (["train", "numbers", "--set", "training.start=en-de", "--run", "nowhere"], 1),
    (["translate"], 2),
    (["translate", "de-en", "en-de"], 1),
    (["translate", "de-en", "--length-penalty", "1", "--beam-size", "1"], 2),
    (["average", "nowhere", "out"], 1),
    (["average", "de-en", "out"], 1),
    (["export", "de-en", "x.foo"], 1),
    (["export", "de-en", "x.bytenet", "--length-penalty", "1", "--beam-size", "1"], 2),
    (["attention", "de-en", "--text", "ein Hund"], 2),
    (["report", "de-en"], 1),
    (["evaluate"], 2),
    (["evaluate", "de-en", "--length-penalty", "1", "--beam-size", "1"], 2),
    (["score"], 2),
    (["data"], 2),
    (["data", "shard"], 2),
    (["data", "shard", "nowhere.tsv", "out"], 1),
    (["data", "shard", "nowhere.tsv", "out", "--shards", "0"], 2),
    (["profile"], 2),
    (["profile", "numbers"], 2),
    (["profile", "nombers", "--out", "nowhere"], 2),
    (["benchmark", "semi_supervised"], 2),
    (["benchmark", "semi-supervised", "nombers"], 2),
    (["benchmark", "semi-supervised", "--beam", "0"], 2),
]
# Runs the command in a child process for each list of arguments, and prints its exit code, its errors, and what it
# imported and wrote. The children are forked after the import of the command, which takes most of a start.
EACH_ALONE = """
import json, os, sys, tempfile
from bytenet.cli import main

for arguments in json.load(sys.stdin):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        child = os.fork()
        if not child:
            os.chdir(folder)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(errors.fileno(), 2)
            sys.argv = ["bytenet", *arguments]
            code = 0
            try:
                main()
            except SystemExit as end:
                code = end.code or 0
            sys.stderr.flush()
            print("IMPORTED", *sorted({"tensorflow", "keras"} & set(sys.modules)), file=sys.stderr, flush=True)
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        errors.seek(0)
        print(json.dumps([code, errors.read(), os.listdir(folder)]), flush=True)
"""


@pytest.fixture(scope="module")
def ends():
    """Exit code, errors and new files of the command for each list of arguments in `WITHOUT_TENSORFLOW`."""
    every = [arguments for arguments, _ in WITHOUT_TENSORFLOW]
    done = subprocess.run(
        [sys.executable, "-c", EACH_ALONE], input=json.dumps(every), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(map(tuple, every), map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize(("arguments", "exit_code"), WITHOUT_TENSORFLOW)
def test_help_and_wrong_arguments_do_not_import_tensorflow(ends, arguments, exit_code):
    code, errors, files = ends[tuple(arguments)]
    assert code == exit_code, errors
    assert errors.splitlines()[-1] == "IMPORTED"
    assert "Traceback" not in errors
    assert files == []


def test_a_pretrained_model_is_called_by_its_name(ends):
    both = ends["translate", "de-en", "en-de"][1].splitlines()
    assert both[-2] == (
        "Error: en-de cannot translate together with de-en: en-de translates en to de; expected a model from de to en."
    )
    for verb, *more in (["report"], ["average", "out"]):
        assert f"Error: de-en is a pretrained model; `bytenet {verb}` needs the folder" in ends[verb, "de-en", *more][1]


def test_help_names_every_subcommand_and_goes_to_stdout(command):
    code, out, err = command("--help")
    assert (code, err) == (0, "")
    for verb in VERBS:
        assert f"\n  {verb} " in out


def test_help_of_data_names_the_list_of_corpora(command):
    assert "`bytenet data --list` lists the corpora" in command("data", "--help")[1]


def test_help_of_export_names_every_kind_of_model(command):
    out = " ".join(command("export", "--help")[1].split())
    assert "MODEL is a run folder, a .bytenet file, or the name of a pretrained model." in out


def test_version_option_prints_the_version(command):
    assert command("--version") == (0, f"bytenet, version {__version__}\n", "")


def test_python_m_runs_the_same_command():
    done = subprocess.run([sys.executable, "-m", "bytenet", "--version"], capture_output=True, text=True)
    assert done.stdout == f"bytenet, version {__version__}\n"


def test_mistyped_subcommand_gets_a_suggestion(command):
    code, out, err = command("trian", "numbers")
    assert (code, out) == (2, "")
    assert "No such command 'trian'. Did you mean train?" in err


@pytest.mark.parametrize(
    ("error", "exit_code", "message"),
    [
        (InputError("Two lines\nof advice."), 1, "Error: Two lines\nof advice.\n"),
        (MissingFileError("There is no a.de."), 1, "Error: There is no a.de.\n"),
        (ConfigError("There is no setting x."), 2, "Error: There is no setting x.\n"),
        (PermissionError(errno.EACCES, "Permission denied", "a.de"), 1, "Permission denied: 'a.de'\n"),
        (KeyboardInterrupt(), 130, "Interrupted.\n"),
    ],
)
def test_errors_give_one_message_and_an_exit_code(command, failing_verb, error, exit_code, message):
    failing_verb(error)
    code, out, err = command("train")
    assert (code, out) == (exit_code, "")
    assert err.endswith(message)
    assert "Traceback" not in err


@pytest.mark.parametrize("by_option", [True, False])
def test_the_traceback_is_shown_on_request(command, failing_verb, monkeypatch, by_option):
    failing_verb(ConfigError("There is no setting x."))
    if not by_option:
        monkeypatch.setenv("BYTENET_TRACEBACK", "1")
    code, _, err = command(*(["--traceback"] if by_option else []), "train")
    assert code == 2
    assert err.startswith("Traceback (most recent call last):")
    assert err.endswith("Error: There is no setting x.\n")


def test_warnings_of_the_package_have_a_mark(command, set_verb, monkeypatch):
    def train() -> None:
        logger = logging.getLogger("bytenet.datasets")
        logger.warning("%s is odd.", "a.de")
        logger.error("It failed.")

    set_verb(train)
    with monkeypatch.context() as patch:
        patch.setattr(logging.root, "handlers", [])  # pytest has its own
        assert command("train") == (0, "", "warning: a.de is odd.\nerror: It failed.\n")


def test_characters_that_a_pipe_lacks_are_escaped(command, set_verb, monkeypatch):
    set_verb(lambda: click.echo("ä → a"))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    command("train")
    assert sys.stdout.buffer.getvalue() == b"\xe4 \\u2192 a\n"


def test_internal_error_is_not_hidden(command, failing_verb, monkeypatch):
    failing_verb(ZeroDivisionError("a bug"))
    monkeypatch.setattr(sys, "argv", ["bytenet", "train"])
    with pytest.raises(ZeroDivisionError, match="a bug"):
        main()


def test_a_closed_pipe_ends_the_command_quietly(command, failing_verb):
    failing_verb(BrokenPipeError(errno.EPIPE, "Broken pipe"))
    assert command("train") == (1, "", "")


def test_only_fit_uses_another_backend_than_tensorflow(command, failing_verb, monkeypatch):
    failing_verb(InputError("stop"))
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    _, _, messages = command("train")
    assert "KERAS_BACKEND=jax is ignored: only `bytenet fit`" in messages
    assert os.environ["KERAS_BACKEND"] == "tensorflow"
    assert "ignored" not in command("train")[2]
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    choose_backend("fit")
    assert os.environ["KERAS_BACKEND"] == "jax"
    assert command("settings", "--help")[2] == ""
    monkeypatch.setenv("KERAS_BACKEND", "pytorch")
    exit_code, _, messages = command("fit", "nowhere")
    assert exit_code == 2
    assert "KERAS_BACKEND is pytorch, but should be one of tensorflow, jax, torch." in messages


def test_missing_backend_is_explained(command, failing_verb):
    failing_verb(ModuleNotFoundError("No module named 'tensorflow'", name="tensorflow"))
    exit_code, _, messages = command("train")
    assert exit_code == 1
    assert messages == f"Error: {advice_on_missing('tensorflow', 'train')}\n"
