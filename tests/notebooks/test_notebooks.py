"""The notebooks run from top to bottom, and their saved outputs come from such a run."""

import ast
import importlib.util
import os
import re
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
_LARGEST_BYTES = 600_000
_PATH = re.compile(r"(?<![\w.:/<])/(work|tmp|home|root|Users|usr|opt|var|mnt|srv|private)/[\w.-]+")

# A kernel runs this before the first cell.
_SMALL_PRODUCT = """
import sys

def make_product_small(result):
    if peak := sys.modules.get("bytenet.profiling.benchmarks.peak"):
        peak._WIDTH = 64

get_ipython().events.register("post_run_cell", make_product_small)
"""

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def runner():
    """notebooks/run.py, which is not part of a package."""
    spec = importlib.util.spec_from_file_location("notebooks_run", FOLDER / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(notebook) -> str:
    """All text in the outputs."""
    texts = []
    for cell in code_cells(notebook):
        for output in cell.outputs:
            texts.append(output.get("text", ""))
            texts += [text for kind, text in output.get("data", {}).items() if kind.startswith("text/")]
    return "\n".join(texts)


def pictures(notebook) -> int:
    return sum("image/png" in output.get("data", {}) for cell in code_cells(notebook) for output in cell.outputs)


def check_outputs(notebook):
    """Check that it ran once from top to bottom, without errors, messages or folder names of this machine."""
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    kinds = {output.output_type for cell in cells for output in cell.outputs}
    assert kinds <= {"display_data", "execute_result", "stream"}
    assert not [output.text for cell in cells for output in cell.outputs if output.get("name") == "stderr"]
    assert not _PATH.findall(printed(notebook))
    assert str(Path.home()) not in printed(notebook)


def test_both_notebooks_exist():
    assert [path.name for path in NOTEBOOKS] == ["read-your-trace.ipynb", "why-bytenet-is-slow.ipynb"]


@each_notebook
def test_saved_outputs_match_the_cells(path, runner):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    again = f"Run it again with: python notebooks/run.py notebooks/{path.name}"
    assert notebook.metadata.get("executed_sources") == runner.sources_digest(notebook), again
    check_outputs(notebook)
    # Only the first cells, which import and define, may have no output.
    assert sum(bool(cell.outputs) for cell in code_cells(notebook)) >= len(code_cells(notebook)) - 2
    assert pictures(notebook) >= 2
    assert path.stat().st_size < _LARGEST_BYTES


@each_notebook
def test_imports_of_the_cells_exist(path):
    tree = ast.parse("\n".join(cell.source for cell in code_cells(nbformat.read(path, as_version=4))))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert any("bytenet" in ast.unparse(node) for node in imports)
    for node in imports:
        exec(ast.unparse(node), {})


@pytest.fixture
def small_product(tmp_path_factory):
    """The environment of a kernel with small matrices for the peak. Large ones would take a fifth of the time."""
    folder = tmp_path_factory.mktemp("ipython")
    startup = folder / "profile_default" / "startup" / "small_product.py"
    startup.parent.mkdir(parents=True)
    startup.write_text(_SMALL_PRODUCT, encoding="utf-8")
    return {"IPYTHONDIR": os.fspath(folder)}


@pytest.mark.thorough
def test_notebook_on_speed_runs_from_top_to_bottom(tmp_path, runner, small_product):
    path = FOLDER / "why-bytenet-is-slow.ipynb"
    notebook = runner.execute(path, tmp_path, BYTENET_NOTEBOOK_SCALE="small", **small_product)
    check_outputs(notebook)
    text = printed(notebook)
    assert "models of width 16 with 2 blocks" in text
    for group in ("normalisation", "convolution", "dense", "backward", "pre-normalization", "conv-dilated"):
        assert f"| {group} |" in text, group
    assert pictures(notebook) == 4


@pytest.mark.thorough
def test_notebook_captures_a_trace_and_reads_it_as_an_own_trace(tmp_path, runner):
    path = FOLDER / "read-your-trace.ipynb"
    captured = runner.execute(path, tmp_path, BYTENET_NOTEBOOK_SCALE="small", BYTENET_TRACE="")
    check_outputs(captured)
    (file,) = tmp_path.rglob("*.xplane.pb")
    assert str(file.relative_to(tmp_path)) in printed(captured)
    assert "tensorboard --logdir runs/trace-" in printed(captured)
    assert pictures(captured) == 2

    own = runner.execute(path, tmp_path, BYTENET_TRACE=os.fspath(file))
    assert f"Read `{file}`" in printed(own)
    assert list(tmp_path.rglob("*.xplane.pb")) == [file]
    # The same file gives the same tables.
    assert [line for line in printed(own).splitlines() if line.startswith("| ")] == [
        line for line in printed(captured).splitlines() if line.startswith("| ")
    ]
