"""Request bodies: read whole before a route sees them, up to a size; what is refused is read and thrown away.

A server that answers without reading, and then closes, resets the connection under the client's hands: it never sees
why it was refused.
"""

from __future__ import annotations

import asyncio
import contextlib

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_BYTES, HOOK_BODY_BYTES = 4 << 20, 16 << 20
DISCARDED_BYTES, DISCARDING_S = 64 << 20, 5.0
"""How much of a refused body is read, and for how long, before the refusal is sent all the same."""


class Bodies:
    """Hands a request on once its whole body is there, or answers 413."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = HOOK_BODY_BYTES if scope["path"].startswith("/api/hook/") else BODY_BYTES
        body = Body(receive)
        if _declared(scope) <= limit and await body.read(limit):
            if not body.is_cut:
                await self._app(scope, body.replay, send)
        else:
            text = f"Refused: the body of this request may have {limit >> 20} MiB at most."
            await refuse(scope, body, send, 413, text)


class Body:
    """What comes of a request's body: kept up to a size, or thrown away."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._kept: list[Message] = []
        self._size = 0
        self._has_ended = False
        self.is_cut = False
        """The client went away."""

    async def read(self, limit: int) -> bool:
        """Read to the end; False as soon as it is larger than `limit`."""
        while not self._has_ended and self._size <= limit:
            self._kept.append(await self._next())
        return self._size <= limit

    async def discard(self) -> None:
        """Read on, keeping nothing, within the bounds above."""
        self._kept.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DISCARDING_S):
                while not self._has_ended and self._size <= DISCARDED_BYTES:
                    await self._next()

    async def replay(self) -> Message:
        """The messages that were kept, as an app receives them; then whatever follows."""
        return self._kept.pop(0) if self._kept else await self._receive()

    async def _next(self) -> Message:
        message = await self._receive()
        self._size += len(message.get("body", b""))
        self.is_cut = message["type"] != "http.request"
        self._has_ended = self.is_cut or not message.get("more_body", False)
        return message


async def refuse(scope: Scope, body: Body, send: Send, status: int, text: str) -> None:
    """Answer with a sentence, once the client has had the time to send its body."""
    if not _waits_for_leave(scope):
        await body.discard()
    await PlainTextResponse(text, status)(scope, body.replay, send)


def _declared(scope: Scope) -> int:
    """The length that the request's head announces; 0 when it announces none that can be."""
    value = next((value for name, value in scope["headers"] if name.lower() == b"content-length"), b"")
    return int(value[:20]) if value.isdigit() else 0


def _waits_for_leave(scope: Scope) -> bool:
    """Whether the client sends its body only when told to: then it hears the refusal first."""
    return any(name.lower() == b"expect" and value.lower() == b"100-continue" for name, value in scope["headers"])
