"""The operations that tell about the server and about texts: languages, health, settings, detection."""

import asyncio
from typing import Any

from babel import Locale, UnknownLocaleError
from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException

from bytenet.serving.http.parameters import DetectParameters, described_parameters, read_parameters
from bytenet.serving.http.service import Service
from bytenet.serving.http.translation import described_language


def information_routes(service: Service) -> APIRouter:
    """The routes that tell about the server and detect languages."""
    router = APIRouter()
    directions, settings = service.directions, service.settings

    @router.post("/languages", include_in_schema=False)  # libretranslatepy asks with POST
    @router.get("/languages")
    async def languages() -> list[dict[str, Any]]:
        """All languages that are read or written. Each has its targets: the languages that it is translated into."""
        return [
            {"code": code, "name": language_name(code), "targets": directions.targets(code)}
            for code in directions.languages
        ]

    @router.head("/health", include_in_schema=False)  # some checks of whether a server is up ask with HEAD
    @router.get("/health")
    async def health() -> dict[str, str]:
        """Whether the server translates."""
        if not service.threads.is_running:
            raise HTTPException(503, "Nothing is translated any more. Restart the server; its log says why.")
        return {"status": "ok"}

    @router.get("/frontend/settings")
    async def frontend_settings() -> dict[str, Any]:
        """What a page needs to know about the server."""
        source, target = next(iter(directions.engines))
        return {
            "apiKeys": bool(settings.api_keys),
            "charLimit": settings.max_chars,
            "filesTranslation": False,
            "frontendTimeout": 500,
            "keyRequired": bool(settings.api_keys),
            "language": {
                "source": {"code": source, "name": language_name(source)},
                "target": {"code": target, "name": language_name(target)},
            },
            "maxAlternatives": min(engine.max_candidates for engine in directions.engines.values()) - 1,
            "suggestions": False,
            "supportedFilesFormat": [],
        }

    @router.post("/detect", openapi_extra=described_parameters(DetectParameters))
    async def detect(request: Request) -> list[dict[str, Any]]:
        """The languages that the server reads, most probable first, with their confidence in percent."""
        async with asyncio.timeout(settings.timeout_seconds):
            parameters = await read_parameters(request, DetectParameters, settings.max_fields)
            service.check(parameters)
            return [described_language(detected) for detected in await service.detect(parameters.q)]

    return router


def language_name(code: str) -> str:
    """The English name of a language; the code itself if it is unknown."""
    try:
        return Locale.parse(code.replace("_", "-"), sep="-").english_name or code
    except (UnknownLocaleError, ValueError):
        return code
