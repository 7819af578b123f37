"""Who may call which route: the whole table. A route that is not here fails the tests.

Each is called by everybody with what makes a good request of it, about the private campaign "hush" and the team
"harbour" where it is about one. `who` are those who must not be refused; all others must be, and nothing may change.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.service.people import PASSWORD
from tests.web.hostile.world import PRIVATE, ROLES, World, email_of

EVERYBODY = frozenset(ROLES)
SIGNED_IN = EVERYBODY - {"nobody", "disabled"}
INSIDE = frozenset({"viewer", "member", "lead", "organiser", "administrator"})
"""Those who may know of the private campaign."""
TEAM = frozenset({"member", "lead"})
LEADS = frozenset({"lead"})
ORGANISERS = frozenset({"organiser", "administrator"})
FOUNDERS = ORGANISERS | {"other_organiser"}
ADMINISTRATORS = frozenset({"administrator"})
NOBODY = frozenset({"nobody", "disabled"})
WITH_FORM = EVERYBODY - {"nobody"}
"""Those who have a form of ours before them, signed in or not any more."""


@dataclass(frozen=True)
class Rule:
    """Who may call a route, and how it is called."""

    who: frozenset[str]
    sent: Mapping[str, Any] = field(default_factory=dict)
    """For `TestClient.request`; what is called is called with the world."""
    parts: Mapping[str, Any] = field(default_factory=dict)
    """Of the address, where they are others than those in `PARTS`."""
    query: str = ""
    scope: str = ""
    """Of an unsafe route, whether a token with the scope "read" is enough."""

    def request(self, world: World) -> dict[str, Any]:
        return {name: value(world) if callable(value) else value for name, value in self.sent.items()}


PARTS: dict[str, Callable[[World], object]] = {
    "name": lambda world: "hush",
    "campaign": lambda world: "hush",
    "test_set": lambda world: world.test_sets["hush"],
    "phase": lambda world: world.phases["later hush"],
    "correction": lambda world: world.corrections["hush"],
    "account": lambda world: world.accounts["viewer"],
    "label": lambda world: "A",
    "kind": lambda world: "per_day",
    "team": lambda world: "harbour",
    "account_id": lambda world: world.accounts["member"],
    "token_id": lambda world: list(world.tokens).index("lead") + 1,
    "invitation_id": lambda world: 1,
    "submission": lambda world: world.submissions["hush", "harbour", "keel"],
    "system": lambda world: world.systems["harbour", "keel"],
    "evaluation": lambda world: world.evaluations["hush", "harbour", "keel"],
    "comparison": lambda world: world.comparison,
}


def _form(who: frozenset[str], *, parts: Mapping[str, Any] | None = None, **fields: Any) -> Rule:
    """A form of a page. Who has not seen it, as nobody here has, cannot send it."""

    def filled(world: World) -> dict[str, Any]:
        return {name: value(world) if callable(value) else value for name, value in fields.items()}

    return Rule(who, {"data": filled}, parts or {})


_LEADING = LEADS | ADMINISTRATORS
ACCOUNTS: dict[str, Rule] = {
    "GET /api/v1/account": Rule(SIGNED_IN),
    "PATCH /api/v1/account": Rule(SIGNED_IN, {"json": {"name": "Somebody Else"}}),
    "PUT /api/v1/account/password": Rule(SIGNED_IN, {"json": {"old": PASSWORD, "new": "another horse battery"}}),
    "POST /api/v1/account/confirmation": Rule(SIGNED_IN),
    "GET /api/v1/account/sessions": Rule(SIGNED_IN),
    "DELETE /api/v1/account/sessions": Rule(SIGNED_IN),
    "GET /api/v1/tokens": Rule(SIGNED_IN),
    "POST /api/v1/tokens": Rule(SIGNED_IN, {"json": {"name": "laptop"}}),
    "DELETE /api/v1/tokens/{token_id}": Rule(LEADS),
    "GET /api/v1/teams": Rule(SIGNED_IN),
    "POST /api/v1/teams": Rule(SIGNED_IN - {"viewer"}, {"json": {"name": "pier"}}),
    "GET /api/v1/teams/{team}": Rule(TEAM | ADMINISTRATORS),
    "PATCH /api/v1/teams/{team}": Rule(_LEADING, {"json": {"affiliation": "the sea"}}),
    "DELETE /api/v1/teams/{team}": Rule(ADMINISTRATORS),
    "POST /api/v1/teams/{team}/members": Rule(ADMINISTRATORS, {"json": {"email": email_of("rival")}}),
    "PATCH /api/v1/teams/{team}/members/{account_id}": Rule(_LEADING, {"json": {"role": "lead"}}),
    "DELETE /api/v1/teams/{team}/members/{account_id}": Rule(TEAM | ADMINISTRATORS),
    "GET /api/v1/invitations": Rule(SIGNED_IN),
    "POST /api/v1/invitations": Rule(_LEADING, {"json": {"team": "harbour"}}),
    "POST /api/v1/invitations/accept": Rule(SIGNED_IN, {"json": lambda world: {"secret": world.invitation}}),
    "DELETE /api/v1/invitations/{invitation_id}": Rule(_LEADING),
    "GET /api/v1/accounts": Rule(ADMINISTRATORS),
    "POST /api/v1/accounts": Rule(ADMINISTRATORS, {"json": {"email": "new@example.org", "name": "New"}}),
    "GET /api/v1/accounts/{account_id}": Rule(ADMINISTRATORS),
    "PATCH /api/v1/accounts/{account_id}": Rule(ADMINISTRATORS, {"json": {"role": "organiser"}}),
    "POST /api/v1/accounts/{account_id}/password-link": Rule(ADMINISTRATORS),
    "DELETE /api/v1/accounts/{account_id}/sessions": Rule(ADMINISTRATORS),
    "DELETE /api/v1/accounts/{account_id}": Rule(ADMINISTRATORS),
    "PUT /api/v1/accounts/{account_id}/password": Rule(ADMINISTRATORS, {"json": {"password": "another horse battery"}}),
    "GET /api/v1/accounts/{account_id}/tokens": Rule(ADMINISTRATORS),
    "POST /api/v1/accounts/{account_id}/tokens": Rule(ADMINISTRATORS, {"json": {"name": "laptop"}}),
    "DELETE /api/v1/accounts/{account_id}/tokens/{token_id}": Rule(
        ADMINISTRATORS, parts={"account_id": lambda world: world.accounts["lead"]}
    ),
    "GET /api/v1/audit": Rule(ADMINISTRATORS),
    "GET /api/v1/campaigns/{campaign}/audit": Rule(ORGANISERS),
    "GET /api/v1/notices": Rule(SIGNED_IN),
    "GET /api/v1/notices/settings": Rule(SIGNED_IN),
    "PATCH /api/v1/notices/settings": Rule(SIGNED_IN, {"json": {"renew_feed": True}}),
    "GET /account/notices": Rule(SIGNED_IN),
    "POST /account/notices": _form(SIGNED_IN, wanted="scored:mail"),
    "GET /notices/{secret}/feed.xml": Rule(EVERYBODY, parts={"secret": lambda world: world.feed}),
    "GET /unsubscribe/{secret}": Rule(EVERYBODY, parts={"secret": lambda world: world.unsubscribing}),
    "POST /unsubscribe/{secret}": _form(WITH_FORM, parts={"secret": lambda world: world.unsubscribing}, kind="scored"),
    "GET /sign-in": Rule(EVERYBODY),
    "POST /sign-in": _form(WITH_FORM, email=lambda world: email_of("lead"), password=PASSWORD),
    "POST /sign-out": _form(WITH_FORM),
    "GET /sign-up": Rule(EVERYBODY),
    "POST /sign-up": _form(WITH_FORM, email="new@example.org", name="New", password=PASSWORD),
    "GET /password/forgotten": Rule(EVERYBODY),
    "POST /password/forgotten": _form(WITH_FORM, email=lambda world: email_of("lead")),
    "GET /password/{secret}": Rule(EVERYBODY, parts={"secret": lambda world: world.password_link}),
    "POST /password/{secret}": _form(
        WITH_FORM, parts={"secret": lambda world: world.password_link}, password="another horse battery"
    ),
    "GET /account": Rule(SIGNED_IN),
    "POST /account/name": _form(SIGNED_IN, name="Somebody Else"),
    "POST /account/email": _form(SIGNED_IN, email="else@example.org", own_password=PASSWORD),
    "POST /account/password": _form(SIGNED_IN, old_password=PASSWORD, new_password="another horse battery"),
    "POST /account/confirmation": _form(SIGNED_IN),
    "GET /account/confirm/{secret}": Rule(LEADS, parts={"secret": lambda world: world.address_link}),
    "POST /account/confirm/{secret}": _form(LEADS, parts={"secret": lambda world: world.address_link}),
    "POST /account/sign-out-everywhere": _form(SIGNED_IN),
    # No provider is set.
    "POST /sign-in/with/{provider}": _form(frozenset(), parts={"provider": "github"}),
    "GET /sign-in/with/{provider}/callback": Rule(frozenset(), parts={"provider": "github"}),
    "POST /account/identities/{identity}/remove": _form(frozenset(), parts={"identity": 1}),
    "POST /account/sessions/{session_id}/end": _form(frozenset(), parts={"session_id": 999}),
    "GET /account/delete": Rule(SIGNED_IN),
    "POST /account/delete": _form(SIGNED_IN, typed="delete my account"),
    "GET /account/tokens": Rule(SIGNED_IN),
    "POST /account/tokens": _form(SIGNED_IN, name="laptop", days="7", scopes="read"),
    "POST /account/tokens/{token_id}/revoke": _form(LEADS),
    "GET /teams": Rule(SIGNED_IN),
    "POST /teams": _form(SIGNED_IN - {"viewer"}, name="pier"),
    "GET /teams/{team}": Rule(TEAM | ADMINISTRATORS),
    "POST /teams/{team}": _form(_LEADING, affiliation="the sea"),
    "GET /teams/{team}/delete": Rule(ADMINISTRATORS),
    "POST /teams/{team}/delete": _form(ADMINISTRATORS, typed="harbour"),
    "POST /teams/{team}/members/{account_id}": _form(_LEADING, do="lead"),
    "POST /teams/{team}/invitations": _form(_LEADING, role="member"),
    "GET /invitations": Rule(FOUNDERS),
    "POST /invitations": _form(FOUNDERS, role="viewer"),
    "GET /campaigns/{campaign}/invitations": Rule(ORGANISERS),
    "POST /campaigns/{campaign}/invitations": _form(ORGANISERS, role="viewer"),
    "POST /invitations/{invitation_id}/withdraw": _form(_LEADING),
    "GET /invitations/{secret}": Rule(EVERYBODY, parts={"secret": lambda world: world.invitation}),
    "POST /invitations/{secret}": _form(SIGNED_IN, parts={"secret": lambda world: world.invitation}),
    "POST /invitations/{secret}/sign-up": _form(
        WITH_FORM,
        parts={"secret": lambda world: world.invitation},
        email="new@example.org",
        name="N",
        password=PASSWORD,
    ),
    "GET /audit": Rule(ADMINISTRATORS),
    "GET /campaigns/{campaign}/audit": Rule(ORGANISERS),
    "GET /accounts": Rule(ADMINISTRATORS),
    "POST /accounts": _form(ADMINISTRATORS, email="new@example.org", name="New", role="viewer"),
    "POST /accounts/{account_id}": _form(ADMINISTRATORS, do="disable"),
}

_human = {
    "files": [("files", ("human.tsv", b"system\tscore\nkeel\t0.4\n", "text/plain"))],
    "data": {"test_set": "news of hush", "called": "da"},
}


_tutorial = {
    "files": {
        "tutorial_file": (
            "own.json",
            b'[[{"source": "a", "target": "b", "explanation": "c", "score": 9}]]',
            "application/json",
        )
    }
}


_scores = {
    "files": [("files", ("new.tsv", b"system\tmetric\tscore\nkeel\tX\t0.4\n", "text/plain"))],
    "data": {"test_set": "news of hush"},
}


def _in_days(days: float) -> str:
    """A moment as organisers write it."""
    return (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="minutes")


HERE = "/api/v1/campaigns/{name}"
MANAGE = "/campaigns/{name}/manage"


def pairs_zip(more: Mapping[str, str] = {}) -> bytes:
    """A folder of one language pair, as a zip."""
    texts = ("sources/en-cs.txt", "references/en-cs.refA.txt", "system-outputs/en-cs/mast.txt")
    documents = {"documents/en-cs.docs": "news\ta\nnews\ta\n"}
    return zipped({**dict.fromkeys(texts, "one\ntwo\n"), **documents, **more})


def zipped(files: Mapping[str, str]) -> bytes:
    """Files as a zip."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return target.getvalue()


A_REFERENCE = {"references": ("A.txt", b"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n")}
CAMPAIGN_RULES: dict[str, Rule] = {
    "GET /api/v1/campaigns": Rule(EVERYBODY),
    "POST /api/v1/campaigns": Rule(FOUNDERS, {"json": {"name": "a new one"}}),
    f"GET {HERE}": Rule(INSIDE),
    f"PATCH {HERE}": Rule(ORGANISERS, {"json": {"title": "Another title"}}),
    **{f"POST {HERE}/{verb}": Rule(ORGANISERS) for verb in ("freeze", "unfreeze", "close", "publish")},
    f"DELETE {HERE}": Rule(ORGANISERS),
    f"GET {HERE}/phases": Rule(INSIDE),
    f"POST {HERE}/phases": Rule(
        ORGANISERS, {"json": lambda world: {"name": "extra", "kind": "open", "starts": _in_days(30)}}
    ),
    f"PATCH {HERE}/phases/{{phase}}": Rule(ORGANISERS, {"json": {"kind": "blind"}}),
    f"DELETE {HERE}/phases/{{phase}}": Rule(ORGANISERS),
    f"POST {HERE}/phases/{{phase}}/extend": Rule(
        ORGANISERS, {"json": lambda world: {"ends": _in_days(15)}}, {"phase": lambda world: world.phases["hush"]}
    ),
    f"GET {HERE}/test-sets": Rule(INSIDE),
    f"POST {HERE}/test-sets": Rule(
        ORGANISERS, {"data": {"name": "more", "metrics": "bleu", "replicates": "0"}, "files": A_REFERENCE}
    ),
    f"GET {HERE}/test-sets/{{test_set}}": Rule(INSIDE),
    f"PATCH {HERE}/test-sets/{{test_set}}": Rule(ORGANISERS, {"json": {"released": True, "early": True}}),
    f"DELETE {HERE}/test-sets/{{test_set}}": Rule(ORGANISERS),
    f"POST {HERE}/test-sets/{{test_set}}/measures": Rule(ORGANISERS, {"json": {"metrics": ["ter"], "replicates": 0}}),
    f"GET {HERE}/test-sets/{{test_set}}/source": Rule(INSIDE),
    f"GET {HERE}/test-sets/{{test_set}}/references/{{label}}": Rule(ORGANISERS),
    f"GET {HERE}/teams": Rule(INSIDE),
    f"POST {HERE}/teams": Rule(ORGANISERS, {"json": {"team": "rivals"}}),
    f"DELETE {HERE}/teams/{{team}}": Rule(ORGANISERS | LEADS),
    f"GET {HERE}/teams/{{team}}/quotas": Rule(ORGANISERS | TEAM),
    f"GET {HERE}/members": Rule(ORGANISERS),
    f"PUT {HERE}/members": Rule(ORGANISERS, {"json": {"email": email_of("rival"), "role": "viewer"}}),
    f"DELETE {HERE}/members/{{account}}": Rule(ORGANISERS),
    f"GET {HERE}/systems": Rule(INSIDE),
    f"POST {HERE}/systems": Rule(ORGANISERS, {"json": {"table": "system\ttrack\nkeel\tconstrained\n"}}),
    f"GET {HERE}/systems/{{system}}": Rule(TEAM | ORGANISERS),
    f"PATCH {HERE}/systems/{{system}}": Rule(TEAM | ORGANISERS, {"json": {"affiliation": "the sea"}}),
    f"GET {HERE}/systems/{{system}}/citation": Rule(TEAM | ORGANISERS),
    f"GET {HERE}/citation": Rule(INSIDE),
    f"POST {HERE}/clone": Rule(ORGANISERS, {"json": {"name": "a new one"}}),
    f"GET {HERE}/announcements": Rule(INSIDE),
    f"POST {HERE}/announcements": Rule(ORGANISERS, {"json": {"subject": "Soon", "text": "It is late."}}),
    f"POST {MANAGE}/announce": Rule(ORGANISERS, {"data": {"announce_subject": "Soon", "announce_text": "It is late."}}),
    "GET /api/v1/archive": Rule(EVERYBODY),
    "GET /archive": Rule(EVERYBODY),
    f"POST {MANAGE}/clone": Rule(ORGANISERS, {"data": {"clone_name": "a new one", "clone_test_sets": "yes"}}),
    f"GET {HERE}/quotas": Rule(ORGANISERS),
    f"PUT {HERE}/quotas": Rule(ORGANISERS, {"json": {"kind": "per_day", "amount": 3}}),
    f"DELETE {HERE}/quotas/{{kind}}": Rule(ORGANISERS),
    "GET /api/v1/quotas": Rule(ADMINISTRATORS),
    "PUT /api/v1/quotas": Rule(ADMINISTRATORS, {"json": {"kind": "per_day", "amount": 3}}),
    "DELETE /api/v1/quotas/{kind}": Rule(ADMINISTRATORS, parts={"kind": "in_flight"}),
    "GET /api/v1/teams/{team}/quotas": Rule(TEAM | ADMINISTRATORS),
    f"GET {HERE}/corrections": Rule(INSIDE),
    f"POST {HERE}/corrections": Rule(
        ORGANISERS,
        {"data": lambda world: {"test_set": str(world.test_sets["hush"]), "reason": "wrong"}, "files": A_REFERENCE},
    ),
    f"GET {HERE}/corrections/{{correction}}": Rule(ORGANISERS),
    f"GET {HERE}/export": Rule(INSIDE),
    f"GET {HERE}/judgment-tasks": Rule(ORGANISERS, query="?tool=pearmut"),
    f"POST {HERE}/judgment-tasks": Rule(ORGANISERS, _tutorial, query="?tool=pearmut"),
    f"POST {HERE}/import": Rule(FOUNDERS, {"files": {"file": ("pairs.zip", pairs_zip())}}, {"name": "a new one"}),
    "GET /new-campaign": Rule(FOUNDERS),
    "POST /new-campaign": Rule(FOUNDERS, {"data": {"name": "a new one"}}),
    "POST /new-campaign/import": Rule(
        FOUNDERS, {"data": {"import_name": "a new one"}, "files": {"file": ("pairs.zip", pairs_zip())}}
    ),
    "POST /demo-campaign": Rule(FOUNDERS),
    "GET /campaigns/{name}": Rule(INSIDE),
    "POST /campaigns/{name}/join": Rule(ORGANISERS, {"data": {"team": "rivals"}}),
    "POST /campaigns/{name}/leave": Rule(ORGANISERS | LEADS, {"data": {"team": "harbour"}}),
    "GET /campaigns/{name}/corrections/{correction}": Rule(ORGANISERS),
    "GET /campaigns/{name}/systems": Rule(INSIDE),
    "POST /campaigns/{name}/systems": Rule(
        ORGANISERS, {"files": {"file": ("systems.tsv", "system\ttrack\nkeel\tconstrained\n")}}
    ),
    "GET /campaigns/{name}/systems/{system}": Rule(TEAM | ORGANISERS),
    "POST /campaigns/{name}/systems/{system}": Rule(TEAM | ORGANISERS, {"data": {"affiliation": "the sea"}}),
    f"GET {MANAGE}": Rule(ORGANISERS),
    **{
        f"GET {MANAGE}/{section}": Rule(ORGANISERS)
        for section in ("test-sets", "teams", "live", "results", "danger", "delete")
    },
    f"GET {MANAGE}/rules": Rule(ORGANISERS),
    f"POST {MANAGE}/rules": Rule(ORGANISERS, {"data": {"title": "Another title"}}),
    f"POST {MANAGE}/state": Rule(ORGANISERS, {"data": {"do": "freeze"}}),
    # It has no terms.
    "GET /campaigns/{name}/terms": Rule(frozenset()),
    "POST /campaigns/{name}/terms": Rule(frozenset(), {"data": {"team": "harbour", "terms_version": "1"}}),
    f"GET {MANAGE}/terms": Rule(ORGANISERS),
    f"POST {MANAGE}/terms": Rule(ORGANISERS, {"data": {"terms": "Be kind."}}),
    f"GET {MANAGE}/judgment-tasks": Rule(ORGANISERS),
    f"POST {MANAGE}/judgment-tasks": Rule(ORGANISERS, {"data": {"tool": "pearmut"}}),
    f"POST {MANAGE}/delete": Rule(ORGANISERS, {"data": {"what": "campaign", "typed": "hush"}}),
    f"POST {MANAGE}/teams": Rule(ORGANISERS, {"data": {"team": "rivals"}}),
    f"POST {MANAGE}/members": Rule(ORGANISERS, {"data": {"member_email": email_of("rival")}}),
    f"POST {MANAGE}/quotas": Rule(ORGANISERS, {"data": {"quota_kind": "per_day", "quota_amount": "3"}}),
    f"GET {MANAGE}/phases/{{phase}}": Rule(ORGANISERS),
    f"POST {MANAGE}/phases/{{phase}}": Rule(
        ORGANISERS,
        {"data": lambda world: {"phase_name": "extra", "kind": "open", "starts": _in_days(30)}},
        {"phase": "new"},
    ),
    f"GET {MANAGE}/test-sets/new": Rule(ORGANISERS),
    f"POST {MANAGE}/test-sets/new": Rule(
        ORGANISERS, {"data": {"test_set_name": "more", "metrics": "bleu", "replicates": "0"}, "files": A_REFERENCE}
    ),
    f"GET {MANAGE}/test-sets/{{test_set}}": Rule(ORGANISERS),
    f"POST {MANAGE}/test-sets/{{test_set}}": Rule(ORGANISERS, {"data": {"do": "phase", "phase": ""}}),
}
"""About campaigns themselves."""
_outputs = {"content": zipped({"en-cs.txt": "a line\n" * 8}), "headers": {"Content-Type": "application/zip"}}
_output = {"content": b"a line\n" * 8, "headers": {"Content-Type": "text/plain"}}

_form = {"data": {"system": "new", "team": "harbour"}, "files": {"file": ("out.txt", b"a line\n" * 8)}}
SUBMISSION_PAGES: dict[str, Rule] = {
    "GET /campaigns/{name}/submit": Rule(TEAM | ORGANISERS),
    "POST /campaigns/{name}/submit": Rule(TEAM, _form),
    "GET /campaigns/{name}/submissions": Rule(TEAM | ORGANISERS),
    "GET /submissions/{submission}": Rule(TEAM | ORGANISERS),
    "POST /submissions/{submission}/declaration": Rule(TEAM | ORGANISERS, {"data": {"kind": "primary"}}),
    "POST /submissions/{submission}/withdraw": Rule(TEAM | ORGANISERS),
    "POST /submissions/{submission}/reinstate": Rule(TEAM | ORGANISERS),
    "POST /submissions/{submission}/cancel": Rule(ORGANISERS),
    "POST /submissions/{submission}/retry": Rule(ORGANISERS),
    "GET /submissions/{submission}/output": Rule(TEAM | ORGANISERS),
}

RULES: dict[str, Rule] = {
    **SUBMISSION_PAGES,
    **ACCOUNTS,
    "GET /": Rule(EVERYBODY),
    "GET /feed.xml": Rule(EVERYBODY),
    "GET /campaigns/{name}/feed.xml": Rule(INSIDE),
    "GET /about": Rule(EVERYBODY),
    "GET /api/docs": Rule(EVERYBODY),
    "GET /queue": Rule(FOUNDERS),
    # They show what everybody sees, and nothing of a campaign that is private.
    "GET /campaigns/{name}/share.png": Rule(frozenset()),
    "GET /campaigns/{name}/systems/{system}/share.png": Rule(frozenset()),
    # A stream about a page is for those who see the page.
    "GET /live": Rule(INSIDE, query="?page=/campaigns/hush"),
    # Schedules are shown to organisers who may see their campaign.
    "GET /nightly": Rule(FOUNDERS),
    "GET /api/v1/nightly": Rule(FOUNDERS),
    **{
        f"GET {path}": Rule(ORGANISERS, parts={"name": f"canaryprivate{PRIVATE} runs", "run": 1})
        for path in ("/nightly/{name}", "/api/v1/nightly/{name}", "/api/v1/nightly/{name}/runs/{run}")
    },
    "GET /campaigns/{name}/segments": Rule(INSIDE),
    "GET /api/v1/me": Rule(EVERYBODY),
    "GET /api/v1/me/waiting-uploads": Rule(EVERYBODY),
    # While its phase is blind, how metrics agree with people is for organisers.
    "GET /campaigns/{name}/metrics": Rule(ORGANISERS),
    "POST /campaigns/{name}/metrics": Rule(ORGANISERS, _human),
    "POST /campaigns/{name}/metrics/delete": Rule(
        ORGANISERS, {"data": {"test_set": "news of hush", "title": "kept@1", "sure": "yes"}}
    ),
    "POST /campaigns/{name}/metrics/rename": Rule(
        ORGANISERS, {"data": {"test_set": "news of hush", "title": "kept", "new_name": "other"}}
    ),
    # While its phase is blind, so is its human ranking.
    # It is private, and what others may embed is what nobody in particular sees.
    "GET /campaigns/{name}/embed": Rule(frozenset()),
    "GET /campaigns/{name}/human-ranking": Rule(ORGANISERS),
    "GET /api/v1/campaigns/{name}/human-ranking": Rule(ORGANISERS),
    "PATCH /api/v1/campaigns/{name}/human-scores/{title}": Rule(
        ORGANISERS, {"json": {"name": "other"}}, parts={"title": "kept"}, query="?test_set=news%20of%20hush"
    ),
    "GET /api/v1/campaigns/{name}/segments": Rule(INSIDE),
    # Nobody else sees the references of a blind phase.
    "GET /api/v1/campaigns/{name}/ngrams": Rule(ORGANISERS),
    "GET /api/v1/campaigns/{name}/human-scores": Rule(ORGANISERS),
    **{
        f"GET /api/v1/campaigns/{{name}}/human-scores/{{title}}{more}": Rule(
            ORGANISERS, parts={"title": "kept@1"}, query="?test_set=news%20of%20hush"
        )
        for more in ("", "/segments")
    },
    "POST /api/v1/campaigns/{name}/human-scores": Rule(ORGANISERS, _human),
    "DELETE /api/v1/campaigns/{name}/human-scores/{title}": Rule(
        ORGANISERS, parts={"title": "kept@1"}, query="?test_set=news%20of%20hush"
    ),
    "GET /api/v1/campaigns/{name}/correlations": Rule(ORGANISERS),
    "GET /campaigns/{name}/scores": Rule(ORGANISERS),
    "POST /campaigns/{name}/scores": Rule(ORGANISERS, _scores),
    "POST /campaigns/{name}/scores/change": Rule(
        ORGANISERS, {"data": {"do": "choose", "title": "kept@1", "test_set": "news of hush"}}
    ),
    "POST /campaigns/{name}/autorank": Rule(ORGANISERS, {"data": {"rule": "wmt24"}}),
    "GET /api/v1/campaigns/{name}/scores": Rule(ORGANISERS),
    "POST /api/v1/campaigns/{name}/scores": Rule(ORGANISERS, _scores),
    "POST /api/v1/campaigns/{name}/scores/{title}/choose": Rule(ORGANISERS, parts={"title": "kept@1"}),
    "DELETE /api/v1/campaigns/{name}/scores/{title}": Rule(ORGANISERS, parts={"title": "kept@1"}),
    "PUT /api/v1/campaigns/{name}/autorank": Rule(ORGANISERS, {"json": {}}),
    **CAMPAIGN_RULES,
    # Handing in, and what became of it.
    "POST /api/v1/campaigns/{name}/submissions": Rule(TEAM, _output, query="?system=new&team=harbour"),
    "POST /api/v1/campaigns/{name}/outputs": Rule(TEAM, _outputs, query="?system=all&team=harbour"),
    "POST /api/v1/campaigns/{name}/checks": Rule(TEAM, _output, query="?system=new&team=harbour"),
    "GET /api/v1/campaigns/{name}/submissions": Rule(INSIDE),
    "GET /api/v1/submissions/{submission}": Rule(TEAM | ORGANISERS),
    "PATCH /api/v1/submissions/{submission}": Rule(TEAM | ORGANISERS, {"json": {"kind": "primary"}}),
    "DELETE /api/v1/submissions/{submission}": Rule(ORGANISERS),
    "POST /api/v1/submissions/{submission}/withdraw": Rule(TEAM | ORGANISERS),
    "POST /api/v1/submissions/{submission}/reinstate": Rule(TEAM | ORGANISERS),
    "GET /api/v1/submissions/{submission}/output": Rule(TEAM | ORGANISERS),
    "GET /api/v1/submissions/{submission}/events": Rule(TEAM | ORGANISERS),
    # Organisers of other campaigns are shown theirs.
    "GET /api/v1/queue": Rule(FOUNDERS),
    "GET /api/v1/evaluations": Rule(FOUNDERS),
    "GET /api/v1/evaluations/scores": Rule(
        ORGANISERS, {"params": lambda world: {"evaluation": world.evaluations["hush", "harbour", "keel"]}}
    ),
    "POST /api/v1/evaluations/cancel": Rule(ORGANISERS, {"json": {"campaign": "hush"}}),
    "POST /api/v1/evaluations/retry": Rule(ORGANISERS, {"json": {"campaign": "hush"}}),
    "POST /api/v1/evaluations/recompute": Rule(ORGANISERS, {"json": {"campaign": "hush"}}),
    "GET /api/v1/evaluations/{evaluation}": Rule(TEAM | ORGANISERS),
    "POST /api/v1/evaluations/{evaluation}/cancel": Rule(ORGANISERS, {"json": {}}),
    "POST /api/v1/evaluations/{evaluation}/retry": Rule(ORGANISERS),
    "GET /campaigns/{name}/leaderboard": Rule(INSIDE),
    "GET /campaigns/{name}/matrix": Rule(INSIDE),
    "GET /campaigns/{name}/metrics-task": Rule(INSIDE),
    "GET /campaigns/{name}/breakdown": Rule(INSIDE),
    "GET /campaigns/{name}/ngrams": Rule(INSIDE),
    "GET /campaigns/{name}/compare": Rule(INSIDE),
    "POST /campaigns/{name}/compare": Rule(ORGANISERS, scope="read"),
    "POST /campaigns/{name}/compare/{comparison}/cancel": Rule(ORGANISERS),
    "GET /api/v1/campaigns/{name}/comparisons": Rule(ORGANISERS),
    "POST /api/v1/campaigns/{name}/comparisons": Rule(ORGANISERS, scope="read"),
    "POST /api/v1/campaigns/{name}/comparisons/{comparison}/cancel": Rule(ORGANISERS, {"json": {}}),
    "GET /api/v1/campaigns/{name}/leaderboards": Rule(ORGANISERS),
    "GET /api/v1/campaigns/{name}/leaderboard": Rule(ORGANISERS),
    "GET /api/v1/campaigns/{name}/matrix": Rule(ORGANISERS),
    "GET /api/v1/campaigns/{name}/metrics-task": Rule(ORGANISERS),
    "GET /api/v1/campaigns/{name}/breakdown": Rule(ORGANISERS),
}
