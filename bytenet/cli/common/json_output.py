"""Results as JSON on standard output."""

import json
import sys

import click


def print_json(content: object) -> None:
    """Print a value as indented JSON.

    Characters beyond ASCII are escaped if standard output has another encoding than UTF-8, which may lack them.

    Args:
        content: dictionaries, lists, texts and numbers.
    """
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("_", "-")
    click.echo(json.dumps(content, indent=2, ensure_ascii=encoding not in ("utf-8", "utf8")))
