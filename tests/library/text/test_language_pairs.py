"""Language pairs in any spelling."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.text.language_pairs import (
    Language,
    NoSuchPair,
    of_other_languages,
    pair_called,
    pairs_called,
    parse_pair,
)

WMT25 = [
    "cs-de_DE", "cs-uk_UA", "en-ar_EG", "en-bho_IN", "en-cs_CZ", "en-et_EE", "en-ja_JP", "en-mas_KE", "en-sr_Cyrl_RS",
    "en-sr_Latn_RS", "en-zh_CN", "ja-zh_CN",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "source", "target", "codes"),
    [
        ("en-cs", ("en",), ("cs",), ("en", "cs")),
        ("eng-ces", ("en",), ("cs",), ("eng", "ces")),
        ("en-cs_CZ", ("en",), ("cs", "", "CZ"), ("en", "cs_CZ")),
        ("en-sr_Cyrl_RS", ("en",), ("sr", "Cyrl", "RS"), ("en", "sr_Cyrl_RS")),
        ("eng_Latn---ces_Latn", ("en", "Latn"), ("cs", "Latn"), ("eng_Latn", "ces_Latn")),
        ("eng_Latn---zho_Hant_TW", ("en", "Latn"), ("zh", "Hant", "TW"), ("eng_Latn", "zho_Hant_TW")),
        ("en-zh_CN", ("en",), ("zh", "Hans", "CN"), ("en", "zh_CN")),
        ("en-es_419", ("en",), ("es", "", "419"), ("en", "es_419")),
        ("en-zh-CN", ("en",), ("zh", "Hans", "CN"), ("en", "zh-CN")),
        ("en-arz", ("en",), ("ar", "", "EG"), ("en", "arz")),
        ("ekk-sme", ("et",), ("se",), ("ekk", "sme")),
        ("en-mas_KE", ("en",), ("mas", "", "KE"), ("en", "mas_KE")),
        ("eng-zho-hans", ("en",), ("zh", "Hans"), ("eng", "zho-hans")),
        ("eng_latn-cmn_hant_tw", ("en", "Latn"), ("zh", "Hant", "TW"), ("eng_latn", "cmn_hant_tw")),
        ("eng-msa", ("en",), ("ms",), ("eng", "msa")),
        ("fil-jav_ID", ("fil",), ("jv", "", "ID"), ("fil", "jav_ID")),
    ],
)
def test_spellings(text, source, target, codes):
    pair = parse_pair(text)
    assert (pair.source, pair.target) == (Language(*source), Language(*target))
    assert (pair.source_code, pair.target_code) == codes


@pytest.mark.parametrize(
    "text", ["", "en", "en-", "-cs", "english-czech", "en_cs", "en-cs-de", "en-cs-cz", "en-cs.x", "EN-CS"]
)
def test_what_is_no_pair(text):
    assert parse_pair(text) is None


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("en-cs", "en-cs_CZ"),
        ("eng-ces", "en-cs_CZ"),
        ("eng_Latn---ces_Latn", "en-cs_CZ"),
        ("en-cs_CZ", "en-cs_CZ"),
        ("en-sr_Cyrl", "en-sr_Cyrl_RS"),
        ("en-arz", "en-ar_EG"),
        ("eng-ekk", "en-et_EE"),
        ("eng_Latn---zho_Hans", "en-zh_CN"),
        ("en-zh", "en-zh_CN"),
    ],
)
def test_the_only_one_that_fits(name, found):
    assert pair_called(name, WMT25, "wmt25") == found


@pytest.mark.parametrize(
    ("name", "known", "says"),
    [
        ("en-sr", WMT25, "may be en-sr_Cyrl_RS, en-sr_Latn_RS"),
        ("en-zh", ["en-zh_CN", "en-zh_TW"], "may be en-zh_CN, en-zh_TW"),
        ("en-de", WMT25, "wmt25: there is no pair en-de. There are: cs-de_DE"),
        ("en-cs_SK", WMT25, "there is no pair en-cs_SK"),
        ("Czech", WMT25, "there is no pair Czech"),
        ("en-zho_Hant", ["en-zh_CN"], "there is no pair"),
    ],
)
def test_none_and_two(name, known, says):
    with pytest.raises(NoSuchPair, match=re.escape(says)):
        pair_called(name, known, "wmt25")


def test_several():
    assert pairs_called([], WMT25, "wmt25") == WMT25
    assert pairs_called(["en-ja", "eng-jpn", "en-cs"], WMT25, "wmt25") == ["en-ja_JP", "en-cs_CZ"]


CODES = st.builds(
    lambda *parts: "_".join(part for part in parts if part),
    st.sampled_from(["en", "eng", "cs", "zh", "zho", "sr", "arz"]),
    st.sampled_from(["", "Latn", "Hans", "Cyrl"]),
    st.sampled_from(["", "CZ", "TW", "419"]),
)


@given(CODES, CODES, st.sampled_from(["-", "---"]))
def test_a_pair_fits_itself_in_either_direction(source, target, sign):
    pair, other = parse_pair(source + sign + target), parse_pair(f"{target}-{source}")
    assert (pair.source_code, pair.target_code) == (source, target)
    assert pair.fits(pair)
    assert pair.fits(other) == other.fits(pair)


@pytest.mark.parametrize(
    ("one", "other", "others"),
    [
        ("en-cs", "en-de", True),
        ("en-cs", "cs-en", True),
        ("en-sr_Cyrl", "en-sr_Latn", True),
        ("en-cs", "eng-ces", False),
        ("en-sr_Cyrl", "en-sr", False),
        ("da-esa", "en-de", False),
        ("esa-da", "en-de", False),
        ("generaltest2022", "en-de", False),
        ("", "", False),
    ],
)
def test_only_pairs_of_known_languages_are_of_others(one, other, others):
    """`da-esa` may be a name of something else."""
    assert of_other_languages(one, other) == of_other_languages(other, one) == others
