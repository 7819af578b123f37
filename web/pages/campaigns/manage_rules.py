"""The form of a campaign's rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from sqlalchemy import Connection

from campaigns.accounts.principal import Principal
from campaigns.changes import lock_for_change, version_of
from campaigns.errors import BadRequest
from campaigns.fields.short_text import short_text
from campaigns.fields.times import check_zone, time_zones
from campaigns.permissions import CampaignAccess
from campaigns.rules import Rules, campaign_metrics, kinds_of_judgments, set_rules
from models.database.session import reading, writing
from models.schema.roles import Joining, Visibility
from models.schema.states import JudgmentKind
from steelyard.ranking.human_boards import registered_human_rules
from steelyard.ranking.human_rules import MACRO
from steelyard_client.documents.campaigns.campaigns import MAX_DESCRIPTION_LENGTH, MAX_TITLE_LENGTH
from web.dependencies import CurrentPrincipal, app_state
from web.pages.campaigns.manage_sections import organiser_access
from web.pages.forms import FieldReader, InvalidForm, form_errors
from web.pages.rendering import page, part_of_address, see_other

router = APIRouter()

Field = Annotated[str, Form(max_length=500)]


@router.get("/campaigns/{name}/manage/rules")
def show_rules(request: Request, name: str, principal: CurrentPrincipal) -> Response:
    """Show the form of the rules."""
    return _rules(request, principal, name)


@router.post("/campaigns/{name}/manage/rules")
def change_rules(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    title: Annotated[str, Form()] = "",
    description: Annotated[str, Form()] = "",
    time_zone: Field = "",
    visibility: Field = "",
    joining: Field = "",
    anonymous: Field = "",
    verified_only: Field = "",
    ranked_by: Field = "",
    human_rule: Field = "",
    human_judgments: Field = "",
    embeddable: Field = "",
    version: Field = "*",
) -> Response:
    """Change the rules."""
    given: dict[str, Any] = {
        "title": title,
        "description": description,
        "time_zone": time_zone.strip(),
        "visibility": visibility,
        "joining": joining,
        "anonymous": bool(anonymous),
        "verified_only": bool(verified_only),
        "ranked_by": ranked_by.strip(),
        "human_rule": human_rule.strip(),
        "human_judgments": human_judgments.strip(),
        "embeddable": bool(embeddable),
    }
    try:
        with form_errors(), writing(app_state(request).engine) as connection:
            access = lock_for_change(connection, principal, name, version)
            kinds = {
                "visibility": Visibility(visibility or access.visibility),
                "joining": Joining(joining or access.joining),
            }
            zone = {"time_zone": time_zone.strip() or access.time_zone}
            form = FieldReader()
            form.read("time_zone", check_zone, zone["time_zone"])
            form.read("title", short_text, title, "The title", MAX_TITLE_LENGTH)
            form.read("description", short_text, description, "The description", MAX_DESCRIPTION_LENGTH, lines=True)
            form.finish()
            set_rules(connection, access, Rules(**{**given, **kinds, **zone}))
    except ValueError as error:
        raise BadRequest("Unknown value for visibility or participation.") from error
    except InvalidForm as invalid:
        return _rules(request, principal, name, given, invalid)
    return see_other(f"/campaigns/{part_of_address(name)}/manage?done=rules")


def _rules(
    request: Request,
    principal: Principal,
    name: str,
    given: Mapping[str, Any] | None = None,
    invalid: InvalidForm | None = None,
) -> Response:
    with reading(app_state(request).engine) as connection:
        access = organiser_access(connection, principal, name)
        version = version_of(connection, access.campaign_id)
        metrics = campaign_metrics(connection, access.campaign_id)
        judgments = list(_judgment_options(connection, access))
    known = {name: getattr(access, name) for name in Rules.__dataclass_fields__}
    known["title"] = "" if access.title == access.name else access.title
    return page(
        request,
        "campaigns/manage/rules",
        status=invalid.status if invalid else 200,
        title="Rules",
        access=access,
        here="manage",
        rules_version=version,
        given={**known, **(given or {})},
        zones=time_zones(),
        metric_options=[(each, each) for each in metrics],
        rule_options=list(_rule_options()),
        judgment_options=judgments,
        error=str(invalid) if invalid else "",
        errors=defaultdict(str, invalid.fields if invalid else {}),
    )


def _rule_options() -> Iterator[tuple[str, str]]:
    """The registered rules, each with a title."""
    yield "", "no: a metric ranks"
    for rule in registered_human_rules():
        title = "Steelyard's rule" if rule.own else f"rule of {rule.name.upper()}"
        yield rule.specification, f"{title}{'' if rule.average == MACRO else ', mean of all judgments'}"


def _judgment_options(connection: Connection, access: CampaignAccess) -> Iterator[tuple[str, str]]:
    """The judgments of the campaign that a rule can rank by, newest versions first; what is chosen stays a choice."""
    found = {
        each: f"{each}, newest version" if "@" not in each else each
        for each, kind in kinds_of_judgments(connection, access.campaign_id).items()
        if kind != JudgmentKind.RANKINGS
    }
    if chosen := access.human_judgments:
        found.setdefault(chosen, f"{chosen}, deleted")
    yield from sorted(found.items(), key=lambda each: each[0].partition("@"))
