"""Run the notebooks from top to bottom and save their outputs: `python notebooks/run.py [NOTEBOOK ...]`.

A saved notebook contains a digest of its code. The tests compare it with the code, to find outdated outputs.
"""

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from ipykernel.kernelspec import get_kernel_dict
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from nbclient import NotebookClient
from traitlets import Instance

FOLDER = Path(__file__).parent
_SECONDS_A_CELL = 1200


class _ThisPython(KernelSpecManager):
    """Knows only one kernel: the Python that runs this program. Installed kernels are ignored."""

    def get_kernel_spec(self, kernel_name):
        return KernelSpec(**get_kernel_dict())


class _KernelManager(AsyncKernelManager):
    """A manager of that kernel. The client makes it and, because it made it, stops the kernel at the end."""

    kernel_spec_manager = Instance(_ThisPython, ())


def execute(path: str | os.PathLike[str], folder: str | os.PathLike[str], **environment: str) -> nbformat.NotebookNode:
    """Run a notebook without changing its file.

    Args:
        path: path of the notebook.
        folder: working folder, for the files that it writes.
        **environment: environment variables, in addition to those of this process.

    Returns:
        The notebook with its new outputs.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed. The message shows the cell and the traceback.
    """
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.metadata = {}
    client = NotebookClient(
        notebook,
        kernel_manager_class=_KernelManager,
        timeout=_SECONDS_A_CELL,
        record_timing=False,
        resources={"metadata": {"path": os.fspath(folder)}},
    )
    client.execute(env={**os.environ, **environment})
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "executed_sources": sources_digest(notebook),
    }
    return nbformat.from_dict(notebook)


def sources_digest(notebook: nbformat.NotebookNode) -> str:
    """A digest of the sources of the code cells, as hexadecimal digits."""
    sources = json.dumps([cell.source for cell in notebook.cells if cell.cell_type == "code"])
    return hashlib.sha256(sources.encode()).hexdigest()


def main() -> None:
    """Run the given notebooks, or all notebooks of this folder, and save them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="notebooks to run; all of this folder by default")
    for path in parser.parse_args().notebooks or sorted(FOLDER.glob("*.ipynb")):
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            notebook = execute(path, folder)
        nbformat.write(notebook, path)
        print(f"{path}: {time.monotonic() - began:.0f} seconds, {path.stat().st_size / 1000:.0f} kB", file=sys.stderr)


if __name__ == "__main__":
    main()
