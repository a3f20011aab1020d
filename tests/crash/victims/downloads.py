"""The download of a corpus from a slow server."""

import hashlib
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

from bytenet.datasets.corpora.entry import RemoteFile
from tests.crash.victims.victim import OUTPUT, Victim

_CHUNK_BYTES = 50_000
_SECONDS_A_CHUNK = 0.01

_PROGRAM = """
import sys
from pathlib import Path
from bytenet.datasets.corpora.entry import RemoteFile
from bytenet.datasets.corpora.preparation.download import download

url, checksum, destination = sys.argv[1:]
download(RemoteFile("corpus/corpus.bin", url, checksum), Path(destination))
"""


class _Server(ThreadingHTTPServer):
    """Sends one content bit by bit, from any byte on."""

    daemon_threads = True

    def __init__(self, content: bytes):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content = content
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self):
        wanted = self.headers.get("Range")
        rest = self.server.content[int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0 :]
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        try:
            for begin in range(0, len(rest), _CHUNK_BYTES):
                self.wfile.write(rest[begin : begin + _CHUNK_BYTES])
                time.sleep(_SECONDS_A_CHUNK)
        except ConnectionError:  # the victim was killed
            pass

    def log_message(self, *_):
        pass


class Download(Victim):
    """A download, which goes on where it was killed.

    Args:
        folder: as for every victim.
        num_bytes: size of the file.
    """

    name = "download"

    def __init__(self, folder: Path, num_bytes: int = 3_000_000):
        super().__init__(folder)
        self._server = _Server(Random(1).randbytes(num_bytes))

    @property
    def remote(self) -> RemoteFile:
        """The file on the server."""
        checksum = f"sha256:{hashlib.sha256(self._server.content).hexdigest()}"
        return RemoteFile("corpus/corpus.bin", f"http://127.0.0.1:{self._server.server_port}/corpus.bin", checksum)

    def command(self, case: Path) -> list[str]:
        destination = str(case / OUTPUT / "corpus.bin")
        return [sys.executable, "-c", _PROGRAM, self.remote.url, str(self.remote.checksum), destination]

    def unwhole(self, case: Path) -> list[str]:
        path = case / OUTPUT / "corpus.bin"
        return ["it is not the file"] if path.exists() and path.read_bytes() != self._server.content else []
