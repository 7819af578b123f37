"""Each check, on lines that show what it is for and on lines that only look so."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from campaigns.checks.stored_findings import finding_of
from steelyard.checks.check import check_output
from steelyard.checks.context import CheckContext
from steelyard.checks.examined import MAX_SEGMENTS, align_output
from steelyard.checks.finding import Finding, Severity
from steelyard.formats.plain import Text
from tests.library.checks.texts import demo, joined

SOURCE, OUTPUT = demo("source"), demo("systems/anchor")


def found(
    output: list[str],
    *,
    source: list[str] | None = SOURCE,
    target: str = "en",
    references: tuple = (),
) -> dict[str, Finding]:
    standard = CheckContext(
        len(output),
        None if source is None else joined(source),
        [joined(text) for text in references],
        "cs",
        target,
    )
    return {each.code: each for each in check_output(Text("out", joined(output), len(output)), standard)}


def with_line(place: int, *lines: str) -> list[str]:
    return [*OUTPUT[:place], *lines, *OUTPUT[place + len(lines) :]]


def test_a_good_output_has_no_findings():
    for references in ((), (demo("refs/A"), demo("refs/B"))):
        assert found(OUTPUT, references=references) == {}


def test_a_clean_output_without_a_source_has_no_findings():
    assert found(OUTPUT, source=None) == {}


@pytest.mark.parametrize("empty", [len(OUTPUT), len(OUTPUT) - 9])
def test_of_lines_that_are_nearly_all_empty_no_length_is_said(empty):
    """Nor of a source that has none: what is empty is said by another check."""
    text = [""] * empty + ["x" * 500] * (len(OUTPUT) - empty)
    assert {"length", "lengths"} & found(text).keys() == set()
    assert {"length", "lengths"} & found(OUTPUT, source=[""] * len(OUTPUT)).keys() == set()


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("replacement", "The har\ufffdour was closed for two days."),
        ("control", "The harbour was \x08closed for two days."),
        ("invisible", "The \u202eharbour was closed for two days."),
        ("subwords", "The har@@ bour was closed for two days."),
        ("subwords", "\u2581The \u2581har bour \u2581was \u2581closed for two days."),
        ("special_tokens", "The harbour was <unk> for two days."),
        ("entities", "The harbour was &quot;closed&quot; for two days."),
        ("loops", "The harbour was closed " + "for two days " * 9),
    ],
)
def test_what_came_to_harm_is_named_with_its_segment(code, line):
    assert found(with_line(7, line))[code].segments == (8,)
    # What stands in the source, too, belongs there.
    assert code not in found(with_line(7, line), source=[*SOURCE[:7], line, *SOURCE[8:]])


@pytest.mark.parametrize(
    "text",
    [
        "café, naïve, œuvre",
        "příliš žluťoučký kůň",
        "Größe und Übermut",
        "Привет мир",
        "日本語のテキスト",
        "it’s – “so”",
    ],
)
@pytest.mark.parametrize("through", ["cp1252", "latin1"])
def test_text_that_was_encoded_twice(text, through):
    twice = "".join(bytes([code]).decode(through, "ignore") or chr(code) for code in f"{text} and {text}".encode())
    assert found(with_line(3, twice, twice))["mojibake"].segments == (4, 5)
    assert "mojibake" not in found(with_line(3, text, text))
    # Nor what the source has, too: an example of it, or the source's own fault.
    assert "mojibake" not in found(with_line(3, twice, twice), source=[*SOURCE[:3], twice, twice, *SOURCE[5:]])


def test_one_place_may_be_chance_and_two_are_not():
    assert "mojibake" not in found(with_line(3, "Le cafÃ© de la gare."))
    assert found(with_line(3, "Le cafÃ© de la gare.", "Et le thÃ© du port."))["mojibake"].segments == (4, 5)
    assert found(with_line(3, "Le cafÃ© et le thÃ©."))["mojibake"].segments == (4,)


@pytest.mark.parametrize("text", ["«CAFÉ»", "„Úžasné“, nevíš“", "PÅ” IGEN", "ÀÉ ÊTRE À “LÀ”…", "Ún šťastný – ÍŽ"])
def test_rare_letters_are_not_taken_for_text_that_was_encoded_twice(text):
    assert "mojibake" not in found(with_line(3, text, text, text))


def test_an_output_that_is_still_tokenized():
    assert found([line.replace(".", " .").replace(",", " ,") for line in OUTPUT])["tokenized"].count > 100


def test_an_output_without_capitals():
    assert set(found([line.lower() for line in OUTPUT])) == {"no_capitals"}
    japanese = ["これは港についての文です。"] * 2 + [f"港には{number}隻の船があります。" for number in range(118)]
    assert "no_capitals" not in found(japanese, target="ja")


def test_one_line_for_many_segments():
    finding = found(with_line(20, *["I cannot translate this text."] * 6))["repeated_lines"]
    assert (finding.segments, finding.severity) == (tuple(range(21, 27)), Severity.WARNING)
    assert "“I cannot translate this text.” 6 times" in finding.message
    repeated = [*SOURCE[:20], *["To se nedá přeložit."] * 6, *SOURCE[26:]]
    assert "repeated_lines" not in found(with_line(20, *["I cannot translate this text."] * 6), source=repeated)


def test_the_wrong_language():
    finding = found(demo("source"), source=None)["language"]
    assert finding.message == "The output looks like cs, the language of the source, not like en. Is it the right file?"
    assert found(OUTPUT, target="de")["language"].message.startswith("The output looks like en, not like de.")
    finding = found([*SOURCE[:40], *OUTPUT[40:]], source=None)["mixed_languages"]
    assert finding.segments[0] < 5
    assert all(number <= 41 for number in finding.segments)


@pytest.mark.parametrize("target", ["", "tlh", "en-GB", "EN"])
def test_languages_that_nobody_knows_and_their_variants(target):
    assert found(OUTPUT, target=target) == {}


def test_without_the_package_that_identifies_languages_none_is_checked(monkeypatch):
    monkeypatch.setattr("steelyard.checks.language.find_spec", lambda _: None)
    assert found(OUTPUT, target="de") == {}


def test_too_little_text_has_no_language():
    assert found(["one two three four five"] * 3, source=None, target="cs") == {}


def test_relatives_are_not_distinguished():
    norwegian = ["Havnen var stengt i to dager etter stormen, og ingen av båtene kom seg ut på sjøen igjen før fredag."]
    assert "language" not in found(norwegian * 4 + [f"Båt nummer {n} ligger ved kaien i dag." for n in range(9)],
                                   source=None, target="da")  # fmt: skip


def test_an_output_that_was_cut_off():
    short = [line[: len(line) // 3] for line in OUTPUT]
    assert "length" in found(short, references=(demo("refs/A"),))
    finding = found(short, source=None, references=(demo("refs/A"),))["length"]
    assert finding.message.startswith("The output is much shorter than the references: 0.32 times as many characters.")
    odd = found(with_line(30, OUTPUT[30] * 8))["odd_lengths"]
    assert (odd.segments, odd.severity) == ((31,), Severity.NOTE)


def test_a_text_that_is_to_be_corrected_may_be_left_alone():
    standard = CheckContext(120, joined(OUTPUT), source_language="en", target_language="en")
    assert check_output(Text("out", joined(OUTPUT), 120), standard) == []


def test_of_a_large_output_a_part_is_looked_at():
    line, segments = b"word by word", 3 * MAX_SEGMENTS
    examined = align_output(b"\n".join([line] * segments), CheckContext(segments, b"\n".join([b"x"] * segments)))
    assert 0.9 * MAX_SEGMENTS < len(examined.lines) <= MAX_SEGMENTS
    assert (examined.numbers[0], examined.numbers[-1]) == (1, segments)
    assert len(examined.sources) == len(examined.lines)


LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\0"), max_size=60)
ODD = st.sampled_from(
    [
        "",
        " ",
        "\u3000",
        "Ã©",
        "&amp;",
        "\ufeff",
        "<unk>",
        "a " * 40,
        "日本語",
        "1,000.5",
        "\r",
        "\u2028",
        "𝒳" * 9,
        "x" * 5000,
    ]
)


@settings(max_examples=200)
@given(st.data(), st.integers(1, 24), st.integers(0, 2), st.booleans())
def test_nothing_makes_it_fail(data, segments, references, source):
    def text(count: int) -> bytes:
        return joined(data.draw(st.lists(st.one_of(LINE, ODD), min_size=count, max_size=count)))

    count = data.draw(st.sampled_from([segments, segments, segments, segments + 1]))
    standard = CheckContext(
        segments,
        text(segments) if source else None,
        [text(segments) for _ in range(references)],
        data.draw(st.sampled_from(["", "cs", "?"])),
        data.draw(st.sampled_from(["", "en", "zh-Hans"])),
    )
    for finding in check_output(Text("out", text(count), count), standard):
        assert finding.message
        assert all(1 <= number <= segments for number in finding.segments)
        assert finding_of(finding.as_row()) == finding
