"""Requests to the operation `/translate`."""

import requests

SENTENCE = {"q": "abc", "source": "de", "target": "en"}

FIELDS = b"".join(
    b'%s--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s' % parts
    for parts in ((b"", b"source", b"de"), (b"\r\n", b"target", b"en"), (b"\r\n", b"q", b""))
)


def answer(address, **arguments):
    return requests.post(f"{address}translate", timeout=60, **arguments)
