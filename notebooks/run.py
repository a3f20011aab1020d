"""Run the notebooks from top to bottom and keep their outputs: `python notebooks/run.py [NOTEBOOK ...]`.

A notebook that is saved this way carries a mark of the sources that its outputs come from, which the tests check.
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

FOLDER = Path(__file__).parent
_SECONDS_A_CELL = 1200


class _ThisPython(KernelSpecManager):
    """Knows one kernel: the Python that runs this, whatever kernels of whatever name are installed."""

    def get_kernel_spec(self, kernel_name):
        return KernelSpec(**get_kernel_dict())


def execute(path: str | os.PathLike[str], folder: str | os.PathLike[str], **environment: str) -> nbformat.NotebookNode:
    """Run a notebook and give it back with its new outputs; its file stays as it is.

    Args:
        path: of the notebook.
        folder: that it runs in, and leaves its files in.
        **environment: variables, beside those of this process.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed; the message shows cell and traceback.
    """
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.metadata = {}
    client = NotebookClient(
        notebook,
        km=AsyncKernelManager(kernel_spec_manager=_ThisPython()),
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
    """A mark that changes with the source of any cell."""
    sources = json.dumps([[cell.cell_type, cell.source] for cell in notebook.cells])
    return hashlib.sha256(sources.encode()).hexdigest()


def main() -> None:
    """Run the notebooks that are named, or all, and save them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="of which files; all of this folder by default")
    for path in parser.parse_args().notebooks or sorted(FOLDER.glob("*.ipynb")):
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            notebook = execute(path, folder)
        nbformat.write(notebook, path)
        print(f"{path}: {time.monotonic() - began:.0f} seconds, {path.stat().st_size / 1000:.0f} kB", file=sys.stderr)


if __name__ == "__main__":
    main()
