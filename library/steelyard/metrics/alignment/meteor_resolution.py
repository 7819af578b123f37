"""Pinning what Meteor's modules take from language, layers and resources."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeVar

from steelyard.errors import MissingResource
from steelyard.metrics.alignment import lemmas as sources
from steelyard.metrics.alignment.meteor_modules import working_modules
from steelyard.text.languages import language_code

if TYPE_CHECKING:
    from steelyard.metrics.alignment.meteor import Meteor
    from steelyard.metrics.context import RunContext

    Some = TypeVar("Some", bound=Meteor)


def settled_meteor(metric: Some, context: RunContext) -> tuple[Some, list[str]]:
    """The metric with versions, hashes and language pinned; and which modules are skipped, and why.

    What no module needs becomes `none`, so that equal scores have equal signatures. Raises MissingResource.
    """
    notices: list[str] = []
    language = language_code(context.language) or "" if metric.lang == "auto" else metric.lang.removeprefix("none")
    synonyms = _synonyms(metric, context, notices)
    needs_lemmas = "lemma" in metric.modules or synonyms != "none"
    lemmas = _lemmas(metric, context, language, notices) if needs_lemmas else "none"
    stems = _stems(metric, language, notices) if "stem" in metric.modules else "none"
    by_language = any(
        source.startswith(("simplemma-", "snowball-")) and "@" not in source for source in (lemmas, stems)
    )
    tok = metric.tok
    if "lemma" in context.layers and tok != "none":
        tok = "none"
        notices.append("meteor: the texts are annotated word by word, so their words are taken as they are (tok=none).")
    pinned = dataclasses.replace(
        metric, tok=tok, lemmas=lemmas, stems=stems, synonyms=synonyms, lang=language if by_language else "none"
    )
    if not working_modules(pinned):
        raise MissingResource(" ".join([*notices, "No module is left: add the module exact."]))
    return pinned, notices


def _synonyms(metric: Meteor, context: RunContext, notices: list[str]) -> str:
    if "synonym" not in metric.modules:
        return "none"
    if metric.synonyms == "none":
        notices.append(
            "meteor: the module synonym is skipped, since no synonyms are named (synonyms=NAME with "
            "--resource NAME=FILE)."
        )
        return "none"
    return context.resources.pinned(metric.synonyms, "synonyms")


def _lemmas(metric: Meteor, context: RunContext, language: str, notices: list[str]) -> str:
    wanted = metric.lemmas
    if wanted == "layer" or (wanted == "auto" and "lemma" in context.layers):
        return "layer"
    packaged = "@" not in wanted and wanted.partition("-")[0] == "simplemma"
    if packaged or wanted == "auto":
        sources.check_version(wanted)
        if language and sources.lemmatizes(language):
            return sources.pinned("simplemma")
        lacking = _lacking(language, "simplemma")
        if packaged:
            raise MissingResource(f"meteor: lemmas={wanted}, but {lacking}.")
        notices.append(f"meteor: the module lemma is skipped, since {lacking} and no lemmas come with the texts.")
        return "none"
    if wanted == "none":
        if "lemma" in metric.modules:
            notices.append("meteor: the module lemma is skipped (lemmas=none).")
        return "none"
    return context.resources.pinned(wanted, "lemmas")


def _stems(metric: Meteor, language: str, notices: list[str]) -> str:
    if metric.stems == "none":
        notices.append("meteor: the module stem is skipped (stems=none).")
        return "none"
    sources.check_version(metric.stems)
    if language and sources.stems(language):
        return sources.pinned("snowball")
    lacking = _lacking(language, "Snowball")
    if metric.stems != "auto":
        raise MissingResource(f"meteor: stems={metric.stems}, but {lacking}.")
    notices.append(f"meteor: the module stem is skipped, since {lacking}.")
    return "none"


def _lacking(language: str, whose: str) -> str:
    if language:
        return f'{whose} does not know the language "{language}"'
    return "the language is not known (name it with -l or lang=CODE)"
