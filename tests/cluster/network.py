"""A network that can be lost: a proxy on this machine that cuts its connections, or falls silent."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType


class Proxy:
    """Passes bytes between whoever connects to `address` and a server, until it is told not to."""

    def __init__(self, server: str) -> None:
        host, _, port = server.removeprefix("tcp://").rpartition(":")
        self._server = (host, int(port))
        self._open = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self._passing = threading.Event()
        self._passing.set()
        self.address = f"tcp://127.0.0.1:{self._open.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Close all connections; new ones are refused."""
        with suppress(OSError):
            self._open.shutdown(socket.SHUT_RDWR)
        self._open.close()
        self.hang_up()

    def hang_up(self) -> None:
        """Close all connections; new ones are welcome."""
        closed, self._sockets = self._sockets, []
        for each in closed:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def fall_silent(self) -> None:
        """Pass nothing any more, and say nothing of it."""
        self._passing.clear()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._open.accept()
                far = socket.create_connection(self._server)
                self._sockets += (near, far)
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while raw := one.recv(1 << 16):
                self._passing.wait()
                other.sendall(raw)
            other.shutdown(socket.SHUT_WR)

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._passing.set()
        self.cut()
