"""A server with campaigns of all kinds and people of all roles, whose every name and text is a trap.

Canaries are words that only some may see; `SCRIPT` is what runs in a browser wherever somebody forgot to escape it.
"""

from __future__ import annotations

import shutil
import uuid
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from fastapi.testclient import TestClient
from sqlalchemy import URL, ColumnElement, func, insert, make_url, select, update

from campaigns.accounts.secrets import hash_of, new_secret
from campaigns.test_sets.files import NamedContent
from models.corpus.judgments import NewJudgments, SystemRow, store_judgments
from models.database.session import reading, writing
from models.notices.notify import NewNotice, notify
from models.schema.accounts import Account, Confirmation, Invitation, Team
from models.schema.base import now
from models.schema.campaigns import CampaignMember, CampaignTestSet, Correction, Declaration, Phase, Quota
from models.schema.corpus import Submission, System
from models.schema.imported import ScoreImport
from models.schema.nightly import NightlyRun
from models.schema.notices import NoticeAddress, NoticeChoice
from models.schema.queue import Comparison, Evaluation
from models.schema.roles import CampaignRole, Feedback, PhaseKind, Scope, SiteRole, Visibility
from models.schema.states import JudgmentKind, NightlyRunState
from models.schema.systems import SystemDescription
from steelyard_client.vocabulary import NoticeChannel, NoticeKind
from tests.analysis.nightly_runs import add_nightly_run, add_schedule
from tests.databases import drop, execute
from tests.scheduler.jobs import work_off
from tests.service.campaigns import given, submit_output, with_test_set
from tests.service.people import CHEAPLY_HASHED
from tests.service.service import DAY, Service
from web.dependencies import FORM_HEADER, SESSION_COOKIE, form_token

SCRIPT = "\"'><script>alert(1)</script><img src=x onerror=alert(2)><a href=javascript:alert(3)>x</a>{{7*7}}"
SHORT = "\"'><script>alert(1)</script><i onclick=alert(2)>"

ROLES = (
    "nobody",
    "disabled",
    "stranger",
    "rival",
    "other_organiser",
    "viewer",
    "member",
    "lead",
    "organiser",
    "administrator",
)
"""`stranger` is a participant of no team; `rival` leads a team that is in all campaigns but the private one; `viewer`
may look at the private campaign; `member` and `lead` are of the team "harbour", which is in all but "elsewhere";
`other_organiser` organises that one; `disabled` was a lead of "harbour" and an organiser of all others."""

OPEN, BLIND, PRIVATE, ELSEWHERE = "shown", "bay", "hush", "elsewhere"
"""Campaigns: public and published; public, anonymous and blind; private and blind; and private of somebody else."""

GHOSTS = "canaryteam"
"""A team in the blind campaign alone, whose name nobody else may learn."""

WORDS = ("anchor", "boat", "cliff", "dune", "ebb", "ferry", "gull", "harbour")
DOCUMENTS = "segment\tdoc_id\tdomain\n" + "".join(
    f"{number}\t{'quay' if number < 4 else 'sea'}\t{'news' if number < 4 else 'talk'}\n" for number in range(len(WORDS))
)
SYSTEMS = {"harbour": ("mast", "keel"), "rivals": ("oar", "hull"), GHOSTS: ("canarysystem",)}
IN = {OPEN: ("harbour", "rivals"), BLIND: tuple(SYSTEMS), PRIVATE: ("harbour",), ELSEWHERE: ("rivals",)}


def hidden_from(role: str) -> frozenset[str]:
    """Words that somebody of a role must find in no answer."""
    return frozenset(word for word, seeing in CANARIES.items() if role not in seeing)


def email_of(role: str) -> str:
    return f"canary.{role}@example.org"


_ORGANISERS, _OTHERS = {"organiser", "administrator"}, {"other_organiser", "administrator"}
_INSIDE = _ORGANISERS | {"viewer", "member", "lead"}
CANARIES: dict[str, set[str]] = {
    # In references that are not released, and in the source of a phase that has not begun.
    "canaryreferencebay": _ORGANISERS,
    "canaryreferencehush": _ORGANISERS,
    "canaryreferenceelsewhere": _OTHERS,
    "canaryreferencesoon": _ORGANISERS,
    "canarysourcesoon": _ORGANISERS,
    # In outputs of others while the results are not out.
    "canaryoutputharbourbay": _ORGANISERS | {"member", "lead"},
    "canaryoutputharbourhush": _ORGANISERS | {"member", "lead"},
    "canaryoutputrivalsbay": _ORGANISERS | {"rival"},
    "canaryoutputrivalselsewhere": _OTHERS | {"rival"},
    f"canaryoutput{GHOSTS}bay": _ORGANISERS,
    # What an anonymous team and its system are called.
    GHOSTS: _ORGANISERS,
    "canarysystem": _ORGANISERS,
    "canarypublication": _ORGANISERS,
    # What private campaigns say of themselves.
    "canaryprivatehush": _INSIDE,
    "canaryprivateelsewhere": _OTHERS | {"rival"},
    # Where the server keeps its files.
    "canaryfolder": {"administrator"},
    # Addresses of people.
    **{f"canary.{role}@": {"administrator", role} for role in ROLES[1:]},
    "canary.member@": _INSIDE - {"viewer"},
    "canary.lead@": _INSIDE - {"viewer"},
    "canary.disabled@": _INSIDE - {"viewer"},
    "canary.rival@": _ORGANISERS | _OTHERS | {"rival"},
    "canary.viewer@": _ORGANISERS | {"viewer"},
    "canary.organiser@": _INSIDE,
    "canary.other_organiser@": _OTHERS,
}
"""Word -> roles that may find it."""


@dataclass
class World:
    """The service, and the secrets by which people are known to it."""

    service: Service
    sessions: dict[str, str]
    tokens: dict[str, str]
    readers: dict[str, str]
    """Tokens with the scope "read" alone."""
    accounts: dict[str, int]
    campaigns: dict[str, int]
    test_sets: dict[str, int]
    submissions: dict[tuple[str, str, str], int]
    """By campaign, team and system."""
    evaluations: dict[tuple[str, str, str], int]
    """One of each submission."""
    invitation: str
    """The secret of an invitation to the team "harbour"."""
    password_link: str
    address_link: str
    """The secrets of links that were sent to `lead`."""
    phases: dict[str, int]
    """The one of now, by campaign, and that which comes later, as "later hush"."""
    corrections: dict[str, int]
    comparison: int
    """One of systems of the private campaign, that runs."""
    systems: dict[tuple[str, str], int]
    """By team and name."""
    feed: str
    unsubscribing: str
    """The secrets of the notices of `lead`."""

    def browser(self, role: str) -> TestClient:
        """A browser with a form of ours before it."""
        if role == "nobody":
            return self.service.client(follow_redirects=False)
        secret = self.sessions[role]
        return self.service.client(
            cookies={SESSION_COOKIE: secret}, headers={FORM_HEADER: form_token(secret)}, follow_redirects=False
        )

    def program(self, role: str, *, reads_only: bool = False) -> TestClient:
        """A program with a token."""
        if role == "nobody":
            return self.service.client(follow_redirects=False)
        secret = (self.readers if reads_only else self.tokens)[role]
        return self.service.client(headers={"Authorization": f"Bearer {secret}"}, follow_redirects=False)

    def parts(self) -> dict[str, list[object]]:
        """What parts of addresses may be."""
        submissions = [self.submissions[each] for each in self.submissions]
        return {
            "name": [*self.campaigns, "missing"],
            "campaign": [*self.campaigns, "missing"],
            "team": [*SYSTEMS, "missing"],
            "account_id": [*self.accounts.values(), 10**6],
            "token_id": [1, 10**6],
            "invitation_id": [1, 10**6],
            "test_set": [*self.test_sets.values(), 10**6],
            "correction": [*self.corrections.values(), 10**6],
            "label": ["A", "missing"],
            "title": ["kept@1", "missing"],
            "run": [1, 2, 10**6],
            "submission": [*submissions, 10**6],
            "evaluation": [*self.evaluations.values(), 10**6],
            "comparison": [self.comparison, 10**6],
            "system": [*self.systems.values(), 10**6],
        }

    def pages(self) -> list[str]:
        """Where to begin, whether a link leads there or not."""
        kinds = "", "/leaderboard", "/compare", "/segments", "/metrics", "/submit", "/submissions", "/manage"
        kinds = *kinds, "/systems"
        return [
            *("/", "/about", "/sign-in", "/sign-up", "/account", "/account/tokens", "/teams", "/nightly", "/queue"),
            *(f"/campaigns/{name}{kind}" for name in self.campaigns for kind in kinds),
            *(f"/submissions/{key}" for key in self.submissions.values()),
            *("/audit", "/teams/harbour", "/teams/rivals", f"/teams/{GHOSTS}", f"/invitations/{self.invitation}"),
        ]

    def secrets(self, role: str = "") -> list[str]:
        """What must be in no page, no log and no audit entry."""
        kept = [*self.sessions.values(), *self.tokens.values(), *self.readers.values(), self.invitation]
        kept += [self.password_link, self.address_link]
        # Its owner reads the address of the own feed.
        kept += [self.unsubscribing, *([] if role == "lead" else [self.feed])]
        return [*kept, *(hash_of(each) for each in kept)]


@dataclass
class Template:
    """The world in a database, to be copied."""

    url: str
    world: World

    def copy(self, folder: Path, stack: ExitStack, **settings: object) -> World:
        """One that a test may change."""
        if (url := make_url(self.url)).get_backend_name() == "sqlite":
            own = url.set(database=str(folder / "world.db"))
        else:
            own = url.set(database=f"steelyard_world_{uuid.uuid4().hex[:8]}")
            stack.callback(drop, _server(url), str(own.database))
        address = own.render_as_string(hide_password=False)
        self.restore(address)
        values = {"requests_per_minute": 10**6, "uploads_per_minute": 10**6, "sign_up": "open", **settings}
        service = Service.start(address, stack, **values)
        for engine in (service.engine, service.app.state.steelyard.engine):
            stack.callback(engine.dispose)
        return World(**{**vars(self.world), "service": service})

    def restore(self, address: str) -> None:
        """Make a copy as it was; nobody may be connected to it."""
        known, own = make_url(self.url), make_url(address)
        if own.get_backend_name() == "sqlite":
            for ending in ("-wal", "-shm"):
                Path(f"{own.database}{ending}").unlink(missing_ok=True)
            shutil.copy(str(known.database), str(own.database))
        else:
            server = _server(known)
            execute(server, f"DROP DATABASE IF EXISTS {own.database} WITH (FORCE)")
            execute(server, f"CREATE DATABASE {own.database} TEMPLATE {known.database} STRATEGY FILE_COPY")


def _server(url: URL) -> str:
    """The database of a PostgreSQL server that is always there."""
    return url.set(database="postgres").render_as_string(hide_password=False)


def build(service: Service) -> World:
    """Fill an empty database."""
    accounts = {
        role: service.account(
            f"canary.{role}",
            {
                "administrator": SiteRole.ADMINISTRATOR,
                "organiser": SiteRole.ORGANISER,
                "other_organiser": SiteRole.ORGANISER,
                "viewer": SiteRole.VIEWER,
            }.get(role, SiteRole.PARTICIPANT),
        )
        for role in ROLES[1:]
    }
    _change(service, Account, Account.id > 0, name=SHORT, password_hash=CHEAPLY_HASHED)
    teams = {
        "harbour": service.team("harbour", accounts["lead"], accounts["member"], accounts["disabled"]),
        "rivals": service.team("rivals", accounts["rival"]),
        GHOSTS: service.team(GHOSTS, service.account("ghost")),
    }
    _change(service, Team, Team.id > 0, publication_name=SHORT, affiliation=SCRIPT)
    _change(service, Team, Team.id == teams[GHOSTS], publication_name=f"canarypublication{SHORT}")
    organisers = (accounts["organiser"], accounts["disabled"])
    campaigns: dict[str, int] = {}
    test_sets: dict[str, int] = {}
    submissions: dict[tuple[str, str, str], int] = {}
    phases: dict[str, int] = {}
    for name, inside in IN.items():
        secret = f"canaryprivate{name}" if name in (PRIVATE, ELSEWHERE) else ""
        campaigns[name] = service.campaign(
            name,
            organisers=(accounts["other_organiser"],) if name == ELSEWHERE else organisers,
            teams=tuple(teams[team] for team in inside),
            visibility=Visibility.PRIVATE if secret else Visibility.PUBLIC,
            title=f"{secret}{SCRIPT}",
            description=f"{secret}\n\n{SCRIPT}",
            anonymous=True,
        )
        kind = PhaseKind.PUBLISHED if name == OPEN else PhaseKind.BLIND
        ends = None if name == OPEN else 10 * DAY
        phase = service.phase(campaigns[name], "now", kind, ends=ends, feedback=Feedback.ROUNDED)
        _change(service, Phase, Phase.id == phase, name=f"{secret}{SHORT}")
        phases[name] = phase
        if name != OPEN:
            phases[f"later {name}"] = service.phase(campaigns[name], "later", PhaseKind.OPEN, begins=20 * DAY)
        test_sets[name] = _add_texts(service, name)
        submissions |= {
            (name, team, system): key for team in inside for system, key in _submit_output(service, name, team)
        }
    soon = given(source=_lines("canarysourcesoon {word}"), reference=_lines("canaryreferencesoon {word}"))
    test_sets["soon"] = with_test_set(service.engine, BLIND, soon, name="soon", metrics=("bleu",), phase="later")
    with writing(service.engine) as connection:
        viewer = {"campaign_id": campaigns[PRIVATE], "account_id": accounts["viewer"], "role": CampaignRole.VIEWER}
        connection.execute(insert(CampaignMember).values(**viewer))
    _change(service, CampaignTestSet, CampaignTestSet.test_set_id == test_sets[OPEN], references_released_at=now())
    work_off(service.settings)
    systems = _describe_systems(service, campaigns)
    _change(service, System, System.name == "mast", name=SHORT)
    _change(service, Declaration, Declaration.submission_id > 0, description=SCRIPT)
    sessions = {role: service.session(account) for role, account in accounts.items()}
    tokens = {role: _token(service, account, *Scope) for role, account in accounts.items()}
    readers = {role: _token(service, account, Scope.READ) for role, account in accounts.items()}
    _change(service, Account, Account.id == accounts["disabled"], disabled_at=now())
    corrections = {name: _correct(service, campaigns[name], test_sets[name]) for name in campaigns}
    with writing(service.engine) as connection:
        own = CampaignTestSet.campaign_id == campaigns[PRIVATE], CampaignTestSet.name == f"news of {PRIVATE}"
        newest = select(func.max(CampaignTestSet.test_set_id)).where(*own)
        test_set = connection.execute(newest).scalar_one()
        judged = NewJudgments("kept", JudgmentKind.SCORES, {}, [SystemRow("keel", 0.5)])
        store_judgments(connection, campaigns[PRIVATE], test_set, judged)
        kept_scores = {"name": "kept", "version": "1", "content_hash": "0" * 64, "level": "segment", "systems": 0}
        connection.execute(
            insert(ScoreImport).values(
                campaign_id=campaigns[PRIVATE],
                test_set_id=test_set,
                specification="imported:metric=kept:sha256=000000000000",
                higher_is_better=True,
                files=[{"name": f"canaryprivate{PRIVATE}.tsv", "sha256": "0" * 64}],
                notices=[],
                actor="",
                **kept_scores,
            )
        )
    for name in (PRIVATE, ELSEWHERE):
        schedule = add_schedule(service.engine, campaigns[name], name=f"canaryprivate{name} runs")
        nightly_run = add_nightly_run(service.engine, schedule, 1, {})
        # Why a run failed may tell of folders of the server.
        _change(
            service,
            NightlyRun,
            NightlyRun.id == nightly_run,
            state=NightlyRunState.FAILED,
            reason=f"{SCRIPT} in /canaryfolder",
        )
    with writing(service.engine) as connection:
        quota = {"campaign_id": campaigns[PRIVATE], "kind": "per_day", "amount": 100}
        general = {"campaign_id": None, "kind": "in_flight", "amount": 1000}
        connection.execute(insert(Quota), [quota, general])
    invitation = new_secret()
    with writing(service.engine) as connection:
        invited = {"secret_hash": hash_of(invitation), "team_id": teams["harbour"], "team_role": "member"}
        connection.execute(insert(Invitation).values(**invited, expires_at=now() + DAY, made_by=accounts["lead"]))
    with reading(service.engine) as connection:
        first = select(Evaluation.submission_id, func.min(Evaluation.id)).group_by(Evaluation.submission_id)
        evaluation_of = {row[0]: row[1] for row in connection.execute(first)}
    evaluations = {which: evaluation_of[submission] for which, submission in submissions.items()}
    with writing(service.engine) as connection:
        compared = [[key] for which, key in sorted(evaluations.items()) if which[0] == PRIVATE]
        of_one = select(Evaluation.protocol_id).where(Evaluation.id == compared[0][0]).scalar_subquery()
        row = {"content_hash": "x", "systems": compared, "tests": [[0, 0, 1]], "trials": 9, "seed": 1}
        running = insert(Comparison).values(protocol_id=of_one, remaining=1, **row).returning(Comparison.id)
        comparison = int(connection.execute(running).scalar_one())
    links = {"password": new_secret(), "address": new_secret()}
    with writing(service.engine) as connection:
        for purpose, link in links.items():
            sent = {"secret_hash": hash_of(link), "account_id": accounts["lead"], "email": email_of("lead")}
            connection.execute(insert(Confirmation).values(**sent, purpose=purpose, expires_at=now() + DAY))
    with writing(service.engine) as connection:
        addresses = {"feed_secret": new_secret(), "unsubscribe_secret": new_secret()}
        connection.execute(insert(NoticeAddress).values(account_id=accounts["lead"], **addresses))
        choice = {"account_id": accounts["lead"], "kind": NoticeKind.PHASE, "channel": NoticeChannel.MAIL}
        connection.execute(insert(NoticeChoice).values(**choice, wanted=True))
        for name in campaigns:
            secret = f"canaryprivate{name}" if name in (PRIVATE, ELSEWHERE) else ""
            new = NewNotice(
                *(campaigns[name], "announcement-1", NoticeKind.ANNOUNCEMENT, f"{secret}{SHORT}", f"{secret}{SCRIPT}"),
                f"/campaigns/{name}",
            )
            notify(connection, new, mails=True)
    return World(
        *(service, sessions, tokens, readers, accounts, campaigns, test_sets, submissions, evaluations),
        *(invitation, links["password"], links["address"], phases, corrections, comparison, systems),
        *(addresses["feed_secret"], addresses["unsubscribe_secret"]),
    )


def _describe_systems(service: Service, campaigns: dict[str, int]) -> dict[tuple[str, str], int]:
    """Descriptions of all systems in all campaigns; those of an anonymous team give it away."""
    with writing(service.engine) as connection:
        rows = connection.execute(
            select(System.id, System.team, System.name, Submission.campaign_id)
            .join(Submission, Submission.system_id == System.id)
            .distinct()
            .order_by(System.id, Submission.campaign_id)
        ).all()
        for row in rows:
            secret = "canarysystem" if row.team == GHOSTS else ""
            said = {"description": f"{secret}{SCRIPT}", "affiliation": f"{secret}{SCRIPT}"[:200], "parameters": 7}
            addresses = {"paper_url": f"https://example.org/{SHORT}", "url": "javascript:alert(3)"}
            key = {"campaign_id": row.campaign_id, "system_id": row.id}
            connection.execute(insert(SystemDescription).values(**key, **said, **addresses))
    return {(row.team, row.name): row.id for row in rows}


def _correct(service: Service, campaign: int, test_set: int) -> int:
    """A correction that has changed nothing."""
    row = {"campaign_id": campaign, "old_test_set_id": test_set, "new_test_set_id": test_set, "reason": SCRIPT}
    with writing(service.engine) as connection:
        return int(connection.execute(insert(Correction).values(**row).returning(Correction.id)).scalar_one())


def _lines(pattern: str) -> bytes:
    return "".join(pattern.format(word=word) + "\n" for word in WORDS).encode()


def _add_texts(service: Service, campaign: str) -> int:
    hidden = "openreference" if campaign == OPEN else f"canaryreference{campaign}"
    texts = given(
        reference=_lines(f"{hidden} the {{word}} of {campaign} {SHORT}"),
        source=_lines(f"zdroj {{word}} {campaign} {SHORT}"),
        documents=NamedContent("docs.tsv", DOCUMENTS.encode()),
    )
    name = f"news of {campaign}"
    return with_test_set(service.engine, campaign, texts, name=name, metrics=("bleu", "chrf"), replicates=20)


def _submit_output(service: Service, campaign: str, team: str) -> list[tuple[str, int]]:
    mark = "plain" if campaign == OPEN else f"canaryoutput{team}{campaign}"
    return [
        (
            system,
            submit_output(
                service.engine, campaign, team, system, _lines(f"{mark} the {{word}} {number} {SHORT}")
            ).submission,
        )
        for number, system in enumerate(SYSTEMS[team])
    ]


def _token(service: Service, account: int, *scopes: Scope) -> str:
    client = service.program(account, *scopes)
    return str(client.headers["Authorization"]).removeprefix("Bearer ")


def _change(service: Service, table: type, where: ColumnElement[bool], **values: object) -> None:
    with writing(service.engine) as connection:
        connection.execute(update(table).where(where).values(**values))
