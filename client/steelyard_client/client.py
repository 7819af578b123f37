"""The client: one method per operation."""

from __future__ import annotations

import gzip
import time
import uuid
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from steelyard_client.documents.accounts import MeResponse
from steelyard_client.documents.campaigns import CampaignResponse, CampaignSummary
from steelyard_client.documents.comparisons import ComparisonsResponse, TrialsProgressResponse
from steelyard_client.documents.leaderboards import LeaderboardResponse, LeaderboardSummary
from steelyard_client.documents.submissions import (
    DiagnosisResponse,
    FindingResponse,
    ProgressResponse,
    SubmissionCreatedResponse,
    SubmissionResponse,
    SubmissionWithScoresResponse,
)
from steelyard_client.errors import Conflict, NotSignedIn
from steelyard_client.reading import decode
from steelyard_client.transport import RetryPolicy, Transport, drop_none, path_of
from steelyard_client.watching import watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType

    import httpx

GZIP_ABOVE_BYTES = 2**20
"""Larger files are compressed with gzip before they are sent."""
TRIALS_POLL_SECONDS = 0.5
"""Interval between two polls of running randomization tests."""
MOST_SYSTEMS = 1000
"""Systems of a leaderboard in one response."""
UNCHANGED = object()
"""Default of `declare`: leaves a field unchanged."""


class Client:
    """A client of one server, with a token or anonymous. Not thread-safe: use one client per thread.

    Parameters
    ----------
    server
        URL of the server; without a scheme, https.
    token
        Access token; None for anonymous access.
    patience
        When and how often requests are retried; default `RetryPolicy()`.
    transport, sleep
        Replacements for the network and the clock, for tests.

    Raises
    ------
    NotSteelyard
        The URL is invalid, or a token would be sent without https.

    """

    def __init__(
        self,
        server: str,
        token: str | None = None,
        *,
        patience: RetryPolicy | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._transport = Transport(server, token, patience=patience, transport=transport, sleep=sleep)
        self._sleep = sleep

    @property
    def server(self) -> str:
        """The server's URL."""
        return self._transport.server

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close its connections."""
        self._transport.close()

    def me(self) -> MeResponse:
        """The account of the token. Raises NotSignedIn."""
        me = decode(MeResponse, self._transport.get("me"))
        if not me.signed_in:
            raise NotSignedIn(401, "not_signed_in", "The token is missing or invalid.")
        return me

    def campaigns(self) -> Iterator[CampaignSummary]:
        """The campaigns that the account may see, newest first."""
        return (decode(CampaignSummary, each) for each in self._transport.pages("campaigns"))

    def campaign(self, name: str) -> CampaignResponse:
        """A campaign with its rules. Raises NotFound."""
        return decode(CampaignResponse, self._transport.get("campaigns", name))

    def leaderboards(self, campaign: str) -> list[LeaderboardSummary]:
        """The leaderboards of a campaign: one for each test set and list of references."""
        listed = self._transport.pages("campaigns", campaign, "leaderboards")
        return [decode(LeaderboardSummary, each) for each in listed]

    def leaderboard(
        self,
        campaign: str,
        *,
        test_set: str = "",
        references: Sequence[str] = (),
        metric: str = "",
        shown: str = "ranked",
        constrained: str = "",
        board: int | None = None,
    ) -> LeaderboardResponse:
        """A leaderboard with all its systems. An unchanged leaderboard is taken from the client's cache.

        Parameters
        ----------
        campaign
            Name of the campaign.
        test_set
            Name or NAME@VERSION; default the first one.
        references
            Labels; default the longest list.
        metric
            The ranking metric; default that of the campaign.
        shown
            "ranked", or "all" to include unranked systems (contrastive, or superseded by a later submission).
        constrained
            "yes", "no", or "" for all systems.
        board
            A number from `leaderboards`, to select one that is not the newest.

        Raises
        ------
        NotFound
            There is no such leaderboard.
        Forbidden
            The leaderboard is not shown in this phase.

        """
        filters = {
            "test_set": test_set or None,
            "references": ",".join(references) or None,
            "metric": metric or None,
            "shown": shown,
            "constrained": constrained or None,
            "board": board,
            "limit": MOST_SYSTEMS,
        }
        found = self._transport.get("campaigns", campaign, "leaderboard", **filters)
        items, following = [*found["items"]], found["next"]
        while following is not None:
            page = self._transport.get("campaigns", campaign, "leaderboard", after=following, **filters)
            items, following = items + page["items"], page["next"]
        return decode(LeaderboardResponse, {**found, "items": items, "next": None})

    def leaderboard_file(self, campaign: str, kind: str, **filters: Any) -> bytes:
        """A leaderboard as a csv, tsv or latex file; `filters` as in `leaderboard`, references as one string."""
        params = drop_none({**filters, "format": kind})
        return self._transport.send("GET", path_of("campaigns", campaign, "leaderboard"), params=params).content

    def compare(
        self,
        campaign: str,
        systems: Sequence[int] = (),
        *,
        test_set: str = "",
        references: Sequence[str] = (),
        metric: str = "",
        test: str = "bootstrap",
        correction: str = "none",
        board: int | None = None,
        on_progress: Callable[[TrialsProgressResponse], None] | None = None,
    ) -> ComparisonsResponse:
        """Compare all pairs of systems, by all metrics or one.

        Parameters
        ----------
        campaign
            Name of the campaign.
        systems
            Submission numbers; default the best eight systems.
        test_set, references, metric, board
            As in `leaderboard`; without `metric`, all metrics.
        test
            "bootstrap", or "randomization"; missing randomization tests are requested and waited for.
        correction
            "none", "holm" or "bh".
        on_progress
            Called at each poll while randomization tests run.

        Raises
        ------
        NotFound, Forbidden, BadInput
            As for a leaderboard, or the parameters are invalid.
        Conflict
            Some pairs could not be tested.

        """
        filters = drop_none(
            {
                "system": list(systems) or None,
                "test_set": test_set or None,
                "references": ",".join(references) or None,
                "metric": metric or None,
                "test": test,
                "correction": correction,
                "board": board,
            }
        )
        address = path_of("campaigns", campaign, "comparisons")
        found = decode(ComparisonsResponse, self._transport.ask("GET", address, params=filters))
        if test == "bootstrap" or not found.lacking:
            return found
        found = decode(ComparisonsResponse, self._transport.ask("POST", address, params=filters))
        while found.progress is not None and found.progress.running:
            if on_progress is not None:
                on_progress(found.progress)
            self._sleep(TRIALS_POLL_SECONDS)
            polled = {**filters, "comparison": found.progress.comparison}
            found = decode(ComparisonsResponse, self._transport.ask("GET", address, params=polled))
        if found.lacking:
            why = found.progress.failure if found.progress is not None else ""
            raise Conflict(409, "not_tested", why or "Some pairs could not be tested.")
        return found

    def submit(
        self,
        campaign: str,
        output: Path | str | bytes,
        *,
        system: str,
        team: str = "",
        test_set: str = "",
        run: str = "",
        kind: str = "",
        constrained: bool | None = None,
        description: str = "",
        override: bool = False,
        key: str | None = None,
        name: str = "",
        on_progress: Callable[[int, int], None] | None = None,
    ) -> SubmissionCreatedResponse:
        """Submit a system's output; returns the submission with its findings and the state of the quotas.

        An interrupted request is retried with the same idempotency key, so that it takes effect once.

        Parameters
        ----------
        campaign
            Name of the campaign.
        output
            A path, or the content as bytes.
        system
            Name of the system.
        team, test_set
            Optional if the account has only one team, or the campaign only one test set.
        run
            Label of one of several runs of the system.
        kind, constrained, description
            The declaration, as in `declare`.
        override
            Submit as an organiser, regardless of the phases.
        key
            An idempotency key, to make several calls take effect once.
        name
            File name to send instead of that of `output`.
        on_progress
            Called with the bytes sent and the total number of bytes.

        Raises
        ------
        BadInput
            The output cannot be scored; `details` has all findings, and nothing is stored.
        TooMany
            A quota is exhausted; nothing is stored.

        """
        content, name = _read(output, name)
        fields = _form_fields(
            system=system, team=team, test_set=test_set, run=run, kind=kind, constrained=constrained,
            description=description, override=override,
        )  # fmt: skip
        address = path_of("campaigns", campaign, "submissions")
        return decode(
            SubmissionCreatedResponse,
            self._upload(address, content, name, fields, key or str(uuid.uuid4()), on_progress),
        )

    def diagnose(
        self,
        campaign: str,
        output: Path | str | bytes,
        *,
        system: str,
        team: str = "",
        test_set: str = "",
        run: str = "",
    ) -> list[FindingResponse]:
        """Check an output without submitting it. Nothing is stored."""
        content, name = _read(output, "")
        fields = _form_fields(system=system, team=team, test_set=test_set, run=run)
        found = self._upload(path_of("campaigns", campaign, "diagnosis"), content, name, fields, None, None)
        return decode(DiagnosisResponse, found).findings

    def submission(self, number: int) -> SubmissionWithScoresResponse:
        """A submission with its disclosed scores. Raises NotFound."""
        return decode(SubmissionWithScoresResponse, self._transport.get("submissions", number))

    def submissions(
        self, campaign: str, *, team: str = "", test_set: str = "", kind: str = ""
    ) -> Iterator[SubmissionResponse]:
        """The submissions of the account's teams (organisers: of all), newest first, without scores.

        `kind` is primary, contrastive, late or withdrawn; "" for all.
        """
        listed = self._transport.pages(
            "campaigns", campaign, "submissions", team=team or None, test_set=test_set or None, kind=kind or None
        )
        return (decode(SubmissionResponse, each) for each in listed)

    def watch(self, number: int) -> Iterator[ProgressResponse]:
        """The progress of a submission, at each change, until it is done, failed or cancelled."""
        return watch(self._transport, number, self._sleep)

    def wait(self, number: int) -> SubmissionWithScoresResponse:
        """Wait until a submission is done, failed or cancelled, and return it."""
        for _ in self.watch(number):
            pass
        return self.submission(number)

    def declare(
        self, number: int, *, kind: str | None = None, constrained: Any = UNCHANGED, description: str | None = None
    ) -> SubmissionResponse:
        """Change the declaration of a submission; omitted fields stay unchanged.

        `kind` is primary, contrastive or "" for neither; `constrained` is True, False, or None for not specified.
        """
        update = drop_none({"kind": kind, "description": description})
        if constrained is not UNCHANGED:
            update["constrained"] = constrained
        return decode(SubmissionResponse, self._transport.ask("PATCH", path_of("submissions", number), json=update))

    def withdraw(self, number: int) -> SubmissionResponse:
        """Withdraw a submission from all leaderboards."""
        return decode(SubmissionResponse, self._transport.ask("DELETE", path_of("submissions", number)))

    def reinstate(self, number: int) -> SubmissionResponse:
        """Undo the withdrawal of a submission."""
        return decode(SubmissionResponse, self._transport.ask("POST", path_of("submissions", number, "reinstate")))

    def output(self, number: int) -> bytes:
        """The text of a submission, one segment per line."""
        return self._transport.send("GET", path_of("submissions", number, "output")).content

    def _upload(
        self,
        address: str,
        content: bytes,
        name: str,
        fields: Mapping[str, Any],
        key: str | None,
        on_progress: Callable[[int, int], None] | None,
    ) -> Any:
        if len(content) > GZIP_ABOVE_BYTES:
            content, name = gzip.compress(content, mtime=0), f"{name}.gz"
        form = {field: _as_text(value) for field, value in fields.items()}
        file = _ProgressReader(content, on_progress)
        return self._transport.ask("POST", address, key=key, data=form, files={"file": (name, file)})


class _ProgressReader(BytesIO):
    """A file that reports how much of it was read; a retry starts again at 0."""

    def __init__(self, content: bytes, on_progress: Callable[[int, int], None] | None) -> None:
        super().__init__(content)
        self._on_progress, self._size = on_progress, len(content)

    def read(self, size: int | None = -1, /) -> bytes:
        part = super().read(size)
        if self._on_progress is not None:
            self._on_progress(self.tell(), self._size)
        return part


def _read(output: Path | str | bytes, name: str) -> tuple[bytes, str]:
    if isinstance(output, bytes):
        return output, name or "output.txt"
    path = Path(output)
    return path.read_bytes(), name or path.name


def _form_fields(**fields: Any) -> dict[str, Any]:
    """The fields of a form, without empty ones."""
    filled = drop_none({name: value for name, value in fields.items() if value != ""})
    if not filled.get("override"):
        filled.pop("override", None)
    return filled


def _as_text(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
