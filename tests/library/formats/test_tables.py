"""Tables with ids are not taken for text."""

import pytest

from steelyard.formats.detection import read_text
from steelyard.formats.input.contents import WrongFormat

TABLES = {
    "json": b'{"n": 0, "hyp": "one"}\n{"n": 1, "hyp": "two"}\n',
    "without ids": b'{"domain": "news", "hypothesis": "a\\n\\nb"}\n' * 3,
    "no field": b'{"a": 1}\n{"b": 2}\n',
    "from 0": b"0\tone\n1\ttwo\n2\tthree\n",
    "from 1, CR": b"1\tone\r\n2\ttwo\r\n3\tthree\r\n",
    "named": b"news.12\tone\nnews.13\ttwo\nnews.14\tthree\n",
    "documents": b"news\t1\tone\nnews\t2\ttwo\nnews\t3\tthree\n",
    "header": b"number\twords\n7\tone\n8\ttwo\n9\tthree\n",
}
TEXTS = [
    b"one\ntwo\n",
    b"",
    b"{\n}\n",
    b'{"id": 0} or so\n{"id": 1}\n',
    b'{"id": 0}\n',
    b"a\tb\nc\td\ne\tf\n",
    b"see\t1\nand\t2\nor\t3\n",
    b"1\tone\ntwo\n3\tthree\n",
    b"5\tkg\n5\tkg\n5\tkg\n",
    b"1.\tone thing\n",
    b"\tone\n\ttwo\n\tthree\n",
    b"news 1\tone\nnews 2\ttwo\nnews 3\tthree\n",
]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_refused_with_what_to_do(name: str) -> None:
    with pytest.raises(WrongFormat) as raised:
        read_text(TABLES[name], name="out")
    message = str(raised.value)
    assert message.startswith("out: is JSON Lines" if TABLES[name].startswith(b"{") else "out: is a table")
    assert "in the order of the source" in message
    assert read_text(TABLES[name], format="plain").segments >= 2, "whoever says that it is text is believed"


def test_the_usual_fields_are_named() -> None:
    with pytest.raises(WrongFormat, match=r"with domain, hypothesis, .*jq -r '\.hypothesis \|"):
        read_text(TABLES["without ids"], name="out")
    with pytest.raises(WrongFormat, match=r"2 columns parted by tabs.*cut -f 2 OLD"):
        read_text(TABLES["from 0"], name="out")


@pytest.mark.parametrize("text", TEXTS)
def test_text_stays_text(text: bytes) -> None:
    assert read_text(text, name="out").bytes == text.rstrip(b"\n")
