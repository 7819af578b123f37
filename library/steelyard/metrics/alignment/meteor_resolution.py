"""Pinning what Meteor's modules take from language, layers and resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.errors import MissingResource
from steelyard.metrics.alignment import lemmas as sources
from steelyard.text.languages import language_code

if TYPE_CHECKING:
    from steelyard.metrics.alignment.meteor_modules import ModuleParameters
    from steelyard.metrics.run_context import RunContext


def pinned_parameters(metric: ModuleParameters, context: RunContext) -> tuple[dict[str, Any], list[str]]:
    """The parameters of Meteor with versions, hashes and language pinned.

    What no module needs becomes `none`, so that equal scores have equal signatures.

    Parameters
    ----------
    metric : Meteor
    context : RunContext

    Returns
    -------
    parameters : dict of str to Any
        Those that change.
    notices : list of str
        Which modules are skipped, and why.

    Raises
    ------
    MissingResource
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
    lang = language if by_language else "none"
    return {"tok": tok, "lemmas": lemmas, "stems": stems, "synonyms": synonyms, "lang": lang}, notices


def _synonyms(metric: ModuleParameters, context: RunContext, notices: list[str]) -> str:
    if "synonym" not in metric.modules:
        return "none"
    if metric.synonyms == "none":
        notices.append(
            "meteor: the module synonym is skipped, since no synonyms are named (synonyms=NAME with "
            "--resource NAME=FILE)."
        )
        return "none"
    return context.resources.pinned(metric.synonyms, "synonyms")


def _lemmas(metric: ModuleParameters, context: RunContext, language: str, notices: list[str]) -> str:
    wanted = metric.lemmas
    if wanted == "layer" or (wanted == "auto" and "lemma" in context.layers):
        return "layer"
    packaged = "@" not in wanted and wanted.partition("-")[0] == "simplemma"
    if packaged or wanted == "auto":
        sources.check_version(wanted)
        there = sources.has_simplemma()
        if there and language and sources.lemmatizes(language):
            return sources.pinned("simplemma")
        missing = f"simplemma is not installed ({sources.INSTALL['simplemma']})"
        reason = _why_unsupported(language, "simplemma") if there else missing
        if packaged:
            raise MissingResource(f"meteor: lemmas={wanted}, but {reason}.")
        notices.append(f"meteor: the module lemma is skipped, since {reason} and no lemmas come with the texts.")
        return "none"
    if wanted == "none":
        if "lemma" in metric.modules:
            notices.append("meteor: the module lemma is skipped (lemmas=none).")
        return "none"
    return context.resources.pinned(wanted, "lemmas")


def _stems(metric: ModuleParameters, language: str, notices: list[str]) -> str:
    if metric.stems == "none":
        notices.append("meteor: the module stem is skipped (stems=none).")
        return "none"
    sources.check_version(metric.stems)
    if language and sources.stems(language):
        return sources.pinned("snowball")
    reason = _why_unsupported(language, "Snowball")
    if metric.stems != "auto":
        raise MissingResource(f"meteor: stems={metric.stems}, but {reason}.")
    notices.append(f"meteor: the module stem is skipped, since {reason}.")
    return "none"


def _why_unsupported(language: str, whose: str) -> str:
    if language:
        return f'{whose} does not know the language "{language}"'
    return "the language is not known (name it with -l or lang=CODE)"
