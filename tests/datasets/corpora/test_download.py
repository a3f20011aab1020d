"""Downloads are resumed, checked, and explained when they fail."""

import errno
import hashlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
import urllib3

from bytenet.datasets.corpora.entry import RemoteFile
from bytenet.datasets.corpora.preparation import lookup
from bytenet.datasets.corpora.preparation.download import DownloadError, download
from bytenet.errors import InputError, MissingFileError
from bytenet.folder_lock import alone_in


@pytest.fixture
def remote(server):
    """The file on the server, with its checksum."""
    return RemoteFile("corpus/corpus.gz", server.url, f"sha256:{hashlib.sha256(server.content).hexdigest()}")


def contents(folder):
    return [file.name for file in folder.iterdir() if file.name != ".lock"]


def test_download_is_complete_and_reported_on_stderr(server, remote, tmp_path, capfd):
    path = download(remote, tmp_path / "folder" / "corpus.gz")
    assert path.read_bytes() == server.content
    assert contents(path.parent) == ["corpus.gz"]
    out, err = capfd.readouterr()
    assert out == ""
    assert "corpus.gz" in err


def test_broken_download_resumes_where_it_stopped(server, remote, tmp_path):
    path = tmp_path / "corpus.gz"
    server.mode = "breaks"
    with pytest.raises(DownloadError):
        download(remote, path)
    assert not path.exists()
    part = tmp_path / "corpus.gz.part"
    assert 0 < part.stat().st_size <= server.break_after
    have = part.stat().st_size
    server.mode = "works"
    assert download(remote, path).read_bytes() == server.content
    assert server.ranges == [None, f"bytes={have}-"]
    assert not part.exists()


def test_server_without_ranges_restarts_the_download(server, remote, tmp_path):
    (tmp_path / "corpus.gz.part").write_bytes(server.content[:1000])
    server.mode = "no ranges"
    assert download(remote, tmp_path / "corpus.gz").read_bytes() == server.content


def test_a_file_without_a_checksum_is_not_continued(server, tmp_path):
    (tmp_path / "corpus.gz.part").write_bytes(b"of yesterday's file")
    assert download(RemoteFile("c/corpus.gz", server.url), tmp_path / "corpus.gz").read_bytes() == server.content
    assert server.ranges == [None]


def test_partial_file_with_the_whole_content_is_used(server, remote, tmp_path):
    (tmp_path / "corpus.gz.part").write_bytes(server.content)
    assert download(remote, tmp_path / "corpus.gz").read_bytes() == server.content


def test_partial_file_longer_than_the_remote_file_is_deleted(server, remote, tmp_path):
    part = tmp_path / "corpus.gz.part"
    part.write_bytes(server.content + b"more")
    with pytest.raises(DownloadError, match="has changed since the download began"):
        download(remote, tmp_path / "corpus.gz")
    assert not part.exists()


@pytest.mark.parametrize("begun", [b"", b"another file's beginning"])
def test_wrong_checksum_leaves_no_file(server, tmp_path, begun):
    if begun:
        (tmp_path / "corpus.gz.part").write_bytes(begun)
    digest = hashlib.sha256(server.content).hexdigest() if begun else "0" * 64
    with pytest.raises(DownloadError, match="checksum is not the expected one"):
        download(RemoteFile("c/corpus.gz", server.url, f"sha256:{digest}"), tmp_path / "corpus.gz")
    assert contents(tmp_path) == []


def test_http_error_is_reported(server, remote, tmp_path):
    server.mode = "missing"
    with pytest.raises(DownloadError, match="404 Not Found"):
        download(remote, tmp_path / "corpus.gz")
    assert contents(tmp_path) == []


def test_full_disk_is_reported_and_the_partial_file_is_kept(remote, tmp_path, monkeypatch):
    def write(response, part, have, total):
        part.write_bytes(b"some")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("bytenet.datasets.corpora.preparation.download._write", write)
    with pytest.raises(InputError, match=r"the disk is full.*the download will continue"):
        download(remote, tmp_path / "corpus.gz")
    assert contents(tmp_path) == ["corpus.gz.part"]


def test_download_waits_for_the_same_download_in_another_process(server, remote, tmp_path, monkeypatch):
    path = tmp_path / "corpus.gz"
    waits = threading.Event()

    def note(text):
        if text.startswith(f"Another process downloads a corpus in {tmp_path}. Waiting"):
            waits.set()

    monkeypatch.setattr(sys.stderr, "write", note)
    with ThreadPoolExecutor(1) as thread:
        with alone_in(tmp_path, "works"):  # acts as the other process
            found = thread.submit(download, remote, path)
            assert waits.wait(20)
            path.write_bytes(b"by the other")
        assert found.result(timeout=20).read_bytes() == b"by the other"
    assert server.ranges == []


def test_download_works_on_a_file_system_without_locks(server, remote, tmp_path, monkeypatch):
    def refuse(file, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    assert download(remote, tmp_path / "corpus.gz").read_bytes() == server.content


def test_fetch_downloads_once_into_the_cache(server, remote, cache):
    assert lookup.fetch(remote) == lookup.fetch(remote) == cache / "corpus" / "corpus.gz"
    assert len(server.ranges) == 1


def test_fetch_looks_under_bytenet_data_first(offline, remote, data_folder):
    path = data_folder("corpus/corpus.gz", ["text"])
    assert lookup.fetch(remote) == path


def test_offline_error_says_what_to_fetch_and_where_to_put_it(offline, remote, cache):
    with pytest.raises(InputError) as caught:
        lookup.fetch(remote)
    for part in (remote.url, "no connection to 127.0.0.1", "corpus/corpus.gz", "BYTENET_DATA", str(cache)):
        assert part in str(caught.value)


@pytest.mark.parametrize("mode", ["missing", "breaks"])
def test_only_an_interrupted_download_is_said_to_continue(server, remote, cache, mode):
    server.mode = mode
    with pytest.raises(InputError) as caught:
        lookup.fetch(remote)
    message = str(caught.value)
    assert ("the download will continue" in message) == (mode == "breaks")
    refused = f"{remote.url} could not be downloaded: the server answered 404 Not Found. Look at this address in a"
    assert message.startswith(refused) == (mode == "missing")
    assert message.endswith(f"or at {cache / 'corpus' / 'corpus.gz'}.")


def test_a_wrong_checksum_is_not_blamed_on_the_network(server, cache):
    with pytest.raises(InputError, match=r"checksum is not .*; the file was deleted\. Look at this address"):
        lookup.fetch(RemoteFile("c/corpus.gz", server.url, f"sha256:{'0' * 64}"))


@pytest.mark.parametrize(
    ("kind", "reason", "message"),
    [
        (
            requests.exceptions.SSLError,
            urllib3.exceptions.SSLError("certificate has expired"),
            r": no safe connection to 127\.0\.0\.1: certificate has expired\. Check the date and the certificates of",
        ),
        (
            requests.exceptions.ProxyError,
            urllib3.exceptions.ProxyError("Unable to connect to proxy", OSError("refused")),
            r": no connection through the proxy: refused\. Check the variables http_proxy and https_proxy",
        ),
    ],
)
def test_certificates_and_proxies_are_not_called_a_missing_network(remote, cache, monkeypatch, kind, reason, message):
    def get(url, **_):
        raise kind(urllib3.exceptions.MaxRetryError(None, url, reason))

    monkeypatch.setattr(requests, "get", get)
    with pytest.raises(InputError, match=message) as caught:
        lookup.fetch(remote)
    assert "network" not in str(caught.value)
    assert f"Or fetch the file elsewhere and put it at FOLDER/{remote.path}" in str(caught.value)


def test_offline_error_names_the_users_folder(offline, remote, data_folder, tmp_path):
    with pytest.raises(InputError, match=f"put it at {tmp_path}/data/corpus/corpus.gz"):
        lookup.fetch(remote)


def test_bytenet_data_that_is_not_a_folder_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("BYTENET_DATA", str(tmp_path / "gone"))
    with pytest.raises(MissingFileError, match=r"BYTENET_DATA is .*gone.*not a folder"):
        lookup.data_folder()


def test_one_side_without_the_other_is_refused(data_folder):
    data_folder("multi30k/train.de.gz", ["eins"])
    with pytest.raises(MissingFileError, match=r"train\.de\.gz exists, but its other side .*train\.en\.gz does not"):
        lookup.local_pairs("multi30k", "train", "de", "en")


def test_plain_files_are_read_like_gzip_files(data_folder):
    data_folder("multi30k/train.de", ["eins"])
    data_folder("multi30k/train.en.gz", ["one"])
    assert lookup.local_pairs("multi30k", "train", "en", "de").source == ["one"]
    assert lookup.local_pairs("multi30k", "val", "en", "de") is None


def test_message_does_not_promise_to_continue_without_a_checksum(server, tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("bytenet.datasets.corpora.preparation.download._write", fail)
    with pytest.raises(InputError, match="the download will begin again"):
        download(RemoteFile("c/corpus.gz", server.url), tmp_path / "corpus.gz")
