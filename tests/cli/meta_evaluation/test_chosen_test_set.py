"""Which test set --test-set and --campaign mean, and what is said where that is not one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from steelyard.commands.errors import CommandError
from steelyard_client.commands.human.test_sets import Chosen, choose_test_set

NEWS = {
    "wmt27": [("news", "1", 4), ("news", "2", 5), ("talks", "1", 6)],
    "wmt26": [("talks", "1", 6)],
    "wmt25": [("chat", "1", 7), ("talks", "1", 8)],
}
"""Test sets of campaigns, the newest first, as servers list them: name, version and number."""


def server(campaigns: dict[str, list[tuple[str, str, int]]]) -> Any:
    known = {
        campaign: [SimpleNamespace(name=name, version=version, id=number) for name, version, number in test_sets]
        for campaign, test_sets in campaigns.items()
    }
    return SimpleNamespace(
        list_campaigns=lambda: [SimpleNamespace(name=each) for each in known], list_test_sets=known.__getitem__
    )


@pytest.mark.parametrize(
    ("test_set", "campaign", "chosen"),
    [
        ("chat", None, Chosen("wmt25", "chat@1", "chat", 7)),
        ("chat@1", None, Chosen("wmt25", "chat@1", "chat", 7)),
        ("news@2", None, Chosen("wmt27", "news@2", "news (version 2)", 5)),
        ("news@1", "wmt27", Chosen("wmt27", "news@1", "news", 4)),
        ("wmt27: news@2", None, Chosen("wmt27", "news@2", "news (version 2)", 5)),
        ("wmt25: talks", None, Chosen("wmt25", "talks@1", "talks", 8)),
        ("talks", "wmt26", Chosen("wmt26", "talks@1", "talks", 6)),
        (None, "wmt26", Chosen("wmt26", "talks@1", "talks", 6)),
    ],
)
def test_one_is_meant(test_set: str | None, campaign: str | None, chosen: Chosen) -> None:
    assert choose_test_set(server(NEWS), test_set, campaign) == chosen


@pytest.mark.parametrize(
    ("test_set", "campaign", "says"),
    [
        ("news", None, "There are several test sets: news@1, news@2. Choose one with --test-set."),
        (None, "wmt27", "There are several test sets: news@1, news@2, talks@1. Choose one with --test-set."),
        (None, "wmt25", "There are several test sets: chat, talks. Choose one with --test-set."),
        ("talks", None, "Several campaigns have the test set talks: wmt25, wmt26, wmt27. Choose one with --campaign."),
        ("talks@1", None, "Several campaigns have the test set talks: wmt25, wmt26, wmt27. Choose one with --camp"),
        ("news@3", None, 'There is no test set "news@3". There are: chat@1, talks@1, news@1, news@2.'),
        ("chat", "wmt26", 'There is no test set "chat". There are: talks.'),
        ("wmt26: chat", None, 'There is no test set "wmt26: chat". There are: chat@1, talks@1, news@1, news@2.'),
    ],
)
def test_none_or_several_are_meant(test_set: str | None, campaign: str | None, says: str) -> None:
    with pytest.raises(CommandError) as refused:
        choose_test_set(server(NEWS), test_set, campaign)
    assert str(refused.value).startswith(says)


def test_there_may_be_none() -> None:
    with pytest.raises(CommandError) as refused:
        choose_test_set(server({"wmt27": []}), None, None)
    assert str(refused.value).startswith("There is no test set yet.")
