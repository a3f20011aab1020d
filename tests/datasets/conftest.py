"""Fixtures for corpora: folders that belong to one test, and a web server that can fail."""

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    """Hide all corpora except the test's own, and return the folder of an empty cache."""
    monkeypatch.delenv("BYTENET_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "bytenet"


@pytest.fixture
def offline(monkeypatch):
    """A machine without network."""
    import requests

    def get(url, **_):
        raise requests.ConnectionError(f"no way to {url}")

    monkeypatch.setattr(requests, "get", get)


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    """A function that writes lines to a file in a new folder, to which BYTENET_DATA is set."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("BYTENET_DATA", str(folder))

    def write(name: str, lines: list[str]) -> Path:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        content = "".join(line + "\n" for line in lines).encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


@pytest.fixture
def server():
    """A local web server with one file, `content`. `mode` sets how it is sent; `ranges` records the requests."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            wanted = self.headers.get("Range")
            web.ranges.append(wanted)
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
            if web.mode == "missing":
                self.send_error(404)
                return
            if web.mode == "no ranges":
                start, wanted = 0, None
            if wanted and start >= len(web.content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(web.content)}")
                self.end_headers()
                return
            body = web.content[start:]
            self.send_response(206 if wanted else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: web.break_after] if web.mode == "breaks" else body)

        def log_message(self, *_):
            pass

    class Web(ThreadingHTTPServer):
        content = bytes(range(256)) * 1000
        mode = "works"
        break_after = 100_000

    web = Web(("127.0.0.1", 0), Handler)
    web.ranges = []
    web.url = f"http://127.0.0.1:{web.server_port}/corpus.gz"
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield web
    web.shutdown()
    web.server_close()
    thread.join()
