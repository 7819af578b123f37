"""All promises of a metric on many campaigns, and the smallest campaign that breaks each."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from steelyard.conformance.campaign import generated_campaigns
from steelyard.conformance.declarations import DECLARATIONS
from steelyard.conformance.promises import PROMISES, shards_add_up
from steelyard.conformance.subject import PromiseBroken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from steelyard.conformance.campaign import Campaign
    from steelyard.conformance.promises import Promise
    from steelyard.conformance.subject import Subject

SELDOM = 20
"""One campaign of so many is also scored in shards, which takes hundreds of segments."""

PATIENCE = 5.0
"""Seconds to look for a smaller campaign that breaks a promise."""


@dataclass(frozen=True)
class Finding:
    """Whether one promise was kept; `fault` says what is wrong, `campaign` with which texts, where it needs any."""

    promise: str
    """In words."""
    fault: str | None = None
    campaign: Campaign | None = None


def check(
    subject: Subject,
    campaigns: int = 200,
    seed: int = 1,
    on_campaign: Callable[[], None] = lambda: None,
) -> Iterator[Finding]:
    """Try each promise in turn; `on_campaign` is called whenever one campaign has been tried.

    Parameters
    ----------
    subject : Subject
    campaigns : int, optional
    seed : int, optional
    on_campaign : callable, optional
    """
    for declaration in DECLARATIONS:
        yield Finding(_words(declaration), _fault(partial(declaration, subject)))
    for promise in PROMISES:
        finding = Finding(_words(promise))
        for number, generated in enumerate(generated_campaigns(campaigns, seed)):
            # What is not read is not shown either.
            campaign = generated if "source" in subject.metric.inputs else replace(generated, source=None)
            if (promise is not shards_add_up or number % SELDOM == 1) and _fault(partial(promise, subject, campaign)):
                small = shrunk(campaign, partial(_breaks, promise, subject))
                finding = Finding(_words(promise), _fault(partial(promise, subject, small)), small)
                break
            on_campaign()
        yield finding


def shrunk(campaign: Campaign, breaks: Callable[[Campaign], bool]) -> Campaign:
    """A campaign that still breaks, from which nothing can be left out (as far as the time allows).

    Parameters
    ----------
    campaign : Campaign
    breaks : callable

    Returns
    -------
    Campaign
    """
    end = time.monotonic() + PATIENCE
    smaller = True
    while smaller:
        smaller = False
        for candidate in _smaller(campaign):
            if time.monotonic() > end:
                return campaign
            if breaks(candidate):
                campaign, smaller = candidate, True
                break
    return campaign


def _smaller(campaign: Campaign) -> Iterator[Campaign]:
    """The campaign with something left out: systems, references, segments, words; large parts first."""
    references, systems = campaign.references, campaign.systems
    for name in systems if len(systems) > 1 else ():
        yield replace(campaign, systems={each: lines for each, lines in systems.items() if each != name})
    for label in references if len(references) > 1 else ():
        yield replace(campaign, references={each: lines for each, lines in references.items() if each != label})
    for kept in _parts(range(campaign.segments)):
        if kept:
            yield campaign.rearranged(kept)
    for name, lines in systems.items():
        for shorter in _shorter(lines):
            yield replace(campaign, systems={**systems, name: shorter})
    for label, lines in references.items():
        for shorter in _shorter(lines):
            yield replace(campaign, references={**references, label: shorter})
    for shorter in _shorter(campaign.source or ()):
        yield replace(campaign, source=shorter)


def _shorter(lines: Sequence[str]) -> Iterator[list[str]]:
    for position, line in enumerate(lines):
        units, blank = (line.split(" "), " ") if " " in line else (list(line), "")
        for kept in _parts(range(len(units))):
            yield [*lines[:position], blank.join(units[i] for i in kept), *lines[position + 1 :]]


def _parts(positions: Sequence[int]) -> Iterator[list[int]]:
    """All without a run of them, from halves to single ones."""
    size = (len(positions) + 1) // 2
    while size and positions:
        for begin in range(0, len(positions), size):
            yield [*positions[:begin], *positions[begin + size :]]
        size = size // 2


def _breaks(promise: Promise, subject: Subject, campaign: Campaign) -> bool:
    return _fault(partial(promise, subject, campaign)) is not None


def _fault(attempt: Callable[[], None]) -> str | None:
    """What is wrong, if anything. A metric may do anything, so that any exception is one of its faults."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            attempt()
    except PromiseBroken as broken:
        return str(broken)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _words(promise: Callable[..., None]) -> str:
    return (promise.__doc__ or promise.__name__).split("\n")[0]
