"""The sockets of health and metrics in processes that are forked beside them."""

from __future__ import annotations

import json
import os
import socket
from http.client import HTTPConnection

import pytest

from runtime.health import ProcessStatus
from runtime.http_server import MOST_REQUESTS, serve_status


def status() -> ProcessStatus:
    return ProcessStatus("worker", (), (), ())


# From Python 3.12 on; another test may have left a thread.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_does_not_keep_the_port() -> None:
    """It may outlive its parent for a while, and who takes the place of that needs the same port."""
    with serve_status("127.0.0.1", 0, status) as server:
        assert server is not None
        child = os.fork()
        if not child:
            os._exit(0 if server._server.socket.fileno() == -1 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert server._server.socket.fileno() != -1, "it has its own"
        port = server.port
    with socket.socket() as again:
        again.bind(("127.0.0.1", port))


def test_without_a_port_nothing_is_served() -> None:
    with serve_status("127.0.0.1", None, status) as server:
        assert server is None


def test_it_listens_at_addresses_of_ipv6() -> None:
    try:
        with socket.socket(socket.AF_INET6) as there:
            there.bind(("::1", 0))
    except OSError:
        pytest.skip("needs IPv6")
    with serve_status("::1", 0, status) as server:
        assert server is not None
        server.start()
        connection = HTTPConnection("::1", server.port, timeout=60.0)
        connection.request("GET", "/health/live?x=1")
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["role"]) == (200, "worker")
        connection.close()


def test_one_request_after_the_other_is_answered() -> None:
    """However many: only those at the same time are counted."""
    with serve_status("127.0.0.1", 0, status) as server:
        assert server is not None
        server.start()
        for _ in range(MOST_REQUESTS + 1):
            connection = HTTPConnection("127.0.0.1", server.port, timeout=60.0)
            connection.request("GET", "/health/ready")
            assert connection.getresponse().status == 200
            connection.close()
