"""The server as an object."""

from __future__ import annotations

import gzip
import time
import uuid
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from web.client.answers import (
    BoardListed,
    Campaign,
    Comparisons,
    Finding,
    Leaderboard,
    Me,
    Progress,
    Submission,
    Trying,
)
from web.client.errors import Conflict, NotSignedIn
from web.client.shaping import shaped
from web.client.transport import Patience, Transport, given, path_of
from web.client.watching import watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType

    import httpx

PACKED_BYTES = 2**20
"""Larger files are packed with gzip before they are sent."""
TRYING_SECONDS = 0.5
"""Between two questions how far randomization tests are."""
UNCHANGED = object()
"""Of what is said about a submission: it stays as it is."""


class Client:
    """One server, asked with one token or as nobody. Not for several threads at once; make one for each."""

    def __init__(
        self,
        server: str,
        token: str | None = None,
        *,
        patience: Patience | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._transport = Transport(server, token, patience=patience, transport=transport, sleep=sleep)
        self._sleep = sleep

    @property
    def server(self) -> str:
        """Its address."""
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

    def me(self) -> Me:
        """Whose token it is. Raises NotSignedIn."""
        me = shaped(Me, self._transport.get("me"))
        if not me.signed_in:
            raise NotSignedIn(401, "not_signed_in", "There is no token, or it is not good here.")
        return me

    def campaigns(self) -> Iterator[Campaign]:
        """The campaigns that one may know of, the newest first."""
        return (shaped(Campaign, each) for each in self._transport.pages("campaigns"))

    def campaign(self, name: str) -> Campaign:
        """A campaign with its rules. Raises NotThere."""
        return shaped(Campaign, self._transport.get("campaigns", name))

    def leaderboards(self, campaign: str) -> list[BoardListed]:
        """The leaderboards of a campaign: one for each test set and list of references."""
        found = self._transport.get("campaigns", campaign, "leaderboards")
        return [shaped(BoardListed, each) for each in found["items"]]

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
    ) -> Leaderboard:
        """A leaderboard with all its systems: by default of the first test set, against the most references.

        `metric` ranks; `shown` is ranked or all, with contrastive systems and those that a later one stands for;
        `constrained` is yes, no, or "" for all; `board` is a number of `leaderboards`. Where nothing has changed since
        it was asked for last, nothing is sent. Raises NotThere, and Forbidden while it is not shown.
        """
        found = self._transport.get(
            "campaigns",
            campaign,
            "leaderboard.json",
            test_set=test_set or None,
            references=",".join(references) or None,
            metric=metric or None,
            shown=shown,
            constrained=constrained or None,
            board=board,
        )
        return shaped(Leaderboard, found)

    def leaderboard_file(self, campaign: str, kind: str, **wanted: Any) -> bytes:
        """The same as a file of kind csv, tsv or tex; `wanted` as of `leaderboard`, references with commas."""
        address = path_of("campaigns", campaign, f"leaderboard.{kind}")
        return self._transport.send("GET", address, params=given(wanted)).content

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
        on_progress: Callable[[Trying], None] | None = None,
    ) -> Comparisons:
        """All pairs of systems, given by numbers of their submissions, or of the best eight, by every metric or one.

        `test` is bootstrap or randomization, whose tests are made where they are lacking: that is waited for.
        `correction` is holm, bh or none. Raises NotThere, Forbidden, BadInput; Conflict where tests cannot be made.
        """
        wanted = given(
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
        found = shaped(Comparisons, self._transport.ask("GET", address, params=wanted))
        if test == "bootstrap" or not found.lacking:
            return found
        found = shaped(Comparisons, self._transport.ask("POST", address, params=wanted))
        while found.progress is not None and found.progress.running:
            if on_progress is not None:
                on_progress(found.progress)
            self._sleep(TRYING_SECONDS)
            asked = {**wanted, "comparison": found.progress.comparison}
            found = shaped(Comparisons, self._transport.ask("GET", address, params=asked))
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
    ) -> Submission:
        """Hand in a system's output, a file or its bytes; the submission, with what was noticed and how quotas stand.

        A request that breaks off is sent again with the same key, so that nothing is done twice; the caller's `key`
        does that over several calls. The team may be left out by who is in only one, the test set where there is only
        one. `on_progress` hears bytes sent and bytes in all. Raises BadInput with all findings where the output cannot
        be scored, TooMany where a quota is used up; then nothing is stored.
        """
        content, name = _read(output, name)
        said = _said(
            system=system, team=team, test_set=test_set, run=run, kind=kind, constrained=constrained,
            description=description, override=override,
        )  # fmt: skip
        address = path_of("campaigns", campaign, "submissions")
        return shaped(Submission, self._handed_in(address, content, name, said, key or str(uuid.uuid4()), on_progress))

    def diagnose(
        self,
        campaign: str,
        output: Path | str | bytes,
        *,
        system: str,
        team: str = "",
        test_set: str = "",
        run: str = "",
    ) -> list[Finding]:
        """What would be noticed about an output. Nothing is stored."""
        content, name = _read(output, "")
        said = _said(system=system, team=team, test_set=test_set, run=run)
        found = self._handed_in(path_of("campaigns", campaign, "diagnosis"), content, name, said, None, None)
        return [shaped(Finding, each) for each in found["findings"]]

    def submission(self, number: int) -> Submission:
        """A submission with its scores, as far as they are told. Raises NotThere."""
        return shaped(Submission, self._transport.get("submissions", number))

    def submissions(self, campaign: str, *, team: str = "", test_set: str = "", kind: str = "") -> Iterator[Submission]:
        """The submissions of one's teams, or of all for organisers, the newest first and without scores.

        `kind` is primary, contrastive, late or withdrawn; "" for all.
        """
        listed = self._transport.pages(
            "campaigns", campaign, "submissions", team=team or None, test_set=test_set or None, kind=kind or None
        )
        return (shaped(Submission, each) for each in listed)

    def watch(self, number: int) -> Iterator[Progress]:
        """How far a submission is, each time that it changes, until it is measured, failed or cancelled."""
        return watch(self._transport, number, self._sleep)

    def wait(self, number: int) -> Submission:
        """The submission, once it is measured, failed or cancelled."""
        for _ in self.watch(number):
            pass
        return self.submission(number)

    def declare(
        self, number: int, *, kind: str | None = None, constrained: Any = UNCHANGED, description: str | None = None
    ) -> Submission:
        """Say of a submission that it is primary, contrastive, constrained (None: nothing is said), what it is."""
        said = given({"kind": kind, "description": description})
        if constrained is not UNCHANGED:
            said["constrained"] = constrained
        return shaped(Submission, self._transport.ask("PATCH", path_of("submissions", number), json=said))

    def withdraw(self, number: int) -> Submission:
        """Take a submission off all boards."""
        return shaped(Submission, self._transport.ask("DELETE", path_of("submissions", number)))

    def reinstate(self, number: int) -> Submission:
        """Let a submission stand again that was withdrawn."""
        return shaped(Submission, self._transport.ask("POST", path_of("submissions", number, "reinstate")))

    def output(self, number: int) -> bytes:
        """The text of a submission, one segment per line."""
        return self._transport.send("GET", path_of("submissions", number, "output")).content

    def _handed_in(
        self,
        address: str,
        content: bytes,
        name: str,
        said: Mapping[str, Any],
        key: str | None,
        on_progress: Callable[[int, int], None] | None,
    ) -> Any:
        if len(content) > PACKED_BYTES:
            content, name = gzip.compress(content, mtime=0), f"{name}.gz"
        form = {field: _as_text(value) for field, value in said.items()}
        file = _Watched(content, on_progress)
        return self._transport.ask("POST", address, key=key, data=form, files={"file": (name, file)})


class _Watched(BytesIO):
    """A file that tells how much of it was read, from the beginning again where it is sent again."""

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


def _said(**fields: Any) -> dict[str, Any]:
    """What is said: nothing of what is empty."""
    said = given({name: value for name, value in fields.items() if value != ""})
    if not said.get("override"):
        said.pop("override", None)
    return said


def _as_text(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
