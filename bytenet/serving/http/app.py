"""The application: all operations, the page, and what surrounds each request."""

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response
from starlette.middleware.cors import CORSMiddleware

from bytenet import __version__
from bytenet.serving.engines.directions import Directions
from bytenet.serving.http.body_limit import BodyLimit
from bytenet.serving.http.errors import add_error_answers
from bytenet.serving.http.information import information_routes
from bytenet.serving.http.observation import Metrics, Observation
from bytenet.serving.http.service import Service
from bytenet.serving.http.settings import ServerSettings
from bytenet.serving.http.streaming import streaming_routes
from bytenet.serving.http.translation import translation_routes
from bytenet.serving.page import content_security_policy, read_page
from bytenet.serving.work.translating_threads import TranslatingThreads

_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


def make_app(
    directions: Directions, threads: TranslatingThreads, settings: ServerSettings, metrics: Metrics
) -> FastAPI:
    """Make the application.

    Args:
        directions: the engines by their languages.
        threads: translate; the caller closes them.
        settings: limits and rights.
        metrics: gets the measurements of the requests.
    """
    # FastAPI's pages about the interface load scripts from elsewhere.
    app = FastAPI(title="bytenet", version=__version__, docs_url=None, redoc_url=None)
    service = Service(directions, threads, settings)
    for router in (translation_routes(service), streaming_routes(service), information_routes(service)):
        app.include_router(router)
    page = read_page()
    policy = content_security_policy(page)

    @app.head("/", response_class=HTMLResponse, include_in_schema=False)
    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def show_page() -> HTMLResponse:
        return HTMLResponse(page, headers={"Content-Security-Policy": policy, "Cache-Control": "no-cache", **_HEADERS})

    @app.head("/metrics", include_in_schema=False)
    @app.get("/metrics", include_in_schema=False)
    async def show_metrics() -> Response:
        return Response(metrics.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")

    add_error_answers(app)
    paths = frozenset(app.openapi()["paths"]) | {"/", "/metrics", "/openapi.json"}
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    if settings.allowed_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.allowed_origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Content-Type"],
        )
    app.add_middleware(Observation, metrics=metrics, paths=paths)
    return app
