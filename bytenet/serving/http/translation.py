"""The operation `/translate`: whole texts in, whole texts out."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request

from bytenet.serving.http.parameters import TranslateParameters, described_parameters, read_parameters
from bytenet.serving.http.service import Detected, Service, unless_client_leaves
from bytenet.serving.work.texts import translate_texts


def translation_routes(service: Service) -> APIRouter:
    """The routes that translate texts."""
    router = APIRouter()

    @router.post("/translate", openapi_extra=described_parameters(TranslateParameters))
    async def translate(request: Request) -> dict[str, Any]:
        """Translate a text or a list of texts. A list gives lists."""
        async with asyncio.timeout(service.settings.timeout_seconds):
            parameters = await read_parameters(request, TranslateParameters, service.settings.max_fields)
            return await unless_client_leaves(request, _answer(service, parameters))

    return router


async def _answer(service: Service, parameters: TranslateParameters) -> dict[str, Any]:
    service.check(parameters)
    engine, detected = await service.choose(parameters)
    translated = await translate_texts(
        service.threads, engine, parameters.texts, parameters.alternatives, service.settings.into_sentences
    )

    def shaped(values: list) -> Any:
        return values if isinstance(parameters.q, list) else values[0]

    answer = {"translatedText": shaped([text.best for text in translated])}
    if parameters.alternatives:
        answer["alternatives"] = shaped([text.alternatives(parameters.alternatives) for text in translated])
    if detected is not None:
        answer["detectedLanguage"] = shaped([described_language(detected)] * len(translated))
    return answer


def described_language(detected: Detected) -> dict[str, Any]:
    """A detected language as answers describe it."""
    language, confidence = detected
    return {"confidence": confidence, "language": language}
