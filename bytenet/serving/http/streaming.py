"""The operation `/translate/stream`: a translation while it is written, as server-sent events."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from bytenet.lite.sentences import adapt_gaps
from bytenet.serving.engines.engine import Engine
from bytenet.serving.http.errors import failure
from bytenet.serving.http.parameters import StreamParameters, described_parameters, read_parameters
from bytenet.serving.http.service import Service
from bytenet.serving.work.texts import split_for
from bytenet.serving.work.translating_threads import QueueFullError

Result = TypeVar("Result")
_log = logging.getLogger(__name__)

# Of the time of a sentence. The full search has the rest, even if the draft is not complete by then.
_SHARE_OF_DRAFT = 0.5
_MOST_SECONDS_OF_DRAFT = 15.0


def streaming_routes(service: Service) -> APIRouter:
    """The routes that send a translation while it is written."""
    router = APIRouter()
    described = described_parameters(StreamParameters)
    described["responses"] = {"200": {"description": "events", "content": {"text/event-stream": {}}}}

    @router.post("/translate/stream", response_class=StreamingResponse, openapi_extra=described)
    async def stream(request: Request) -> StreamingResponse:
        """Translate a text, sentence by sentence, and send each character as soon as it is written.

        Events: `gap` has blanks and line ends between sentences; `draft` has the next character of a sentence, as
        greedy search writes it; `sentence` has the translation by the full search, which replaces the draft, with the
        other candidates, their scores, and the attention of a model that has some; `end` comes at the end; `error`
        comes instead if something goes wrong.
        """
        async with asyncio.timeout(service.settings.timeout_seconds):
            parameters = await read_parameters(request, StreamParameters, service.settings.max_fields)
            service.check(parameters)
            engine, _ = await service.choose(parameters)
        events = _events(service, engine, parameters)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(events, media_type="text/event-stream", headers=headers)

    return router


async def _events(service: Service, engine: Engine, parameters: StreamParameters) -> AsyncIterator[str]:
    """The events of a text. If the client leaves, this is cancelled and so is the work that waits."""
    try:
        pieces = split_for(engine, parameters.q, service.settings.into_sentences)
        for piece in adapt_gaps(pieces, engine.languages):
            if not piece.is_sentence:
                yield _event("gap", {"text": piece.text})
                continue
            # The reader sees that it goes on, so only a sentence that takes too long ends the stream.
            deadline = asyncio.get_running_loop().time() + service.settings.timeout_seconds
            async for character in _draft(service, engine, piece.text):
                yield _event("draft", {"text": character})
            sentence = await _sentence(service, engine, piece.text, parameters.alternatives, deadline)
            yield _event("sentence", sentence)
        yield _event("end", {})
    except Exception as error:
        status, text = failure(error)
        if status == 500:
            _log.exception("A stream failed.")
        yield _event("error", {"status": status, "error": text})


async def _draft(service: Service, engine: Engine, sentence: str) -> AsyncIterator[str]:
    """The characters of a draft. A busy server ends it early, because the full search comes anyway."""
    seconds = min(_SHARE_OF_DRAFT * service.settings.timeout_seconds, _MOST_SECONDS_OF_DRAFT)
    deadline = asyncio.get_running_loop().time() + seconds
    parts = engine.draft(sentence)
    with suppress(QueueFullError, TimeoutError):
        while part := await _in_time(deadline, service.threads.call(partial(next, parts, ""))):
            for character in part:
                yield character


async def _in_time(deadline: float, future: Future[Result]) -> Result:
    async with asyncio.timeout_at(deadline):
        return await asyncio.wrap_future(future)


async def _sentence(
    service: Service, engine: Engine, sentence: str, num_alternatives: int, deadline: float
) -> dict[str, Any]:
    num_candidates = engine.max_candidates if num_alternatives else 1
    (candidates,) = await _in_time(deadline, service.threads.translate(engine, [sentence], num_candidates))
    candidates = candidates[: num_alternatives + 1]
    content: dict[str, Any] = {
        "source": sentence,
        "candidates": [{"text": text, "score": round(score, 4)} for text, score in candidates],
    }
    if engine.has_attention:
        with suppress(QueueFullError, TimeoutError):  # the translation is worth sending without its attention
            align = service.threads.call(lambda: engine.align(sentence, candidates[0].text))
            if (alignment := await _in_time(deadline, align)) is not None:
                content["attention"] = alignment._asdict()
    return content


def _event(name: str, content: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(content, ensure_ascii=False)}\n\n"
