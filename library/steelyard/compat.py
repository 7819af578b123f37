"""sacreBLEU's functions, under its names and with its arguments: `import steelyard as sacrebleu`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from steelyard.metrics.edit.ter import TER
from steelyard.metrics.ngram.bleu import BLEU
from steelyard.metrics.ngram.chrf import CHRF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.metrics.score import BLEUScore, ChrFScore, TERScore

    References = Sequence[Sequence[str | None]]


def corpus_bleu(
    hypotheses: Sequence[str],
    references: References,
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    force: bool = False,
    lowercase: bool = False,
    tokenize: str = "13a",
    use_effective_order: bool = False,
) -> BLEUScore:
    """BLEU of a corpus: `BLEU(...).corpus_score(hypotheses, references)`.

    Parameters
    ----------
    hypotheses : list of str
        One string for each segment.
    references : list of list of str
        One list for each reference; None for a reference that a segment lacks.
    smooth_method : str
        none, exp, floor or add-k.
    smooth_value : float, optional
        Of floor (0.1) and add-k (1).
    force : bool
        Has no effect: there is no warning to be switched off.
    lowercase : bool
        Whether the text is lowercased first.
    tokenize : str
        Name of the tokenizer.
    use_effective_order : bool
        Whether orders for which the text is too short are left out.

    Returns
    -------
    BLEUScore

    Raises
    ------
    BadText, BadParameter
    """
    metric = BLEU(
        lowercase=lowercase,
        force=force,
        tokenize=tokenize,
        smooth_method=smooth_method,
        smooth_value=smooth_value,
        effective_order=use_effective_order,
    )
    return cast("BLEUScore", metric.corpus_score(hypotheses, references))


def raw_corpus_bleu(hypotheses: Sequence[str], references: References, smooth_value: float | None = 0.1) -> BLEUScore:
    """BLEU of words as white space separates them, with floor smoothing and the effective order.

    Parameters
    ----------
    hypotheses : list of str
    references : list of list of str
    smooth_value : float, optional
        As of `corpus_bleu`.

    Returns
    -------
    BLEUScore
    """
    return corpus_bleu(
        hypotheses,
        references,
        smooth_method="floor",
        smooth_value=smooth_value,
        tokenize="none",
        use_effective_order=True,
    )


def sentence_bleu(
    hypothesis: str,
    references: Sequence[str],
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    lowercase: bool = False,
    tokenize: str = "13a",
    use_effective_order: bool = True,
) -> BLEUScore:
    """BLEU of one segment, with the effective order by default.

    Parameters
    ----------
    hypothesis : str
    references : list of str
    smooth_method : str
    smooth_value : float, optional
    lowercase : bool
    tokenize : str
    use_effective_order : bool
        As of `corpus_bleu`.

    Returns
    -------
    BLEUScore
    """
    metric = BLEU(
        lowercase=lowercase,
        tokenize=tokenize,
        smooth_method=smooth_method,
        smooth_value=smooth_value,
        effective_order=use_effective_order,
    )
    return cast("BLEUScore", metric.sentence_score(hypothesis, references))


def corpus_chrf(
    hypotheses: Sequence[str],
    references: References,
    char_order: int = 6,
    word_order: int = 0,
    beta: int = 2,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
) -> ChrFScore:
    """The chrF of a corpus, chrF++ with `word_order=2`.

    Parameters
    ----------
    hypotheses : list of str
        One string for each segment.
    references : list of list of str
        One list for each reference; None for a reference that a segment lacks.
    char_order, word_order : int
        The largest orders of character and word n-grams.
    beta : int
        How many times more recall weighs than precision.
    remove_whitespace : bool
        Whether white space is no character.
    eps_smoothing : bool
        Whether orders for which a text is too short count, as in chrF++.py.

    Returns
    -------
    ChrFScore

    Raises
    ------
    BadText, BadParameter
    """
    return cast(
        "ChrFScore",
        _chrf(char_order, word_order, beta, remove_whitespace, eps_smoothing).corpus_score(hypotheses, references),
    )


def sentence_chrf(
    hypothesis: str,
    references: Sequence[str],
    char_order: int = 6,
    word_order: int = 0,
    beta: int = 2,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
) -> ChrFScore:
    """The chrF of one segment.

    Parameters
    ----------
    hypothesis : str
    references : list of str
    char_order, word_order, beta : int
    remove_whitespace, eps_smoothing : bool
        As of `corpus_chrf`.

    Returns
    -------
    ChrFScore
    """
    return cast(
        "ChrFScore",
        _chrf(char_order, word_order, beta, remove_whitespace, eps_smoothing).sentence_score(hypothesis, references),
    )


def corpus_ter(
    hypotheses: Sequence[str],
    references: References,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> TERScore:
    """TER of a corpus.

    Parameters
    ----------
    hypotheses : list of str
        One string for each segment.
    references : list of list of str
        One list for each reference; None for a reference that a segment lacks.
    normalized : bool
        Whether tercom's rules cut off punctuation.
    no_punct : bool
        Whether punctuation is removed.
    asian_support : bool
        Whether these two know Chinese and Japanese characters.
    case_sensitive : bool
        Whether the text is not lowercased.

    Returns
    -------
    TERScore

    Raises
    ------
    BadText, BadParameter
    """
    return cast(
        "TERScore",
        _ter(normalized, no_punct, asian_support, case_sensitive).corpus_score(hypotheses, references),
    )


def sentence_ter(
    hypothesis: str,
    references: Sequence[str],
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> TERScore:
    """TER of one segment.

    Parameters
    ----------
    hypothesis : str
    references : list of str
    normalized, no_punct, asian_support, case_sensitive : bool
        As of `corpus_ter`.

    Returns
    -------
    TERScore
    """
    return cast(
        "TERScore",
        _ter(normalized, no_punct, asian_support, case_sensitive).sentence_score(hypothesis, references),
    )


def _chrf(char_order: int, word_order: int, beta: int, remove_whitespace: bool, eps_smoothing: bool) -> Any:
    return CHRF(
        char_order=char_order,
        word_order=word_order,
        beta=beta,
        whitespace=not remove_whitespace,
        eps_smoothing=eps_smoothing,
    )


def _ter(normalized: bool, no_punct: bool, asian_support: bool, case_sensitive: bool) -> Any:
    return TER(normalized=normalized, no_punct=no_punct, asian_support=asian_support, case_sensitive=case_sensitive)
