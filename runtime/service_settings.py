"""The settings of the web service, beside those of the queue: each has a default and can be set as STEELYARD_NAME."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from runtime.settings import Settings
from runtime.sign_in_providers import SignInProvider, with_known


class WebSettings(Settings):
    """Settings of `steelyard serve` and `steelyard up`. Times are in seconds, sizes in bytes."""

    web_host: str = "127.0.0.1"
    """Address for pages and API; 0.0.0.0 makes them available to other machines."""
    web_port: int = Field(default=8718, ge=0, le=65535)
    """Port for pages and API."""
    web_threads: int = Field(default=40, ge=1)
    """Maximum number of requests handled at the same time; files that wait to be read do not count."""
    segment_pages: int = Field(default=2, ge=1)
    """Maximum number of pages of segments rendered at the same time; one for each account, or address without an
    account."""
    web_connections: int = Field(default=20, ge=2)
    """Maximum number of database connections of one web service."""
    statement_seconds: float = Field(default=30.0, gt=0)
    """Time limit of one database statement of the web service."""
    public_url: str | None = None
    """The URL by which people reach the server, such as https://mt.example.org: for links in mails, and the origin of
    forms."""
    trusted_proxies: str = ""
    """Addresses of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted, separated by commas."""

    sign_up: Annotated[Literal["open", "invited"], BeforeValidator(str.lower)] = "invited"
    """Whether anyone can create an account (open), or only invited people (invited)."""
    sign_in_with: Annotated[dict[str, SignInProvider], BeforeValidator(with_known)] = Field(default={}, repr=False)
    """Providers through which people can sign in beside passwords, as JSON: {"github": {"client_id": "...",
    "client_secret": "..."}}. GitHub and ORCID are known; others need an issuer."""
    session_seconds: float = Field(default=14 * 86400.0, gt=0)
    """How long an unused browser session lasts."""
    session_longest_seconds: float = Field(default=90 * 86400.0, gt=0)
    """How long a browser session lasts at most, even if it is used."""
    token_days: int = Field(default=365, ge=1)
    """Maximum validity of an API token."""
    invitation_seconds: float = Field(default=14 * 86400.0, gt=0)
    """Validity of an invitation."""
    confirmation_seconds: float = Field(default=86400.0, gt=0)
    """Validity of a link sent by mail."""
    invitations_per_day: int = Field(default=50, ge=1)
    """Maximum number of invitations that one account, or one team, sends by mail within a day."""
    mails_per_network: int = Field(default=30, ge=1)
    """Maximum number of mails within a day caused from one network address without an account: for signing up or a new
    password."""
    sign_in_tries: int = Field(default=10, ge=1)
    """Maximum number of wrong passwords from one network address within a quarter of an hour."""
    requests_per_minute: int = Field(default=600, ge=1)
    """Maximum number of requests of one account, or of one address without an account."""
    uploads_per_minute: int = Field(default=30, ge=1)
    """Maximum number of uploads of one account."""
    concurrent_requests: int = Field(default=400, ge=2)
    """Maximum number of simultaneous requests, including streams of progress; half of them from one address."""

    connections_each: int = Field(default=100, ge=2)
    """Maximum number of connections of one address, used or not; unlimited for trusted proxies."""
    unread_bytes_each: int = Field(default=64 * 2**20, gt=0)
    """Maximum size of responses that one address has requested and not read."""
    unread_bytes: int = Field(default=256 * 2**20, gt=0)
    """Maximum size of responses that all addresses have requested and not read."""

    mail_url: str | None = Field(default=None, repr=False)
    """The mail server: smtp://USER:PASSWORD@HOST:PORT, or smtps://. If not set, no mails are sent, and links are shown
    instead."""
    mail_from: str = "steelyard@localhost"
    """The sender of mails."""
    notice_mails_per_day: int = Field(default=20, ge=1)
    """Maximum number of notices that one account gets by mail within a day; the others are in its feed."""
    announcements_per_day: int = Field(default=10, ge=1)
    """Maximum number of announcements of one campaign within a day."""

    upload_bytes: int = Field(default=64 * 2**20, gt=0)
    """Maximum size of an upload as it is sent."""
    unpacked_bytes: int = Field(default=256 * 2**20, gt=0)
    """Maximum size of an upload once it is unpacked."""
    segment_seconds: float = Field(default=0.2, gt=0)
    """Maximum estimated time of a metric for one segment: longer segments are refused at submission."""
    markup_tags: int = Field(default=500_000, ge=1)
    """Maximum number of tags and attributes of one file in mteval's format or WMT's XML."""
    markup_depth: int = Field(default=32, ge=1)
    """Maximum nesting of elements in such a file."""
    tree_elements: int = Field(default=10_000_000, ge=1)
    """Maximum number of elements of a TectoMT or Treex document, some hundreds for each sentence, or of lines of a
    CoNLL-U file."""
    tree_depth: int = Field(default=2_000, ge=1)
    """Maximum nesting of elements in such a document."""
    tag_attributes: int = Field(default=32, ge=1)
    """Maximum number of attributes of one tag, in files of either kind."""
    form_bytes: int = Field(default=2**20, gt=0)
    """Maximum size of any other request."""
    pending_upload_bytes_each: int = Field(default=256 * 2**20, gt=0)
    """Maximum size of one account's unfinished uploads, beyond the size of a form each."""
    pending_upload_bytes: int = Field(default=2 * 2**30, gt=0)
    """Maximum size of all accounts' unfinished uploads."""
    upload_seconds: float = Field(default=600.0, gt=0)
    """Time limit for the arrival of an upload."""
    checks_per_day: int = Field(default=200, ge=1)
    """How often a team may have outputs checked in one campaign without submitting them."""
    reading_processes: int = Field(default=3, ge=1)
    """Number of processes that read and check uploads; an account, and a team, uses one at a time."""
    reading_seconds: float = Field(default=30.0, gt=0)
    """Processor time that reading and checking one upload may take."""
    reading_bytes: int = Field(default=2 * 2**30, ge=64 * 2**20)
    """Memory that reading and checking one upload may take."""
    waiting_seconds: float = Field(default=300.0, gt=0)
    """How long an upload may wait to be read before it is refused."""
    waiting_readings: int = Field(default=100, ge=1)
    """Maximum number of uploads that wait to be read."""
    waiting_readings_each: int = Field(default=5, ge=1)
    """Maximum number of uploads of one account that wait to be read."""
    event_streams: int = Field(default=200, ge=1)
    """Maximum number of clients that watch the progress of submissions, or a page, at the same time."""
    event_streams_each: int = Field(default=10, ge=1)
    """Maximum number of such clients of one account, or of one network without an account."""
    header_seconds: float = Field(default=10.0, gt=0)
    """How long a client may take to send the headers of a request."""
    body_seconds: float = Field(default=120.0, gt=0)
    """How long a client may take to send a request, and may leave a response unread."""

    board_bytes: int = Field(default=256 * 2**20, gt=0)
    """Memory for leaderboards in the web process: replicates, tests of pairs, finished boards."""

    @property
    def session_lifetime(self) -> Lifetime:
        """How long a browser session lasts."""
        return Lifetime(self.session_seconds, self.session_longest_seconds)


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long a browser session lasts."""

    unused_seconds: float
    """Since its last use."""
    longest_seconds: float
    """Since signing in, even if it is used: a stolen session ends, too."""


def site_url(settings: WebSettings) -> str:
    """Return the public URL of the server. Never taken from a request's host, which anybody can set."""
    if settings.public_url:
        return settings.public_url.rstrip("/")
    return f"http://{settings.web_host}:{settings.web_port}"
