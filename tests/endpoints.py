"""A real HTTP server on this machine that answers as model endpoints do, well and badly."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(slots=True)
class Reply:
    """What the server answers: its status, what it says, and how."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    after_s: float = 0
    broken_off: bool = False


@dataclass(slots=True)
class Asked:
    """A request that came in."""

    path: str
    headers: Mapping[str, str]
    body: Any


class Endpoint:
    """Answers with ``replies`` in their order, and with the last one ever after."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.replies: list[Reply | Callable[[Any], Reply]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                endpoint.asked.append(Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                held = endpoint.replies.pop(0) if len(endpoint.replies) > 1 else endpoint.replies[0]
                reply = held if isinstance(held, Reply) else held(body)
                if reply.after_s:
                    time.sleep(reply.after_s)
                said = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                try:
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(said)))
                    self.end_headers()
                    self.wfile.write(said[: len(said) // 2] if reply.broken_off else said)
                except (BrokenPipeError, ConnectionResetError):
                    pass
                self.close_connection = reply.broken_off

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a caller that hung up
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the server; answers that are still asleep are left to their threads."""
        self._server.shutdown()
        self._server.socket.close()
        self._thread.join()
