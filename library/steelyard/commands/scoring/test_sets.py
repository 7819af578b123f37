"""`score -t wmt22 -l en-cs`: references and source from sacreBLEU's cache, and only some of their segments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.options import many, option, together
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.commands.options import Decorator
    from steelyard.commands.scoring.inputs import Inputs
    from steelyard.formats.plain import Text
    from steelyard.formats.sacrebleu_sets import CachedTestSet

SECTION = "Test sets of sacreBLEU"


@dataclass(frozen=True)
class TestSetChoice:
    """What the options say."""

    __test__ = False

    test_set: str | None
    language_pair: str | None
    echo: Sequence[str]
    origlang: str | None
    subset: str | None

    def found(self, references: Sequence[str]) -> CachedTestSet | None:
        """The test set; None where references are given as files. Raises UsageError and BadText.

        Parameters
        ----------
        references : sequence of str

        Returns
        -------
        CachedTestSet or None
        """
        if self.test_set is None:
            others = {
                "--echo": self.echo,
                "--origlang": self.origlang,
                "--subset": self.subset,
            }
            if given := [name for name, value in others.items() if value]:
                raise UsageError(f"{given[0]} goes with a test set of sacreBLEU: -t wmt22 -l en-cs.")
            if not references:
                raise UsageError("Give reference files, or a test set of sacreBLEU: -t wmt22 -l en-cs.")
            return None
        if self.language_pair is None:
            raise UsageError(f"-t {self.test_set} needs a language pair: -l en-cs.")
        if references:
            raise UsageError("-t has references of its own: give either, and systems after -i.")
        from steelyard.formats.sacrebleu_sets import joined_test_sets

        return joined_test_sets(self.test_set, self.language_pair)


def test_set_options() -> Decorator:
    """-t, --echo, --origlang and --subset; -l is one of the options of metrics.

    Returns
    -------
    Decorator
    """
    return together(
        option(
            "-t", "--test-set", metavar="NAME[,NAME]", section=SECTION,
            help="take references and source from sacreBLEU's cache folder (~/.sacrebleu, or SACREBLEU): wmt22, "
            "wmt21/B; of several, wmt21,wmt22, one after the other. Nothing is downloaded",
        ),
        many(
            "--echo", metavar="FIELD...", section=SECTION,
            help="print fields of the test set instead, with tabs between them: src, ref, ref:A, docid, origlang, all",
        ),
        option(
            "--origlang", metavar="LANG", section=SECTION,
            help="only segments that were written in a language, or with non-LANG in another one",
        ),
        option("--subset", metavar="REGEX", section=SECTION, help="only segments of domains in which this is found"),
    )  # fmt: skip


def echoed(test_set: CachedTestSet, choice: TestSetChoice) -> str:
    """Fields of the test set as `sacrebleu --echo` prints them. Raises UsageError and BadText.

    Parameters
    ----------
    test_set : CachedTestSet
    choice : TestSetChoice

    Returns
    -------
    str
    """
    fields = list(choice.echo)
    if "all" in fields:
        if len(fields) > 1:
            raise UsageError("--echo all stands alone.")
        fields = list(test_set.fields)
    kept = test_set.kept(choice.origlang, choice.subset)
    columns = [test_set.text(field).lines() for field in fields]
    lines = ["\t".join(cell.decode().rstrip() for cell in cells) for cells in zip(*columns, strict=True)]
    return "".join(f"{line}\n" for number, line in enumerate(lines) if kept is None or kept[number])


def chosen_segments(inputs: Inputs, test_set: CachedTestSet, choice: TestSetChoice) -> Inputs:
    """The inputs, of the segments that are wanted. Raises BadText.

    Parameters
    ----------
    inputs : Inputs
    test_set : CachedTestSet
    choice : TestSetChoice

    Returns
    -------
    Inputs
    """
    inputs = replace(inputs, test_set=f"{test_set.name}/{test_set.pair}")
    kept = test_set.kept(choice.origlang, choice.subset)
    if kept is None:
        return inputs
    if any(text.layers for text in inputs.texts):
        raise CommandError("--origlang and --subset are for plain texts: give the outputs without layers.")
    return replace(
        inputs,
        references=[_only(text, kept) for text in inputs.references],
        outputs=[_only(text, kept) for text in inputs.outputs],
        source=None if inputs.source is None else _only(inputs.source, kept),
        notices=[*inputs.notices, f"{number_of(sum(kept), 'segment')} of {len(kept):,} are scored."],
    )


def _only(text: Text, kept: Sequence[bool]) -> Text:
    lines = [line for line, keep in zip(text.lines(), kept, strict=True) if keep]
    return replace(text, bytes=b"\n".join(lines), segments=len(lines))
