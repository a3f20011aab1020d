"""What the operations of the server share: its engines, its limits and the checks of requests."""

import asyncio
import hmac
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from bytenet.serving.engines.directions import Directions
from bytenet.serving.engines.engine import Engine
from bytenet.serving.http.language_detection import LanguageDetector
from bytenet.serving.http.parameters import TextParameters, TranslateParameters
from bytenet.serving.http.settings import ServerSettings
from bytenet.serving.work.translating_threads import TranslatingThreads

Result = TypeVar("Result")
Detected = tuple[str, float]


class Service:
    """The parts of a server.

    Args:
        directions: the engines by their languages.
        threads: translate.
        settings: limits and rights.
    """

    def __init__(self, directions: Directions, threads: TranslatingThreads, settings: ServerSettings):
        self.directions = directions
        self.threads = threads
        self.settings = settings
        self._detector = LanguageDetector(directions.sources)

    def check(self, parameters: TextParameters) -> None:
        """Check what a request may do.

        Raises:
            HTTPException: 403 if a key is needed and the request has none; 413 if its texts are too many or too long.
        """
        self._check_key(parameters.api_key)
        self._check_size(parameters.texts)

    def _check_key(self, api_key: str | None) -> None:
        keys = self.settings.api_keys
        given = _as_bytes(api_key or "")
        # All keys are compared, and each in constant time, so that the time tells nothing about them.
        if keys and not sum(hmac.compare_digest(_as_bytes(key), given) for key in keys):
            raise HTTPException(403, "The API key is missing or wrong. Send the parameter api_key.")

    def _check_size(self, texts: list[str]) -> None:
        num_chars, settings = sum(map(len, texts)), self.settings
        if num_chars > settings.max_chars:
            raise HTTPException(
                413,
                f"The text has {num_chars:,} characters; at most {settings.max_chars:,} are translated at once. "
                "Send it in parts.",
            )
        if len(texts) > settings.max_texts:
            raise HTTPException(
                413,
                f"There are {len(texts):,} texts; at most {settings.max_texts:,} are translated at once. Send fewer.",
            )

    async def choose(self, parameters: TranslateParameters) -> tuple[Engine, Detected | None]:
        """The engine for a request, and the language of its text if it was asked for.

        Raises:
            HTTPException: 400 for HTML, or for too many alternatives.
            InputError: no engine translates between the languages.
        """
        if parameters.format != "text":
            raise HTTPException(400, 'The format must be "text". Markup is not translated; remove it from the text.')
        detected = None
        source = parameters.source
        if source == "auto":
            ranked = await self.detect("\n".join(parameters.texts))
            # Take the first language that can be translated to the target. If there is none, the error names the most
            # probable language.
            translated = (one for one in ranked if parameters.target in self.directions.targets(one[0]))
            detected = next(translated, ranked[0])
            source = detected[0]
        engine = self.directions.find(source, parameters.target)
        if parameters.alternatives >= engine.max_candidates:
            raise HTTPException(
                400, f"There are at most {engine.max_candidates - 1} alternatives. Set alternatives to that or less."
            )
        return engine, detected

    async def detect(self, text: str) -> list[Detected]:
        """The languages that the server reads with their confidence in percent, most probable first."""
        return await asyncio.to_thread(self._detector.rank, text)


def _as_bytes(key: str) -> bytes:
    """A key for the comparison. It may have halves of surrogate pairs, from JSON or the environment."""
    return key.encode("utf-8", "surrogatepass")


async def unless_client_leaves(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Wait for the result of some work; stop it if the client closes the connection.

    Args:
        request: its body must have been read.
        work: cancelled when the client leaves.

    Raises:
        ClientDisconnect: the client left.
    """
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_departure(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


async def _departure(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
