"""Lists of documents with their domains: every kind of header, every fault with its line, one file or several."""

import pytest

from steelyard.meta_evaluation.human.assessment_formats.domains import read_domains
from steelyard.meta_evaluation.human.table import BadTable

HEADERS = {
    "": ("{domain}", "{document}"),
    "domain\tdocument": ("{domain}", "{document}"),
    "Doc_ID\tDomain": ("{document}", "{domain}"),
    "n\tDOCUMENT\tdomain\tmore": ("1", "{document}", "{domain}", "x"),
    "canary\tdo not train on this": ("{domain}", "{document}"),
    "CANARY": ("{domain}", "{document}", "x"),
}
"""Each with the columns of a row below it."""


def lines(header, rows):
    shown = ["\t".join(HEADERS[header]).format(domain=domain, document=document) for domain, document in rows]
    return [header, *shown] if header else shown


@pytest.mark.parametrize("header", HEADERS)
def test_documents_and_lines_have_domains_whatever_stands_above(tmp_path, header):
    rows = [("news", "quay"), ("news", "quay"), ("social", "sea"), ("news", "pier")]
    (tmp_path / "all.docs").write_text("\n".join(lines(header, rows)) + "\n")
    assert read_domains([tmp_path / "all.docs"], ["en-cs"]) == {
        "": {"quay": "news", "sea": "social", "pier": "news"}
        | {f"#{number}": domain for number, (domain, _) in enumerate(rows)}
    }


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("at", range(3))
def test_a_wrong_line_is_named_as_an_editor_counts_it(tmp_path, header, at):
    file = tmp_path / "all.docs"
    above = 1 + bool(header)
    written = lines(header, [("news", "quay"), ("news", "sea"), ("news", "pier")])
    file.write_text("\n".join([*written[: at + above - 1], "news", *written[at + above - 1 :]]))
    with pytest.raises(BadTable) as raised:
        read_domains([file], [])
    assert str(raised.value) == f"{file}, line {at + above}: needs a domain and a document, a tab between them."
    written += lines(header, [("social", ("quay", "sea", "pier")[at])])[-1:]
    file.write_text("\n".join(written))
    with pytest.raises(BadTable) as raised:
        read_domains([file], [])
    assert f"line {3 + above}: document " in str(raised.value)
    assert str(raised.value).endswith("is in the domains 'news' and 'social'.")


def test_several_files_are_told_apart_by_their_names(tmp_path):
    for pair, domain in (("en-cs", "news"), ("en-de", "social")):
        (tmp_path / f"{pair}.docs").write_text(f"{domain}\tquay\n")
    files = sorted(tmp_path.iterdir())
    assert read_domains(files, ["en-de", "", "en-cs"]) == {
        "en-cs": {"quay": "news", "#0": "news"},
        "en-de": {"quay": "social", "#0": "social"},
    }
    with pytest.raises(BadTable, match=r"en-de\.docs: its name begins with none of the language pairs"):
        read_domains(files, ["en-cs", ""])
