"""The settings of the web service, beside those of the queue: each has a default and can be set as STEELYARD_NAME."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from runtime.settings import Settings


class WebSettings(Settings):
    """What `steelyard serve` and `steelyard up` go by. Times are in seconds, sizes in bytes."""

    web_host: str = "127.0.0.1"
    """The address that pages and API are served at; 0.0.0.0 lets other machines ask."""
    web_port: int = Field(default=8718, ge=0, le=65535)
    """The port for that."""
    web_threads: int = Field(default=40, ge=1)
    """Requests that are worked on at the same time; files that wait to be read are not among them."""
    segment_pages: int = Field(default=2, ge=1)
    """Pages of segments that are made at the same time; one of an account, or of an address without one."""
    web_connections: int = Field(default=20, ge=2)
    """Connections to the database of one web service at most."""
    statement_seconds: float = Field(default=30.0, gt=0)
    """What one statement of the web service may take at the database before it is ended."""
    public_url: str | None = None
    """How people reach the server, such as https://mt.example.org: for links in mails, and the origin of forms."""
    trusted_proxies: str = ""
    """Addresses of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed, with commas between them."""

    sign_up: Annotated[Literal["open", "invited"], BeforeValidator(str.lower)] = "invited"
    """Whether anybody can make an account, or only who was invited."""
    session_seconds: float = Field(default=14 * 86400.0, gt=0)
    """How long a browser stays signed in that is not used."""
    session_longest_seconds: float = Field(default=90 * 86400.0, gt=0)
    """How long a browser stays signed in, however much it is used."""
    token_days: int = Field(default=365, ge=1)
    """How long an API token is good at most."""
    invitation_seconds: float = Field(default=14 * 86400.0, gt=0)
    """How long an invitation is good."""
    confirmation_seconds: float = Field(default=86400.0, gt=0)
    """How long a link that was sent by mail is good."""
    invitations_per_day: int = Field(default=50, ge=1)
    """Invitations that one account, or one team, sends by mail within a day."""
    mails_per_network: int = Field(default=30, ge=1)
    """Mails within a day that whoever has one network address causes without an account: to sign up, for a password."""
    sign_in_tries: int = Field(default=10, ge=1)
    """Wrong passwords from one network address within a quarter of an hour."""
    requests_per_minute: int = Field(default=600, ge=1)
    """Requests of one account, or of one address without an account."""
    uploads_per_minute: int = Field(default=30, ge=1)
    """Uploads of one account."""
    concurrent_requests: int = Field(default=400, ge=2)
    """Requests under way at the same time, streams of progress included; half of them from one address."""

    connections_each: int = Field(default=100, ge=2)
    """Connections of one address, used or not; of trusted proxies any number."""
    unread_bytes_each: int = Field(default=64 * 2**20, gt=0)
    """Answers that one address has asked for and not read."""
    unread_bytes: int = Field(default=256 * 2**20, gt=0)
    """The same of all addresses together."""

    mail_url: str | None = Field(default=None, repr=False)
    """Who sends mails: smtp://USER:PASSWORD@HOST:PORT, or smtps://. Without it nobody does, and links are shown."""
    mail_from: str = "steelyard@localhost"
    """Who mails are from."""

    upload_bytes: int = Field(default=64 * 2**20, gt=0)
    """An upload as it comes."""
    unpacked_bytes: int = Field(default=256 * 2**20, gt=0)
    """What becomes of it once it is unpacked."""
    segment_seconds: float = Field(default=0.2, gt=0)
    """What a metric may be estimated to take for one segment: longer segments are refused at submission."""
    markup_tags: int = Field(default=500_000, ge=1)
    """Tags and attributes of one file in mteval's format or WMT's XML."""
    markup_depth: int = Field(default=32, ge=1)
    """Its elements inside one another."""
    tree_elements: int = Field(default=10_000_000, ge=1)
    """Elements of one TectoMT or Treex document, some hundreds for each sentence; lines of one in CoNLL-U."""
    tree_depth: int = Field(default=2_000, ge=1)
    """Elements of such a document inside one another."""
    tag_attributes: int = Field(default=32, ge=1)
    """Attributes of one tag, of either kind."""
    form_bytes: int = Field(default=2**20, gt=0)
    """Any other request."""
    pending_upload_bytes_each: int = Field(default=256 * 2**20, gt=0)
    """Uploads of one account that are not done, beyond the size of a form each."""
    pending_upload_bytes: int = Field(default=2 * 2**30, gt=0)
    """The same of all accounts together."""
    upload_seconds: float = Field(default=600.0, gt=0)
    """How long an upload may take to arrive."""
    checks_per_day: int = Field(default=200, ge=1)
    """How often a team may have an output looked at without submitting it, in one campaign."""
    reading_processes: int = Field(default=3, ge=1)
    """Processes that read and check what people upload, one of them for an account and for a team at a time."""
    reading_seconds: float = Field(default=30.0, gt=0)
    """Processor time that reading and checking one upload may take before it is ended."""
    reading_bytes: int = Field(default=2 * 2**30, ge=64 * 2**20)
    """Memory that it may take."""
    waiting_seconds: float = Field(default=300.0, gt=0)
    """How long an upload may wait to be read before it is sent away."""
    waiting_readings: int = Field(default=100, ge=1)
    """Uploads that wait to be read."""
    waiting_readings_each: int = Field(default=5, ge=1)
    """The same of one account."""
    event_streams: int = Field(default=200, ge=1)
    """Clients that watch the progress of submissions at the same time."""
    event_streams_each: int = Field(default=10, ge=1)
    """The same of one account."""
    header_seconds: float = Field(default=10.0, gt=0)
    """How long a client may take to send the headers of a request."""
    body_seconds: float = Field(default=120.0, gt=0)
    """How long a client may take to send one request, and may leave an answer unread."""

    board_bytes: int = Field(default=256 * 2**20, gt=0)
    """What the web process remembers of leaderboards at most: replicates, tests of pairs, finished boards."""

    @property
    def session_lifetime(self) -> Lifetime:
        """How long a browser stays signed in."""
        return Lifetime(self.session_seconds, self.session_longest_seconds)


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long a browser stays signed in."""

    unused_seconds: float
    """Since it was used last."""
    longest_seconds: float
    """Since it has signed in, however much it is used: a session that was stolen ends, too."""
