"""A file with both models has their shared weights once, and gives both back."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save

from bytenet.errors import InputError
from bytenet.lite.archive import COPIES, LITE_MODEL, WEIGHTS, Archive, packed
from bytenet.lite.shared_weights import entries_with_shared_weights, read_lite_model

RANDOM = np.random.default_rng(0)
ARRAYS = {
    "dense": RANDOM.normal(size=(32, 48)).astype("float16"),
    "convolution": RANDOM.normal(size=(3, 16, 24)).astype("float32"),
    "bias": RANDOM.normal(size=(8,)).astype("float32"),
    "odd bias": RANDOM.normal(size=(137,)).astype("float16"),  # its size is no multiple of 4 bytes
    "zeros": np.zeros((64, 64), "float32"),
}
WEIGHTS_FILE = save(ARRAYS)


def read(entries, tmp_path_factory) -> bytes:
    path = tmp_path_factory.getbasetemp() / "shared.bytenet"
    path.write_bytes(packed(entries))
    return read_lite_model(Archive(path))


def parts(*names) -> list[bytes]:
    """Weights in the layouts of LiteRT, by name: transposed, all taps at once, one tap, and bytes of a graph."""
    taps = ARRAYS["convolution"]
    return [
        {
            "same": ARRAYS["dense"].tobytes(),
            "transposed": ARRAYS["dense"].T.tobytes(),
            "taps": taps.transpose(2, 0, 1).tobytes(),
            "tap": taps[2].T.tobytes(),
            "bias": ARRAYS["bias"].tobytes(),
            "odd bias": ARRAYS["odd bias"].tobytes() + b"xy",
            "zeros": ARRAYS["zeros"].tobytes(),
            "graph": bytes(range(1, 253)),
            "odd": b"abc",
        }[name]
        for name in names
    ]


@pytest.mark.parametrize("name", ["same", "transposed", "taps", "tap"])
def test_each_layout_is_stored_once(name, tmp_path_factory):
    content = b"".join(parts("graph", name, "graph"))
    entries = entries_with_shared_weights(content, WEIGHTS_FILE)
    assert entries[LITE_MODEL] == b"".join(parts("graph", "graph"))
    assert entries[WEIGHTS] == WEIGHTS_FILE
    assert read(entries, tmp_path_factory) == content


def test_a_copy_of_any_size_does_not_hide_the_next_one():
    content = b"".join(parts("graph", "odd bias", "same"))
    assert entries_with_shared_weights(content, WEIGHTS_FILE)[LITE_MODEL] == parts("graph")[0] + b"xy"


@settings(max_examples=100, deadline=None)
@given(
    names=st.lists(st.sampled_from(["same", "transposed", "taps", "tap", "bias", "odd bias", "zeros", "graph", "odd"]))
)
def test_any_order_comes_back(names, tmp_path_factory):
    content = b"".join(parts(*names))
    assert read(entries_with_shared_weights(content, WEIGHTS_FILE), tmp_path_factory) == content


def test_a_model_with_other_weights_stays_whole():
    content = b"".join(parts("graph", "bias", "graph"))
    assert entries_with_shared_weights(content, WEIGHTS_FILE) == {LITE_MODEL: content, WEIGHTS: WEIGHTS_FILE}


def test_an_export_has_most_weights_once(model_path):
    archive = Archive(model_path)
    weights = load(archive.read(WEIGHTS))
    large = sum(values.nbytes for values in weights.values() if values.nbytes >= 256)
    assert COPIES in archive
    assert len(read_lite_model(archive)) - len(archive.read(LITE_MODEL)) > 0.8 * large


GOOD = [0, 1024, 4, [64], [0]]
HUGE = 10**4299  # as many digits as JSON may have


@pytest.mark.parametrize(
    "copies",
    [
        {}, {"copies": 3}, {"copies": [1]}, {"copies": [GOOD[:4]]}, {"copies": [["0", *GOOD[1:]]]},
        {"copies": [[0, 1024, 3, [100], [0]]]}, {"copies": [[0, 1024, 4, [10**9], [0]]]},
        {"copies": [[0, 1024, 4, [64], [1]]]}, {"copies": [[0, 10**9, 4, [64], [0]]]},
        {"copies": [[10**9, 1024, 4, [64], [0]]]}, {"copies": [[0, 1024, 0, [64], [0]]]},
        {"copies": [[0, 1024, 4, [4], [0]]]}, {"copies": [[256, *GOOD[1:]], [128, *GOOD[1:]]]},
        {"copies": [[0, 1024, 4, [-64], [0]]]}, {"copies": [[0, 1024, 4, [64, True], [0, 1]]]},
        {"copies": [[256 * number, *GOOD[1:]] for number in range(1000)]},
        {"copies": [[0, 0, 4, [HUGE] * 300, [0]]]}, {"copies": [[0, 0, 1, [1] * 300, [0]]]},
    ],
)  # fmt: skip
def test_copies_that_do_not_fit_are_refused(copies, tmp_path_factory):
    entries = {LITE_MODEL: parts("graph")[0], WEIGHTS: WEIGHTS_FILE, COPIES: json.dumps(copies).encode()}
    with pytest.raises(InputError, match=r"copies\.json of .* does not fit"):
        read(entries, tmp_path_factory)


def test_a_copy_that_fits_is_read(tmp_path_factory):
    entries = {LITE_MODEL: b"ab", WEIGHTS: WEIGHTS_FILE, COPIES: json.dumps({"copies": [GOOD]}).encode()}
    assert read(entries, tmp_path_factory) == WEIGHTS_FILE[1024 : 1024 + 256] + b"ab"


def test_copies_without_weights_are_refused(tmp_path_factory):
    with pytest.raises(InputError, match=r"has no weights\.safetensors"):
        read({LITE_MODEL: b"", COPIES: b'{"copies": []}'}, tmp_path_factory)


_SMALL = st.integers(-2, 400) | st.integers() | st.none() | st.floats() | st.text(max_size=2)
_COPY = st.tuples(_SMALL, _SMALL, st.sampled_from([1, 2, 4, 8, 3, -1]), st.lists(_SMALL), st.lists(_SMALL))


@settings(max_examples=300, deadline=None)
@given(copies=st.lists(_COPY, max_size=3))
def test_any_other_copies_give_a_model_or_one_kind_of_error(copies, tmp_path_factory):
    listed = json.dumps({"copies": copies}).encode()
    try:
        content = read({LITE_MODEL: bytes(99), WEIGHTS: WEIGHTS_FILE, COPIES: listed}, tmp_path_factory)
    except InputError:
        return
    assert 99 <= len(content) <= 99 + 3 * len(WEIGHTS_FILE)
