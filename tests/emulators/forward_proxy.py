"""A company's proxy for tests, on 127.0.0.1: CONNECT alone, with or without a login, and what it was asked for."""

from __future__ import annotations

import base64
import select
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ForwardProxy:
    """`with ForwardProxy() as proxy`: `asked` holds (target, its Proxy-Authorization) of every CONNECT."""

    def __init__(self, *, login: str | None = None, resolves: dict[str, int] | None = None) -> None:
        """`login` is "user:password"; `resolves` maps names that only this proxy knows to ports of this machine."""
        self.login = login
        self.resolves = resolves or {}
        self.asked: list[tuple[str, str | None]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"proxy": self}))
        self.port = self._server.server_port

    def __enter__(self) -> ForwardProxy:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    proxy: ForwardProxy
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing: tests look at `asked`."""

    def do_CONNECT(self) -> None:
        given = self.headers.get("Proxy-Authorization")
        self.proxy.asked.append((self.path, given))
        host = self.path.rpartition(":")[0]
        if self.proxy.login is not None:
            expected = "Basic " + base64.b64encode(self.proxy.login.encode()).decode()
            if given != expected:
                self._refuse(407, {"Proxy-Authenticate": 'Basic realm="proxy"'})
                return
        if host not in self.proxy.resolves:
            self._refuse(403, {})
            return
        with socket.create_connection(("127.0.0.1", self.proxy.resolves[host])) as target:
            self.send_response(200, "Connection established")
            self.end_headers()
            _join(self.connection, target)
        self.close_connection = True

    def _refuse(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True


def _join(one: socket.socket, other: socket.socket) -> None:
    """Carries bytes both ways until one side ends."""
    beyond = {one: other, other: one}
    while True:
        ready, _, _ = select.select([one, other], [], [])
        for side in ready:
            data = side.recv(65536)
            if not data:
                return
            beyond[side].sendall(data)
