"""Fuzzing led by coverage: `python -m tests.fuzz.coverage_guided configurations -runs=10000 -seed=1`.

atheris looks which lines of a reader a case reaches, and goes on from those that reach new ones. The targets are those
of `python -m tests.fuzz`; the arguments after the name are those of libFuzzer. The first case that ends in anything but
an `InputError` stops the process.
"""

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import atheris

from bytenet.errors import InputError
from tests.fuzz.targets import target_class

# What is looked at. Other packages, such as TensorFlow, would only make it slow.
_READERS = ["bytenet.config", "bytenet.datasets", "bytenet.limits", "bytenet.csv_log", "bytenet.run_folder", "yaml"]


def main() -> None:
    """Fuzz the target that the first argument names."""
    name, *options = sys.argv[1:]
    folder = Path(tempfile.mkdtemp(prefix="bytenet-fuzz-"))
    with atheris.instrument_imports(include=_READERS):
        target = target_class(name)(folder)
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(target.seeds):
        (corpus / str(number)).write_bytes(seed)

    def read(content: bytes) -> None:
        target.path.write_bytes(content)
        with suppress(InputError):
            target.read()

    os.chdir(folder)
    for seed in target.seeds:
        read(seed)  # the first calls import modules
    # The timeout is of the clock on the wall: other work on the machine counts.
    atheris.Setup([sys.argv[0], str(corpus), "-timeout=30", "-rss_limit_mb=2048", "-max_len=4096", *options], read)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
