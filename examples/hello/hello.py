"""A small HTTP service, as an example of a program that mario runs.

mario starts it with an empty environment and tells it in PORT where to listen. Everything it prints is in its log:
`mario app logs hello` shows it.
"""

import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Hello(BaseHTTPRequestHandler):
    """Answers every GET; `/healthz` is the health path of hello.toml."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        text = f"{os.environ.get('GREETING', 'hello')} from node {os.environ['MARIO_NODE']}\n"
        body = ("ok\n" if self.path == "/healthz" else text).encode()
        self.send_response(200)
        self.send_header("content-type", "text/plain; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


# Before it sends SIGTERM, mario has let the open requests finish.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Hello).serve_forever()
