"""The answers to requests that fail: a status, and {"error": what is wrong and what to do}."""

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from bytenet.errors import InputError, ModelError, cut
from bytenet.serving.work.translating_threads import QueueFullError

_MOST_CHARS = 300
_FAILED = "The server failed. Its log says why."
_TOO_SLOW = (
    "The translation took too long. Send a shorter text, or try again later. For whoever runs the server: "
    "--rerank-weight 0, or a smaller --beam-size (not with --engine lite), makes it faster; --timeout gives it more "
    "time."
)
_TEXTS = {
    404: "There is nothing at this address. See /openapi.json for the addresses.",
    405: "This address does not take this method. See /openapi.json for the methods.",
}


def error_answer(status: int, text: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """The answer to a request that failed."""
    return JSONResponse({"error": cut(text, _MOST_CHARS)}, status, headers)


def failure(error: Exception) -> tuple[int, str]:
    """Status and text for an error of the work behind a request."""
    match error:
        case ModelError():  # its text has the path of a file
            return 500, _FAILED
        case InputError():
            return 400, str(error)
        case QueueFullError():
            return 429, "The server has too much to do. Try again in a few seconds."
        case ClientDisconnect():
            return 499, "The client closed the connection."
        case TimeoutError():
            return 504, _TOO_SLOW
        case _:
            return 500, _FAILED


def add_error_answers(app: FastAPI) -> None:
    """Let an application answer all errors with JSON. No answer has a path or a traceback."""

    async def answer_http_error(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        return error_answer(error.status_code, _TEXTS.get(error.status_code, error.detail), dict(error.headers or {}))

    async def answer_failure(request: Request, error: Exception) -> JSONResponse:
        status, text = failure(error)
        return error_answer(status, text, {"Retry-After": "1"} if status == 429 else None)

    app.add_exception_handler(HTTPException, answer_http_error)
    for kind in (InputError, QueueFullError, TimeoutError, ClientDisconnect, Exception):
        app.add_exception_handler(kind, answer_failure)
