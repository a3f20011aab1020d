"""Nothing of TensorFlow, Keras or the rest of this package is imported."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from shutil import copy2, copytree, ignore_patterns

import pytest

ROOT = Path(__file__).parents[2]
# Imports of other modules of this package, or of what they need, fail.
WITHOUT = """
import importlib.abc, sys
REFUSED = {"tensorflow", "keras", "tensorflow_text", "tensorflow_intel", "pydantic", "click", "safetensors", "yaml"}

class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        ours = name.startswith("bytenet.") and not name.startswith(("bytenet.lite", "bytenet.errors"))
        if ours or name.partition(".")[0] in REFUSED:
            raise AssertionError(f"{name} was imported")

sys.meta_path.insert(0, Refuse())
"""
PROGRAM = f"""{WITHOUT}
from bytenet.lite import Translator
import json
lines = json.loads(sys.argv[2])
print(json.dumps([best.text for best, *_ in Translator(sys.argv[1]).translate(lines)]))
"""


def test_translation_needs_only_numpy_and_the_runtime(model_path, lite, lines):
    output = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(model_path), json.dumps(lines)], cwd=ROOT, capture_output=True, check=True
    ).stdout
    assert json.loads(output) == [best.text for best, *_ in lite.translate(lines)]


def test_the_command_needs_no_more_and_hides_the_remarks_of_the_runtime(model_path):
    program = f"{WITHOUT}\nimport runpy\nrunpy.run_module('bytenet.lite', run_name='__main__')"
    text = "ein Hund ☃\n".encode()
    for arguments, out, err in (
        ([str(model_path)], b"", "'☃' (U+2603)".encode()), (["--card", str(model_path)], b"# A model\n", b""),
        (["--models"], b"de-en: de to en", b""),
    ):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments], cwd=ROOT, input=text, capture_output=True, check=True
        )
        assert out in done.stdout
        assert err in done.stderr
        assert done.stderr.count(b"\n") <= 1
        assert b"XNNPACK" not in done.stderr


@pytest.mark.thorough
def test_distribution_has_these_modules_alone_and_translates(model_path, lite, tmp_path):
    # A copy, because a build leaves files beside its source, and the next build would pack them.
    copytree(ROOT / "lite", tmp_path / "source", ignore=ignore_patterns("build", "*.egg-info", "__pycache__"))
    copy2(model_path, tmp_path / "source" / "bytenet" / "pretrained" / "xx-yy.bytenet")
    subprocess.run(
        [
            sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
            "--wheel-dir", tmp_path, tmp_path / "source",
        ],
        check=True,
    )  # fmt: skip
    [wheel] = tmp_path.glob("bytenet_lite-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    modules = {str(path.relative_to(tmp_path / "site")) for path in (tmp_path / "site").rglob("*.py")}
    of_lite = {f"bytenet/lite/{path.name}" for path in (ROOT / "bytenet" / "lite").glob("*.py")}
    assert modules == {"bytenet/__init__.py", "bytenet/errors.py", *of_lite}
    output = subprocess.run(
        [sys.executable, "-m", "bytenet.lite", "xx-yy"], cwd=tmp_path / "site", input=b"ein\n\nzwei\n",
        capture_output=True, check=True,
    ).stdout  # fmt: skip
    expected = [best.text for best, *_ in lite.translate(["ein", "", "zwei"])]
    assert output.decode().split("\n") == [*expected, ""]
