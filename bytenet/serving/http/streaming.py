"""The operation `/translate/stream`: a translation while it is written, as server-sent events."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from concurrent.futures import Future
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

Result = TypeVar("Result")
_log = logging.getLogger(__name__)


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
            parts = engine.draft(piece.text)
            while part := await _in_time(deadline, service.threads.call(partial(next, parts, ""))):
                for character in part:
                    yield _event("draft", {"text": character})
            async with asyncio.timeout_at(deadline):
                sentence = await _sentence(service, engine, piece.text, parameters.alternatives)
            yield _event("sentence", sentence)
        yield _event("end", {})
    except Exception as error:
        status, text = failure(error)
        if status == 500:
            _log.exception("A stream failed.")
        yield _event("error", {"status": status, "error": text})


async def _in_time(deadline: float, future: Future[Result]) -> Result:
    async with asyncio.timeout_at(deadline):
        return await asyncio.wrap_future(future)


async def _sentence(service: Service, engine: Engine, sentence: str, num_alternatives: int) -> dict[str, Any]:
    num_candidates = engine.max_candidates if num_alternatives else 1
    (candidates,) = await asyncio.wrap_future(service.threads.translate(engine, [sentence], num_candidates))
    candidates = candidates[: num_alternatives + 1]
    content: dict[str, Any] = {
        "source": sentence,
        "candidates": [{"text": text, "score": round(score, 4)} for text, score in candidates],
    }
    if engine.has_attention:
        align = service.threads.call(lambda: engine.align(sentence, candidates[0].text))
        if (alignment := await asyncio.wrap_future(align)) is not None:
            content["attention"] = alignment._asdict()
    return content


def _event(name: str, content: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(content, ensure_ascii=False)}\n\n"
