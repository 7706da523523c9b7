"""Health and readiness over HTTP, for whatever watches over a service: alive is not enough, work must go on."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from schemas.errors import UsageError

ALIVE, READY = "/health", "/ready"


@dataclass(frozen=True, slots=True)
class Health:
    """`alive`: the process does what it is for, or is about to. `ready`: it does it now, on every partition it has.
    `why`: what is wrong, in words; `detail`: what there is to say beside, as JSON values."""

    alive: bool
    ready: bool
    why: tuple[str, ...]
    detail: Mapping[str, Any]


@contextmanager
def told(address: str | None, health: Callable[[], Health]) -> Iterator[str | None]:
    """Answers `GET /health` and `GET /ready` at host:port (None: nowhere) with 200 or 503 and a line of JSON, from a
    thread of its own, so that it answers while work goes on. `health` is called there. Yields the address in use.
    Raises UsageError where it cannot listen."""
    if address is None:
        yield None
        return
    host, _, port = address.rpartition(":")
    try:
        server = ThreadingHTTPServer((host.strip("[]"), int(port)), _handler(health))
    except OSError as error:
        raise UsageError(f"setting `health`: {address} cannot be listened at: {error.strerror}") from None
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
    try:
        yield f"{host}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _handler(health: Callable[[], Health]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            """One question, one line of JSON."""
            if self.path not in (ALIVE, READY):
                self.send_error(404)
                return
            now = health()
            good = now.alive if self.path == ALIVE else now.ready
            body = json.dumps({"alive": now.alive, "ready": now.ready, "why": now.why, **now.detail}).encode() + b"\n"
            self.send_response(200 if good else 503)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815 - likewise: some load balancers ask so

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Questions are asked every few seconds: nothing to note."""

    return Handler
