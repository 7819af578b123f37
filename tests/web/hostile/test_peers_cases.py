"""Where other systems fail, one test for each case: what they do wrong stands in its docstring.

Those of the queue are in tests/faults, those of quotas in tests/campaigns/quotas, those of pages and routes in
the other files of this folder: docs/explanation/security.md has the whole list.
"""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.status import status_of

LINES = ["the cat sat on the mat .", "a dog ran after the old red ball !", "it is what it was , said the cat ."]


@pytest.fixture
def score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Scores files of bytes against references; status, parsed output, messages."""
    names = itertools.count()

    def run(references: list[bytes], systems: list[bytes], *options: str) -> tuple[int, Any, str]:
        files = []
        for content in (*references, *systems):
            files.append(tmp_path / f"text{next(names)}.txt")
            files[-1].write_bytes(content)
        given, outputs = files[: len(references)], files[len(references) :]
        status = status_of(["score", *map(str, given), "-i", *map(str, outputs), *options, "-f", "json"])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return status, json.loads(said.out) if status == 0 else None, said.err

    return run


def text(lines: list[str] | None = None, end: str = "\n") -> bytes:
    return ("\n".join(LINES if lines is None else lines) + end).encode()


def first(result: Any) -> float | None:
    return result["systems"][0]["scores"][0]["score"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("lines", [LINES[:2], [*LINES, "one more"], []])
def test_unequal_lines(score: Any, lines: list[str]) -> None:
    """multi-bleu scores the prefix (BLEU 100), or adds 9,999 to a length; sacreBLEU names no numbers."""
    status, _, message = score([text()], [text(lines)])
    assert status == 1
    assert "3" in message
    assert (str(len(lines)) in message) or "empty" in message


def test_a_missing_final_newline(score: Any) -> None:
    """multi-bleu-detok cuts off the last letter: 100 becomes 91.31."""
    for reference, system in ((text(), text(end="")), (text(end=""), text())):
        assert first(score([reference], [system])[1]) == pytest.approx(100)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_blank_lines_at_the_ends(score: Any, place: int) -> None:
    """MT-ComparEval trims them, so that all segments shift."""
    blank = [*LINES[:place], "", *LINES[place + 1 :]]
    status, result, _ = score([text()], [text(blank)], "-m", "ter", "--segments")
    assert status == 0
    segments = result["systems"][0]["scores"][0]["segments"]
    assert [value == 0 for value in segments] == [number != place for number in range(3)]


def test_a_score_of_zero(score: Any) -> None:
    """OCELoT takes 0 for no score, and recurses until it fails."""
    assert first(score([text()], [text(["x", "y", "z"])], "-m", "bleu:smooth=none")[1]) == 0


def test_nothing_but_empty_lines(score: Any) -> None:
    """mteval-v13a dies of log 0, multi-bleu divides by zero."""
    for metric in ("bleu", "bleu:smooth=none", "chrf", "ter", "nist", "wer", "per", "gtm", "fmeasure"):
        status, result, message = score([text()], [text(["", "", ""])], "-m", metric)
        assert status == 0, message
        assert first(result) is None or first(result) >= 0  # type: ignore[operator]


def test_bytes_that_are_no_text(score: Any) -> None:
    """sacreBLEU shows a traceback."""
    status, _, message = score([text()], [b"a\nb\xff\nc\n"])
    assert (status, "line 2" in message or ":2" in message) == (1, True), message


def test_a_byte_order_mark(score: Any) -> None:
    """It costs sacreBLEU nine points."""
    plain, marked = (first(score([text()], [mark + text()])[1]) for mark in (b"", b"\xef\xbb\xbf"))
    assert plain == marked == pytest.approx(100)


@pytest.mark.parametrize("odd", ["\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_characters_that_some_take_for_line_ends(score: Any, odd: str) -> None:
    """str.splitlines would make two segments of one."""
    lines = [LINES[0].replace(" sat", f" {odd}sat"), *LINES[1:]]
    status, result, message = score([text()], [text(lines)], "-m", "ter", "--segments")
    assert status == 0, message
    assert result["test_set"]["segments"] == 3
    assert result["systems"][0]["scores"][0]["segments"][1:] == [0, 0]


def mteval(kind: str, segments: dict[str, str], extra: str = "", **given: str) -> bytes:
    inner = "".join(f'<seg id="{key}">{words}</seg>' for key, words in segments.items())
    named = {"setid": "s", "srclang": "en", "trglang": "de", **given}
    attributes = " ".join(f'{name}="{value}"' for name, value in named.items())
    system = "" if kind == "srcset" else ' sysid="x"'
    return f'<{kind} {attributes}><doc docid="d"{system}>{extra}{inner}</doc></{kind}>'.encode()


SEGMENTS = {"1": "a cat", "2": "a dog", "3": "a house"}


def test_a_segment_that_is_missing_in_markup(score: Any) -> None:
    """OCELoT writes NO TRANSLATION AVAILABLE and scores that."""
    output = mteval("tstset", {key: words for key, words in SEGMENTS.items() if key != "2"})
    status, _, message = score([mteval("refset", SEGMENTS)], [output])
    assert status == 1
    assert "2" in message
    assert "NO TRANSLATION" not in message


@pytest.mark.parametrize("ids", [("1", "2", "4"), ("1", "2", "2"), ("1", "2", "3", "9")])
def test_ids_that_do_not_agree(score: Any, ids: tuple[str, ...]) -> None:
    """mteval compares counts alone, and scores the wrong segment."""
    inner = "".join(f'<seg id="{key}">a cat</seg>' for key in ids)
    output = mteval("tstset", {}, extra=inner)
    status, _, message = score([mteval("refset", SEGMENTS)], [output])
    assert status == 1
    assert ids[-1] in message


def test_segments_in_another_order(score: Any) -> None:
    """Whoever goes by position scores each against another (wmt22-news-systems #1)."""
    turned = dict(reversed(SEGMENTS.items()))
    assert first(score([mteval("refset", SEGMENTS)], [mteval("tstset", turned)], "-m", "ter")[1]) == 0


def test_another_target_language(score: Any) -> None:
    """mteval assigns where it should compare, and passes a mix of German and French."""
    status, _, message = score([mteval("refset", SEGMENTS)], [mteval("tstset", SEGMENTS, trglang="fr")])
    assert status == 1
    assert "fr" in message


def test_an_id_of_zero(score: Any) -> None:
    """mteval-v13a takes it for none."""
    zero = {str(number): words for number, words in enumerate(SEGMENTS.values())}
    assert first(score([mteval("refset", zero)], [mteval("tstset", zero)], "-m", "ter")[1]) == 0


BOMB = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
    f"<!ENTITY {chr(98 + n)} '{f'&{chr(97 + n)};' * 10}'>" for n in range(9)
)


@pytest.mark.parametrize(
    "declared",
    [BOMB + "]>", '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>', '<!DOCTYPE x SYSTEM "http://127.0.0.1/x">'],
)
@pytest.mark.parametrize("kind", ["wmt", "mteval"])
def test_entities_that_are_declared(score: Any, declared: str, kind: str) -> None:
    """OCELoT expands 515 bytes to 100 kB; its oldest parser reads files of the server."""
    seg = '<seg id="1">&a;</seg>'
    if kind == "wmt":
        body = f'<dataset id="x"><doc id="d" origlang="en"><hyp system="s"><p>{seg}</p></hyp></doc></dataset>'
    else:
        body = mteval("tstset", {"1": "&a;"}).decode()
    begun = time.process_time()
    status, _, message = score([mteval("refset", {"1": "a"})], [f'<?xml version="1.0"?>{declared}{body}'.encode()])
    assert time.process_time() - begun < 2
    assert "root:" not in message
    if "ENTITY" in declared:
        assert status == 1


def test_markup_is_read_in_linear_time(score: Any) -> None:
    """MO's regular expressions copy the rest of the file at every tag."""
    many = {str(number): "a cat" for number in range(20_000)}
    begun = time.process_time()
    assert score([mteval("refset", many)], [mteval("tstset", many)], "-m", "per")[0] == 0
    assert time.process_time() - begun < 10


def test_other_elements_that_begin_alike(score: Any) -> None:
    """<Doc matches <Document in mteval's regular expressions."""
    output = mteval("tstset", SEGMENTS, extra="<docs>no text</docs>")
    status, result, message = score([mteval("refset", SEGMENTS)], [output], "-m", "ter")
    assert (status, first(result)) == (0, 0)
    assert "<docs> is not known here" in message


def test_identical_outputs_are_no_difference(score: Any) -> None:
    """sacreBLEU gives p = 0.0001 and 0.0010, MultEval nearly 0."""
    for test, metric in itertools.product(("bootstrap", "randomization"), ("bleu", "chrf", "ter")):
        status, result, message = score([text()], [text(), text()], "-m", metric, "--paired", test)
        assert status == 0, message
        assert [pair["p"] for pair in result["paired"]] == [1.0]


def test_intervals_are_whole_ones_and_ordered_as_numbers(score: Any) -> None:
    """sacreBLEU gives half a width; Moses orders replicates as strings, which is wrong for NIST around 10."""
    words = [" ".join(f"w{(seed * 7 + place) % 97}" for place in range(30)) for seed in range(60)]
    noisy = [line.replace("w3 ", "x ").replace("w5", "y") for line in words]
    for metric in ("nist", "bleu"):
        _, result, _ = score([text(words)], [text(noisy)], "-m", metric, "--confidence", "200")
        found = result["systems"][0]["scores"][0]
        assert found["interval"]["low"] <= found["score"] <= found["interval"]["high"]
        assert found["interval"]["high"] - found["interval"]["low"] < 0.2 * found["score"]
