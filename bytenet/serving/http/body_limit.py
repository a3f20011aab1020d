"""Middleware that refuses large bodies before they fill the memory."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class BodyLimit:
    """Lets an application read at most `max_bytes` of a body. Reading more raises an HTTPException (413).

    Args:
        app: the application.
        max_bytes: the limit.
    """

    def __init__(self, app: ASGIApp, max_bytes: int):
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        num_bytes = 0

        async def limited_receive() -> Message:
            nonlocal num_bytes
            if announced.isdecimal() and int(announced[:20]) > self._max_bytes:
                raise self._too_large()
            message = await receive()
            num_bytes += len(message.get("body", b""))
            if num_bytes > self._max_bytes:
                raise self._too_large()
            return message

        await self._app(scope, limited_receive, send)

    def _too_large(self) -> HTTPException:
        return HTTPException(413, f"The body has more than {self._max_bytes:,} bytes. Send shorter texts.")
