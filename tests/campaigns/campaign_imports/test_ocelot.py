"""What OCELoT has is taken as it is: XML of test sets, the files that teams gave it, and the zip that it exports.

Its export, "Download SGML or text files for selected submissions", writes `TESTSET.SOURCE-TARGET.TEAM.NUMBER.xml`, with
the blanks of the name that the team publishes under. The files are those that the teams sent.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.inspection.visible import outputs_by_test_set, visible_test_sets
from campaigns.permissions import read_access
from models.database.session import reading
from models.schema.roles import PhaseKind, SiteRole
from tests.service.service import Service

DOCUMENTS = {"bbc.1": ("One ship.", "Two ships & a boat."), "rt.com.2": ("A port.",)}


def side(tag: str, attributes: str, texts: Sequence[str]) -> str:
    segments = "".join(
        f'<seg id="{number}">{text.replace("&", "&amp;")}</seg>\n' for number, text in enumerate(texts, 1)
    )
    return f"<{tag} {attributes}>\n<p>\n{segments}</p>\n</{tag}>\n"


def dataset(
    pair: str, *, translators: Sequence[str] = (), system: str = "", documents: Sequence[str] = tuple(DOCUMENTS)
) -> str:
    """A file as OCELoT's schema has it: the source, and references or the output of one system."""
    source, target = pair.split("-")
    written = ""
    for name in documents:
        texts = DOCUMENTS[name]
        written += f'<doc id="{name}" origlang="{source}" domain="news">\n{side("src", f"lang={source!r}", texts)}'
        for translator in translators:
            texts_here = [f"{translator} {target} {text}" for text in texts]
            written += side("ref", f'lang="{target}" translator="{translator}"', texts_here)
        if system:
            written += side(
                "hyp", f'lang="{target}" system="{system}"', [f"{system} {target} {text}" for text in texts]
            )
        written += "</doc>\n"
    inner = f'<collection id="general">\n{written}</collection>\n'
    return f"<?xml version='1.0' encoding='utf-8'?>\n<dataset id=\"wmt27\">\n{inner}</dataset>\n"


def exported(*submissions: tuple[str, str, str], test_sets: Sequence[str] = ("en-cs", "en-de")) -> bytes:
    """The zip of OCELoT's export, to which the test sets were added: pair, team and system of each submission."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for pair in test_sets:
            archive.writestr(f"wmt27.{pair}.all.xml", dataset(pair, translators=("A", "B")))
        for number, (pair, team, system) in enumerate(submissions, 11):
            archive.writestr(f"wmt27.{pair}.{team}.{number}.xml", dataset(pair, system=system))
    return content.getvalue()


def imported(service: Service, content: bytes, who: str = "olga") -> tuple[int, str]:
    organiser = service.account(who, SiteRole.ORGANISER)
    answer = service.program(organiser).post(
        "/api/v1/campaigns/regatta/import", files={"file": ("submissions.zip", content)}
    )
    return answer.status_code, answer.text


def test_an_export_with_its_test_sets_becomes_a_campaign(service: Service) -> None:
    submissions = (("en-cs", "Mast & Sail", "mast"), ("en-de", "Mast & Sail", "mast"), ("en-cs", "Keel", "keel 2"))
    status, told = imported(service, exported(*submissions))
    assert status == 201, told
    with reading(service.engine) as connection:
        access = read_access(connection, COMMAND_LINE, "regatta")
        outputs = outputs_by_test_set(connection, access)
        known = {each.title: each for each in visible_test_sets(connection, access)}
    assert {name: (each.segments, len(each.references)) for name, each in known.items()} == {
        "en-cs": (3, 2),
        "en-de": (3, 2),
    }
    # Systems are called as in the files.
    found = {name: [output.name for output in outputs[each.id]] for name, each in known.items()}
    assert found == {"en-cs": ["keel 2", "mast"], "en-de": ["mast"]}


def test_what_cannot_be_told_apart_is_named_with_its_files(service: Service) -> None:
    status, told = imported(service, exported(("en-cs", "Mast", "baseline"), ("en-cs", "Keel", "baseline")))
    assert status == 422
    assert "wmt27.en-cs.Mast.11.xml" in told
    assert "wmt27.en-cs.Keel.12.xml" in told
    status, told = imported(service, exported(("en-cs", "Mast", "mast"), test_sets=()), "ole")
    assert (status, "no references" in told) == (422, True), "the export itself has no test set"


def test_a_team_submits_the_file_that_ocelot_takes(service: Service) -> None:
    mary = service.account("mary")
    status, told = imported(service, exported(("en-cs", "Keel", "keel"), test_sets=("en-cs",)))
    assert status == 201, told
    campaign = service.campaign("regatta", teams=(service.team("harbour", mary),))
    service.phase(campaign, "open", PhaseKind.OPEN)
    program = service.program(mary)

    def submit(content: str) -> tuple[int, str]:
        answer = program.post(
            "/api/v1/campaigns/regatta/submissions",
            data={"system": "mast"},
            files={"file": ("submission.xml", content.encode())},
        )
        return answer.status_code, answer.text

    status, told = submit(dataset("en-cs", system="mast"))
    assert status == 201, told
    status, told = submit(dataset("en-cs", system="mast", documents=("bbc.1",)))
    assert (status, "rt.com.2" in told) == (422, True), "OCELoT writes a text into the gap, and scores that"
