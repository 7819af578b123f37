"""The examples of the API's document: recorded from a server with small campaigns.

    python -m tests.web.api.examples

asks every operation once, and writes requests and answers to web/api/examples.json. Run it after the API has changed.
"""

from __future__ import annotations

import json
import re
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

from sqlalchemy import delete, update

from models.database.migrate import upgrade
from models.database.session import writing
from models.schema.campaigns import Phase
from models.schema.queue import Evaluation
from models.schema.states import EvaluationState
from tests.service.postman import AnyPort, Postman
from tests.service.service import Service
from tests.web.hostile import world as worlds
from tests.web.hostile.expected import RULES
from tests.web.hostile.test_roles import Stage
from tests.web.hostile.world import Template
from web.openapi import EXAMPLES

ROLES = ("lead", "organiser", "administrator", "stranger")
"""Who asks: the first of those who may."""
WHO = {"accept_invitation": ("stranger",)}
"""Operations that others ask for."""
BEFORE: dict[str, tuple[Any, ...]] = {
    "publish_campaign": (delete(Phase).where(Phase.name == "later"),),
    "cancel_evaluation": (update(Evaluation).values(state=EvaluationState.QUEUED),),
    "cancel_evaluations": (update(Evaluation).values(state=EvaluationState.QUEUED),),
    "retry_evaluations": (update(Evaluation).values(state=EvaluationState.FAILED, reason="The disk is full."),),
    "retry_evaluation": (update(Evaluation).values(state=EvaluationState.FAILED, reason="The disk is full."),),
}
"""What happens before."""
SHOWN = 2
"""Items of a list."""
WORDING = {
    # The world of the hostile tests is full of words that must not be found; the examples are to be read.
    r"canaryprivate(hush|elsewhere) runs": "nightly",
    r"canaryprivate(hush|elsewhere)": "",
    r"canary\.": "",
    r"canary(reference|output|source)\w*": r"\1",
    r"news of hush": "newstest",
    r"\bhush\b": "wmt-news",
    r'"name": "wmt-news", "title": ""': '"name": "wmt-news", "title": "News, English to Czech"',
    r'"name": "bay", "title": ""': '"name": "bay", "title": "Weather, English to Czech"',
    r'"description": "(\\n)+"': '"description": "Sentences of this week\'s news."',
    r'"secret": "[\w-]+"': '"secret": "..."',
    r"http://127\.0\.0\.1:\d+": "https://mt.example.org",
    r"(sty_|/invitations/|/password/)[\w-]{43}": r"\1...",
}


def recorded() -> dict[str, Any]:
    """Operation -> its request, where it has a body in JSON, and its answer, where that is JSON."""
    found: dict[str, Any] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        mails = AnyPort(Postman(), hostname="127.0.0.1", port=0)
        mails.start()
        stack.callback(mails.stop)
        template = _plain_world(folder, stack)
        stage = Stage(template.copy(folder, stack, mail_url=f"smtp://127.0.0.1:{mails.port}"), template, {})
        for path, item in stage.world.service.app.openapi()["paths"].items():
            for method, operation in item.items():
                if example := _example(stage, f"{method.upper()} {path}", operation):
                    found[operation["operationId"]] = example
    text = json.dumps(found, ensure_ascii=False)
    for pattern, better in WORDING.items():
        text = re.sub(pattern, better, text)
    return dict(sorted(json.loads(text).items()))


def _plain_world(folder: Path, stack: ExitStack) -> Template:
    """The world of the hostile tests without traps in its names and texts."""
    change = worlds._change

    def change_what_is_no_text(service: Service, table: type, where: Any, **values: object) -> None:
        kept = {name: value for name, value in values.items() if not isinstance(value, str) or name == "password_hash"}
        if kept:
            change(service, table, where, **kept)

    for name, value in (("SCRIPT", ""), ("SHORT", "."), ("_change", change_what_is_no_text)):
        stack.enter_context(patch.object(worlds, name, value))
    url = f"sqlite:///{folder / 'template.db'}"
    upgrade(url)
    service = Service.start(url, stack)
    template = Template(url, worlds.build(service))
    service.engine.dispose()
    return template


def _example(stage: Stage, route: str, operation: dict[str, Any]) -> dict[str, Any]:
    """What is sent and answered, where that is JSON."""
    answered = {media for each in operation["responses"].values() for media in each.get("content", {})}
    asked = operation.get("requestBody", {}).get("content", {})
    if "application/json" not in {*answered, *asked}:
        return {}
    with writing(stage.world.service.engine) as connection:
        for statement in BEFORE.get(operation["operationId"], ()):
            connection.execute(statement)
    role = next(each for each in WHO.get(operation["operationId"], ROLES) if each in RULES[route].who)
    answer = stage.call(route, role)
    assert answer.is_success, (route, answer.text)
    example: dict[str, Any] = {}
    if "application/json" in asked:
        example["request"] = RULES[route].request(stage.world)["json"]
    if answer.content and answer.headers["Content-Type"] == "application/json":
        example |= {"status": str(answer.status_code), "answer": shortened(answer.json())}
    if not route.startswith("GET "):
        stage.put_back()
    return example


def shortened(value: Any) -> Any:
    """The same with the first items of every list."""
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    return [shortened(each) for each in value[:SHOWN]] if isinstance(value, list) else value


if __name__ == "__main__":
    EXAMPLES.write_text(json.dumps(recorded(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{EXAMPLES}: {EXAMPLES.stat().st_size:,} bytes")
