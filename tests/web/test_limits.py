"""Requests that never end, and characters that no word can have."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from typing import Any

import pytest
import uvicorn

from latentgram.web import server
from latentgram.web.guard import Guard


async def plain(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the body of the request."""
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


LOCAL = (b"host", b"localhost")


def asked(
    guard: Guard, pieces: list[tuple[float, bytes]], headers: tuple[tuple[bytes, bytes], ...] = (LOCAL,)
) -> tuple[int, bytes]:
    """Status and body of the answer to a body that comes in pieces, each after some seconds."""
    left, sent = list(pieces), []

    async def receive() -> dict[str, Any]:
        pause, body = left.pop(0)
        await asyncio.sleep(pause)
        return {"type": "http.request", "body": body, "more_body": bool(left)}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": "/api/parse", "headers": list(headers)}
    asyncio.run(guard(scope, receive, send))
    return sent[0]["status"], sent[1]["body"]


def test_a_body_that_never_ends_is_given_up() -> None:
    guard = Guard(plain, patience=0.2)
    assert asked(guard, [(0, b"{"), (0.01, b"}")]) == (200, b"{}")
    status, body = asked(guard, [(0, b"{"), (5, b"}")])
    assert status == 408
    assert "was not sent within" in json.loads(body)["detail"]


@pytest.mark.parametrize("text", ["a\0b", "a\x07b", "a\x1bb", "a\x7fb", "a\x80b", "\x9f"])
@pytest.mark.parametrize("escaped", [True, False])
def test_control_characters_are_refused(text: str, escaped: bool) -> None:
    body = json.dumps({"text": text}, ensure_ascii=escaped).encode()
    assert asked(Guard(plain), [(0, body)])[0] == 422


@pytest.mark.parametrize("code", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_control_characters_do_not_hide_in_other_codes(code: str) -> None:
    assert asked(Guard(plain), [(0, r'{"text": "a\u0007b"}'.encode(code))])[0] == 422


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([(b"host", b"[::1")], 403),
        ([LOCAL, (b"origin", b"http://[")], 403),
        ([LOCAL, (b"content-length", b"9" * 5000)], 413),
        ([LOCAL, (b"content-length", b"-1")], 413),
    ],
)
def test_headers_that_are_none_are_refused(headers: list[tuple[bytes, bytes]], status: int) -> None:
    assert asked(Guard(plain), [(0, b"{}")], tuple(headers))[0] == status


@pytest.mark.parametrize("text", ["a\tb\r\nc", r"a\u0000b", "naïve café\x85", "\\", '"\\u0007'])
def test_other_characters_are_not(text: str) -> None:
    body = json.dumps({"text": text}).encode()
    assert asked(Guard(plain), [(0, body)]) == (200, body)


def test_headers_that_never_end_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HEADER_SECONDS", 0.5)
    listening = server._listen("127.0.0.1", 0)
    config = uvicorn.Config(plain, http=server._Impatient, log_level="critical", lifespan="off")
    runner = uvicorn.Server(config)
    thread = threading.Thread(target=runner.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    address = listening.getsockname()[:2]
    try:
        started = time.monotonic()
        with socket.create_connection(address, 10) as slow, socket.create_connection(address, 10) as quick:
            slow.sendall(b"GET / HTTP/1.1\r\nhost: local")
            quick.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert quick.recv(1000).startswith(b"HTTP/1.1 200")
            assert slow.recv(1000) == b""
            assert time.monotonic() - started >= 0.4
            quick.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert quick.recv(1000).startswith(b"HTTP/1.1 200")
            quick.sendall(b"GET / HT")
            assert quick.recv(1000) == b""
    finally:
        runner.should_exit = True
        thread.join(10)
