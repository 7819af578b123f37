"""A server in this process, for verbs with --database: it answers the client with the routes that are asked for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx

from cli.errors import explained
from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fastapi import FastAPI, Request, Response
    from starlette.routing import BaseRoute

    from analysis.meta_evaluation.metrics_and_human import BoardCorrelation
    from campaigns.accounts.principal import Principal
    from runtime.service_settings import WebSettings
    from steelyard_client.commands.leaderboards.comparison import Compared

VISITOR = "nobody"
"""The name of somebody without an account."""
API = "/api/v1"
UNLIMITED = 10**9
"""Whoever has the database could read and write it directly without a limit."""
A_WEEK = 7 * 86_400.0
"""Seconds: PostgreSQL counts milliseconds of a statement up to 2^31."""
LIMITS: dict[str, Any] = {
    **dict.fromkeys(("requests_per_minute", "uploads_per_minute", "checks_per_day", "invitations_per_day"), UNLIMITED),
    **dict.fromkeys(("upload_bytes", "unpacked_bytes"), 2**40),
    **dict.fromkeys(("statement_seconds", "reading_seconds", "segment_seconds"), A_WEEK),
}
READS = frozenset({"GET", "HEAD"})
_ROUTES: dict[str, list[BaseRoute]] = {}
"""By file, as the first app has them: they know no settings, and FastAPI finds out once what each of them wants."""


class DatabaseTransport(httpx.BaseTransport):
    """Hands requests to an app instead of sending them: as the command line, which may do everything, or an account.

    The app starts with the first request, and ends when this is closed.
    """

    def __init__(self, database: str | None, account: str | None) -> None:
        self._database, self._account = database, account
        self._runner = asyncio.Runner()
        self._app: FastAPI | None = None
        self._included: set[str] = set()
        self._principal: Principal | None = None
        self._transport = httpx.ASGITransport(self._as_principal)

    def close(self) -> None:
        """End the app."""
        if self._app is not None:
            self._app.state.steelyard.close()
        self._runner.close()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The app's answer. Raises CommandError where there is no such database or account."""
        if self._account and request.method not in READS:
            raise UsageError("--as shows a database as an account sees it, and changes nothing.")
        try:
            app = self._app = self._app or self._opened(create=request.method not in READS)
            self._include(app, request.url.path.removeprefix(API))
        except Exception as error:
            if (known := explained(error)) is None:
                raise
            kind = UsageError if known[1] == 2 else CommandError
            raise kind(known[0]) from error
        return self._runner.run(self._answered(request))

    @property
    def as_account(self) -> bool:
        """Whether it shows what an account sees."""
        return bool(self._account)

    @property
    def brings_workers(self) -> bool:
        """Whether there is no broker, so that commands bring their own workers."""
        from cli.stored import settings_for

        return settings_for(self._database).embedded

    def finish_comparison(self, comparison: int) -> None:
        """Compute a comparison by processes of this command, where there is no broker; else wait for the workers."""
        from cli.processes.working import finish_comparison

        self._end_app()
        finish_comparison(self._database, comparison)

    def finish_metrics_task(self, campaign: str, human: str) -> None:
        """Compute the columns of a metrics task that take long and are not stored, as `finish_comparison` does."""
        from campaigns.errors import CampaignsError
        from campaigns.inspection.metrics_task import read_metrics_task
        from campaigns.permissions import read_access
        from cli.processes.working import finish_metrics_task
        from models.database.session import reading
        from models.errors import ModelsError
        from models.queue_status.progress import read_columns_progress

        app = self._app = self._app or self._opened(create=False)
        state = app.state.steelyard
        assert self._principal is not None
        try:
            with reading(state.engine) as connection:
                access = read_access(connection, self._principal, campaign)
            read_metrics_task(state.engine, state.settings, state.metrics_tasks, access, human, 0.0)
            with reading(state.engine) as connection:
                waiting = read_columns_progress(connection, access.campaign_id).open
        except (CampaignsError, ModelsError):
            # The request that comes next says what is wrong.
            return
        if waiting:
            self._end_app()
            finish_metrics_task(self._database, access.campaign_id)

    def finish_evaluations(self, evaluations: Sequence[int], processes: int | None = None) -> None:
        """Compute evaluations by processes of this command, where there is no broker; else wait for the workers."""
        from cli.processes.working import finish_evaluations

        self._end_app()
        finish_evaluations(self._database, evaluations, processes)

    def write_report(self, path: Path, compared: Sequence[Compared], *, single: bool, by: str) -> None:
        """Write a page about comparisons, with the texts behind them."""
        from cli.leaderboards.report import report
        from cli.stored import settings_for
        from models.database.session import make_engine
        from scheduler.embedded.wait import read_with_retries
        from steelyard.commands.writing import write_file

        engine = make_engine(settings_for(self._database).database_url)
        try:
            page = read_with_retries(engine, lambda connection: report(connection, compared, single=single, by=by))
        finally:
            engine.dispose()
        write_file(path, page)

    def draw_schedule(self, name: str, path: Path) -> None:
        """Draw the scores of a schedule over its runs. Raises CommandError where it has had none."""
        from campaigns.inspection.scheduled_runs import visible_history
        from cli.schedules.history import history_svg
        from models.database.session import reading
        from steelyard.commands.writing import write_file

        assert self._app is not None
        assert self._principal is not None
        with reading(self._app.state.steelyard.engine) as connection:
            history = visible_history(connection, self._principal, name)
        if not history.nightly_runs:
            raise CommandError(f'The schedule "{name}" has had no run yet: there is nothing to plot.')
        write_file(path, history_svg(history))

    def write_correlations(
        self, asked: Sequence[tuple[str, dict[str, Any]]], *, plot: Path | None, report: Path | None, width: int
    ) -> None:
        """Write a plot and a page of correlations: campaigns, each with the arguments of `read_correlations`."""
        from campaigns.inspection.correlations import CorrelationQuery
        from campaigns.inspection.metrics_and_human import read_metrics
        from campaigns.permissions import read_access
        from cli.meta_evaluation.correlation_report import draw, page
        from models.database.session import reading
        from steelyard.commands.writing import write_file
        from steelyard_client.vocabulary import Granularity, PValueCorrection

        assert self._app is not None
        assert self._principal is not None
        state = self._app.state.steelyard
        tables: list[BoardCorrelation] = []
        for campaign, wanted in asked:
            with reading(state.engine) as connection:
                access = read_access(connection, self._principal, campaign)
            seen = read_metrics(
                state.boards, access, wanted["test_set"], "", wanted["human"], wanted["without"],
                board_number=wanted["board"], metrics=wanted["metric"],
            )  # fmt: skip
            query = CorrelationQuery(
                Granularity(wanted["granularity"]), tuple(wanted["statistic"]), wanted["replicates"], wanted["level"],
                wanted["trials"], PValueCorrection(wanted["correction"]), wanted["baseline"],
            )  # fmt: skip
            # They were just computed, and are kept.
            tables += (state.metrics.tables(seen.judged, None, query) if seen.judged else None) or []
        if plot:
            draw(tables, plot)
        if report:
            write_file(report, page(tables, width))
            note([f"the report is in {report}"])

    def _end_app(self) -> None:
        """Processes are forked, and must not inherit connections."""
        if self._app is not None:
            self._app.state.steelyard.close()
            self._app = None
            self._included.clear()

    def _opened(self, *, create: bool) -> FastAPI:
        from sqlalchemy.exc import OperationalError

        from campaigns.accounts.principal import COMMAND_LINE
        from campaigns.accounts.throttle import Throttle
        from cli.stored import require_schema, settings_for
        from runtime.service_settings import WebSettings
        from web.service import create_service

        settings = settings_for(self._database, WebSettings).model_copy(update=LIMITS)
        # The tables of a new SQLite file are made with the first thing that is stored in it.
        require_schema(settings, create=create)
        self._principal = _principal_of(settings, self._account) if self._account else COMMAND_LINE
        service = create_service(settings)
        # The limits are counted here, and no broker is needed.
        service.state.steelyard.throttle = Throttle("memory://")
        service.add_exception_handler(OperationalError, _database_error)
        return service

    def _include(self, app: FastAPI, path: str) -> None:
        from web.api.routers import file_for, router_of

        file = file_for(path)
        if file is None or file in self._included:
            return
        self._included.add(file)
        if file in _ROUTES:
            app.router.routes.extend(_ROUTES[file])
        else:
            known = len(app.router.routes)
            app.include_router(router_of(file), prefix=API)
            _ROUTES[file] = app.router.routes[known:]

    async def _answered(self, request: httpx.Request) -> httpx.Response:
        answer = await self._transport.handle_async_request(request)
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        content = b"".join([chunk async for chunk in answer.stream])
        # Without its stream: the client decompresses what it gets.
        return httpx.Response(answer.status_code, headers=answer.headers.raw, stream=httpx.ByteStream(content))

    async def _as_principal(self, scope: Any, receive: Any, send: Any) -> None:
        assert self._app is not None
        scope.setdefault("state", {})["principal"] = self._principal
        await self._app(scope, receive, send)


async def _database_error(request: Request, error: Exception) -> Response:
    """What is wrong with the database, which a server does not tell visitors."""
    from sqlalchemy.exc import DBAPIError

    from campaigns.errors import Unavailable
    from models.database.error_kinds import explain
    from web.exception_handlers import error_response

    assert isinstance(error, DBAPIError)
    return error_response(request, Unavailable(explain(error)))


def _principal_of(settings: WebSettings, account: str) -> Principal:
    from campaigns.accounts.accounts import find_account
    from campaigns.accounts.principal import NOBODY, principal_of_account
    from models.database.session import make_engine, reading
    from models.schema.roles import Scope

    if account == VISITOR:
        return NOBODY
    engine = make_engine(settings.database_url)
    try:
        with reading(engine) as connection:
            principal = principal_of_account(connection, find_account(connection, account).id, Scope.READ)
    finally:
        engine.dispose()
    if not principal.signed_in:
        raise CommandError(f"The account {account} is disabled: it sees what {VISITOR} sees.")
    return principal
