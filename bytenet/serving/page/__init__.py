"""The page that a browser shows: one document with its own style and script, which asks for nothing from elsewhere."""

import base64
import hashlib
import re
from importlib.resources import files


def read_page() -> str:
    """The HTML document, put together from its text, its style and its script."""
    folder = files(__name__)
    page, style, script = (
        folder.joinpath(name).read_text(encoding="utf-8") for name in ("page.html", "style.css", "script.js")
    )
    return page.replace("/* style.css */", style).replace("/* script.js */", script)


def content_security_policy(page: str) -> str:
    """What the browser may do for a page: run its own script and style, known by their hashes, and ask its server."""
    hashes = {tag: _hash_of(page, tag) for tag in ("style", "script")}
    return (
        f"default-src 'none'; style-src '{hashes['style']}'; script-src '{hashes['script']}'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _hash_of(page: str, tag: str) -> str:
    element = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
    assert element is not None
    return "sha256-" + base64.b64encode(hashlib.sha256(element[1].encode()).digest()).decode()
