"""What stands between the network and the application: who may send requests, how large, and what browsers may do.

A plain ASGI middleware. Without a token only requests to a loopback name are accepted, so that a foreign page
cannot reach the server through a name of its own (DNS rebinding), and none with a foreign `Origin`. With a token
every request to the API must contain it. Bodies are limited in size and time. Every response forbids the
browser to load anything from elsewhere.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import re
from urllib.parse import SplitResult, urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from latentgram.data.files import whole_number
from latentgram.web.schemas import MAX_BODY

BODY_SECONDS = 20.0
"""How long a request may take to arrive after its headers."""
_CONTROLS = re.compile(
    rb"(?<!\\)(?:\\\\)*\\u00(?:0[0-8bBcCeEfF]|1[0-9a-fA-F]|7[fF]|8[0-46-9a-fA-F]|9[0-9a-fA-F])"
    rb"|[\x00\x7f]|\xc2[\x80-\x84\x86-\x9f]"
)
"""Control characters in JSON, escaped or not, but those that end lines and part words; UTF-16 and UTF-32 have some
in every body, as bytes."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})

_HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; object-src 'none'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


class Guard:
    """The middleware; without a `token` only loopback names are answered."""

    def __init__(
        self, app: ASGIApp, token: str | None = None, max_body: int = MAX_BODY, patience: float = BODY_SECONDS
    ) -> None:
        self.app, self.token, self.max_body, self.patience = app, token, max_body, patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope["path"], headers)
        if refusal is not None:
            await _answer(send, *refusal)
            return
        try:
            body = await asyncio.wait_for(self._body(receive), self.patience)
        except TimeoutError:
            await _answer(send, 408, f"the request was not sent within {self.patience:.0f} s")
            return
        if body is None:
            await _answer(send, 413, self._too_long())
            return
        if _CONTROLS.search(body):
            await _answer(send, 422, "the request has control characters, which no word can have")
            return
        whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return whole.pop() if whole else await receive()

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        await self.app(scope, again, dressed)

    async def _body(self, receive: Receive) -> bytes | None:
        """The whole body, or None if it goes past the limit."""
        body = bytearray()
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self.max_body:
                return None
            if not message.get("more_body", False):
                return bytes(body)

    def _refusal(self, path: str, headers: dict[str, str]) -> tuple[int, str] | None:
        host = _parts(f"//{headers.get('host', '')}").hostname or ""
        if self.token is None:
            if host not in LOOPBACK:
                return 403, "this server answers on this machine only"
        elif path.startswith("/api/") and not self._has_token(headers):
            return 401, "a token is needed: open the address that the server printed when it started"
        origin = headers.get("origin")
        if origin is not None and _parts(origin).netloc != headers.get("host"):
            return 403, "requests from other pages are not answered"
        length = whole_number(headers.get("content-length", "0"))
        if length is None or length > self.max_body:
            return 413, self._too_long()
        return None

    def _has_token(self, headers: dict[str, str]) -> bool:
        token = headers.get("authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(token.encode(), (self.token or "").encode())

    def _too_long(self) -> str:
        return f"the request is longer than {self.max_body // 1024} KiB: send less at a time"


def _parts(address: str) -> SplitResult:
    """The parts of an address; one that is none has no parts."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


async def _answer(send: Send, status: int, detail: str) -> None:
    body = json.dumps({"detail": detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
