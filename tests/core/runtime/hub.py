"""A local HTTP server that stands in for the Hugging Face Hub and can be made to fail."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CODES = {
    "404": {"X-Error-Code": "EntryNotFound"},
    "404 revision": {"X-Error-Code": "RevisionNotFound"},
    "403 gated": {"X-Error-Code": "GatedRepo"},
    "429": {"Retry-After": "0"},
    "503": {"Retry-After": "0"},
}
"""Answers without a body, by fault."""
HTML = b"<html><body>Please log in</body></html>"


class Hub:
    """Serves ``data`` for every path. ``fault`` is one of the ways in which downloads go wrong."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.fault = ""
        self.faults_left = 10**6
        self.requests: list[str] = []
        self.ranges: list[str] = []
        self.sent = 0
        self.slow_s = 0.0
        self.url = ""

    def faulty(self) -> bool:
        """Whether this answer goes wrong."""
        if not self.fault or self.faults_left <= 0:
            return False
        self.faults_left -= 1
        return True


@contextmanager
def serving(data: bytes) -> Iterator[Hub]:
    """A Hub at ``hub.url`` until the end of the block."""
    hub = Hub(data)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            return

        def do_HEAD(self) -> None:
            hub.requests.append("HEAD")
            if hub.fault in CODES and hub.faulty():
                self._status(hub.fault)
                return
            if hub.fault == "portal":
                self.send_response(200)
                self.send_header("Content-Length", str(len(HTML)))
                self.end_headers()
                return
            self._head(200, len(self._body()))

        def do_GET(self) -> None:
            hub.requests.append("GET")
            if hub.fault in CODES and hub.faulty():
                self._status(hub.fault)
                return
            wanted = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
            start = int(wanted.group(1)) if wanted else 0
            if start:
                hub.ranges.append(self.headers["Range"])
            body = self._body()[start:]
            if hub.fault == "cut" and hub.faulty():
                self._head(206 if start else 200, len(body))
                self._send(body[: len(body) // 2])
                self.close_connection = True
                return
            if hub.fault == "stall" and hub.faulty():
                self._head(200, len(body))
                time.sleep(8)
                self.close_connection = True
                return
            self._head(206 if start else 200, len(body), start)
            self._send(body)

        def _body(self) -> bytes:
            if hub.fault == "html":
                return HTML
            if hub.fault == "changed":
                return bytes([hub.data[0] ^ 1]) + hub.data[1:]
            return hub.data

        def _send(self, body: bytes) -> None:
            for at in range(0, len(body), 1 << 18):
                part = body[at : at + (1 << 18)]
                try:
                    self.wfile.write(part)
                except OSError:
                    return
                hub.sent += len(part)
                time.sleep(hub.slow_s)

        def _status(self, fault: str) -> None:
            self.send_response(int(fault.split()[0]))
            self.send_header("Content-Length", "0")
            for name, value in CODES[fault].items():
                self.send_header(name, value)
            self.end_headers()

        def _head(self, code: int, length: int, start: int = 0) -> None:
            self.send_response(code)
            self.send_header("Content-Length", str(length))
            self.send_header("ETag", f'"{hashlib.sha256(hub.data).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Accept-Ranges", "bytes")
            if code == 206:
                total = len(hub.data)
                self.send_header("Content-Range", f"bytes {start}-{total - 1}/{total}")
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
