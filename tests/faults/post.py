"""A mail server and a receiver of webhooks that stop at a place of the conversation, for a fault to hit it there."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import StreamRequestHandler, TCPServer, ThreadingTCPServer

from tests.faults.cluster import PATIENCE

GREETING, SENDER, CONTENT, ANSWER = "greeting", "sender", "content", "answer"
"""Where a conversation is held: before the mail server says anything; when it is told who sends, which is after the
sender has noted that it does; when it has the whole mail, before it says so; and when a webhook has the message."""


class Holds:
    """The places where the next conversation is held."""

    def __init__(self) -> None:
        self._wanted: dict[str, tuple[threading.Event, threading.Event]] = {}
        self._lock = threading.Lock()

    def pass_by(self, place: str) -> None:
        """Wait here if that is wanted of the next conversation."""
        with self._lock:
            held = self._wanted.pop(place, None)
        if held is not None:
            reached, released = held
            reached.set()
            released.wait(PATIENCE)

    @contextmanager
    def hold(self, place: str) -> Iterator[threading.Event]:
        """Hold the next conversation at this place until the end of the context; an event says when it is there."""
        reached, released = threading.Event(), threading.Event()
        with self._lock:
            self._wanted[place] = reached, released
        try:
            yield reached
        finally:
            released.set()


class MailServer(ThreadingTCPServer):
    """Takes every mail, and keeps its identity and recipient once it has all of it."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, holds: Holds) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.holds = holds
        self.mails: list[tuple[str, str]] = []

    @property
    def url(self) -> str:
        """For STEELYARD_MAIL_URL."""
        return f"smtp://127.0.0.1:{self.server_address[1]}"


class _Conversation(StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        with suppress(OSError):  # who was killed does not listen
            self._talk()

    def _talk(self) -> None:
        self.server.holds.pass_by(GREETING)
        self._say("220 here")
        recipient = ""
        while line := self.rfile.readline():
            word = line[:4].upper()
            if word == b"MAIL":
                self.server.holds.pass_by(SENDER)
            elif word == b"RCPT":
                recipient = line.decode().partition("<")[2].partition(">")[0]
            elif word == b"DATA":
                self._say("354 go on")
                if not self._take(recipient):
                    return
            elif word == b"QUIT":
                self._say("221 bye")
                return
            self._say("250 well")

    def _take(self, recipient: str) -> bool:
        """The mail, if all of it comes."""
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            if not line:
                return False
            lines.append(line)
        named = re.search(rb"^Message-ID:\s*<(\w+)@", b"".join(lines), re.MULTILINE | re.IGNORECASE)
        assert named, lines
        self.server.mails.append((named[1].decode(), recipient))
        self.server.holds.pass_by(CONTENT)
        return True

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


class Hook(ThreadingHTTPServer):
    """Takes every message, and keeps its headers and body."""

    daemon_threads = True

    def __init__(self, holds: Holds) -> None:
        super().__init__(("127.0.0.1", 0), _Message)
        self.holds = holds
        self.messages: list[tuple[dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        """The address of the webhook."""
        return f"http://127.0.0.1:{self.server_port}/hook"


class _Message(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.messages.append((dict(self.headers), body))
        self.server.holds.pass_by(ANSWER)
        with suppress(OSError):
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def listening(*servers: TCPServer) -> Iterator[Sequence[TCPServer]]:
    """Servers that answer until the end of the context."""
    threads = [threading.Thread(target=each.serve_forever, kwargs={"poll_interval": 0.01}) for each in servers]
    for thread in threads:
        thread.start()
    try:
        yield servers
    finally:
        for each, thread in zip(servers, threads, strict=True):
            each.shutdown()
            each.server_close()
            thread.join()
