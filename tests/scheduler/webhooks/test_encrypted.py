"""Messages to webhooks behind TLS: verified against the name, and within the same time limit."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpcore
import pytest

from scheduler.webhooks.request import post
from tests.scheduler.webhooks.receiver import Receiver, receiver


@pytest.fixture
def certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """For 127.0.0.1 alone, of an authority that this process trusts: itself."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    file = tmp_path / "server.pem"
    command = [
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
        *("-days", "2", "-keyout", str(file), "-out", str(tmp_path / "public.pem")),
        *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
    ]
    subprocess.run(command, check=True, capture_output=True)
    public = tmp_path / "public.pem"
    file.write_text(file.read_text() + public.read_text())
    monkeypatch.setenv("SSL_CERT_FILE", str(public))
    return file


@contextmanager
def encrypted(certificate: Path, *, silent: bool = False) -> Iterator[tuple[Receiver, str]]:
    """A receiver behind TLS, and its address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with receiver(200, silent=silent) as server:
        # The handshake belongs to the thread of the connection.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        yield server, server.url.replace("http:", "https:")


def test_a_message_goes_through_to_a_server_with_a_certificate(certificate: Path) -> None:
    with encrypted(certificate) as (server, url):
        assert post(url, b"{}", {"Steelyard-Event": "x"}, seconds=60.0, private=True) == 200
    ((headers, body),) = server.messages
    assert (body, headers["Steelyard-Event"]) == (b"{}", "x")


def test_a_certificate_for_another_name_is_refused(certificate: Path) -> None:
    with encrypted(certificate) as (server, url):
        with pytest.raises(httpcore.ConnectError, match="certificate verify failed"):
            post(url.replace("127.0.0.1", "localhost"), b"{}", {}, seconds=60.0, private=True)
        assert server.messages == []


def test_one_that_nobody_vouches_for_is_refused(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with encrypted(certificate) as (server, url):
        with pytest.raises(httpcore.ConnectError, match="certificate verify failed"):
            post(url, b"{}", {}, seconds=60.0, private=True)
        assert server.messages == []


def test_a_receiver_that_drips_is_given_up_behind_tls_too(certificate: Path) -> None:
    """Each of its bytes comes in time, but the whole answer does not."""
    with encrypted(certificate, silent=True) as (server, url):
        with pytest.raises(httpcore.TimeoutException):
            post(url, b"{}", {}, seconds=2.0, private=True)
        assert server.dripped > 1
