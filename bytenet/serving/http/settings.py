"""What an administrator decides about a server."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class ServerSettings:
    """Limits and rights.

    Attributes:
        max_chars: largest number of characters of all texts of a request together.
        max_texts: largest number of texts of a request.
        max_requests: largest number of requests that are translated or wait for it.
        timeout_seconds: a request that takes longer is given up. A stream is given up if one sentence takes longer.
        api_keys: one of them must come with each request that translates or detects. None are needed if it is empty.
        allowed_origins: websites whose scripts may use the server; "*" for all.
        into_sentences: split lines into sentences before they are translated.
        num_threads: number of batches that are translated at the same time.
    """

    max_chars: int = 5000
    max_texts: int = 100
    max_requests: int = 256
    timeout_seconds: float = 120.0  # the pretrained models need .5 to 1.5 s for a sentence on a core, with LiteRT
    api_keys: frozenset[str] = field(default=frozenset(), repr=False)
    allowed_origins: tuple[str, ...] = ()
    into_sentences: bool = True
    num_threads: int = 1

    @property
    def max_body_bytes(self) -> int:
        """The largest body of a request: a form needs up to 12 bytes for a character, and about 100 for a field."""
        return 12 * self.max_chars + 256 * self.max_texts + 65_536

    @property
    def max_fields(self) -> int:
        """Largest number of fields of a form: enough for `max_texts` texts and all other parameters."""
        return max(1000, self.max_texts + 10)
