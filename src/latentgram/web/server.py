"""Serve the page: check the address, find a token, open the browser, run until interrupted."""

from __future__ import annotations

import asyncio
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from latentgram.errors import SettingError
from latentgram.web.api import create_app
from latentgram.web.guard import LOOPBACK
from latentgram.web.session import Session

MOST_PORTS = 1 << 16
HEADER_SECONDS = 10.0
"""How long the headers of a request may take to arrive."""


def serve(
    session: Session,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    token: str | None = None,
    browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the page until interrupted; an address that is not this machine's own demands a token."""
    if host not in LOOPBACK and token is None:
        token = secrets.token_urlsafe(24)
    if token is not None and len(token) < 8:
        raise SettingError("a token needs at least 8 characters")
    listening = _listen(host, port)
    everywhere = host in ("0.0.0.0", "::")
    shown = socket.gethostname() if everywhere else "localhost" if host in LOOPBACK else host
    path = f":{listening.getsockname()[1]}/" + (f"#token={token}" if token else "")
    say(f"the page is at http://{shown}{path}  (Ctrl-C ends it)")
    if browser:
        threading.Timer(0.8, webbrowser.open, [f"http://{'localhost' if everywhere else shown}{path}"]).start()
    config = uvicorn.Config(
        create_app(session, token),
        http=_Impatient,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listening])


class _Impatient(H11Protocol):
    """HTTP with a limit of time for the headers of a request, which the server's own protocol lacks."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody is there: a request should follow."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Some of a request is there; when its headers are whole, time is no matter here any more."""
        if self._is_idle and self._waiting is None:
            self._wait()
        super().data_received(data)
        if not self._is_idle:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is there any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    @property
    def _is_idle(self) -> bool:
        """Whether no request is under way."""
        return self.cycle is None or self.cycle.response_complete

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def _listen(host: str, port: int) -> socket.socket:
    """A socket on the port, or on the next free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in (port, *range(port + 1, min(port + 20, MOST_PORTS)), 0):
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, candidate))
            made.listen(128)  # who comes before the server runs waits for it, and is not sent away
        except PermissionError:
            made.close()
            raise SettingError(f"port {port} may not be used; choose one above 1023") from None
        except OSError as error:
            made.close()
            if isinstance(error, socket.gaierror):
                raise SettingError(f"there is no address {host}") from None
            continue
        return made
    raise SettingError(f"no port is free on {host}")
