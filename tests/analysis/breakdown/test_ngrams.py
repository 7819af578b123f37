"""N-grams from the database are those of the texts."""

from analysis.breakdown import ngrams
from analysis.breakdown.ngrams import read_ngrams, words_of
from analysis.breakdown.texts import read_board_texts, read_outputs
from steelyard.inspection.ngrams import ngram_differences
from steelyard.metrics.segments import Segments
from tests.analysis.campaigns import REFERENCES, SYSTEMS, joined, opened, store


def test_the_ngrams_of_two_systems(database_url):
    store(database_url, metrics=("ter", "bleu:case=lc"))
    with opened(database_url) as (connection, (board,)):
        texts = read_board_texts(connection, board)
        found = read_ngrams(connection, board, texts, [(0, 2)], 4)
        outputs = read_outputs(connection, board.rows, texts.segments)
    systems = [joined(SYSTEMS[row.system]) for row in board.rows]
    assert outputs == systems
    assert words_of(board.listed.metrics) == ("13a", "lc")
    segments = Segments(references=[joined(lines) for lines in REFERENCES.values()], hypotheses=systems)
    assert found == ngram_differences(segments, [(0, 2)], tokenizer="13a", case="lc", most=4)
    assert found[0][1][0]


def test_pairs_of_long_test_sets_are_counted_one_at_a_time(sqlite_url, monkeypatch):
    store(sqlite_url, metrics=("bleu",))
    seen = []
    monkeypatch.setattr(
        ngrams, "ngram_differences", lambda *given, **more: seen.append(given[1]) or ngram_differences(*given, **more)
    )
    with opened(sqlite_url) as (connection, (board,)):
        texts = read_board_texts(connection, board)
        together = read_ngrams(connection, board, texts, [(0, 1), (1, 2)], 4)
        monkeypatch.setattr(ngrams, "COUNTED_TOGETHER", texts.segments - 1)
        assert read_ngrams(connection, board, texts, [(0, 1), (1, 2)], 4) == together
    assert seen == [[(0, 1), (1, 2)], [(0, 1)], [(0, 1)]]


def test_words_are_those_of_a_metric_that_has_some(sqlite_url):
    store(sqlite_url, metrics=("chrf", "bleu:tok=char", "bleu:tok=intl:order=1"))
    with opened(sqlite_url) as (_, (board,)):
        assert words_of(board.listed.metrics) == ("intl", "mixed")


def test_without_such_a_metric_they_are_the_usual_ones(sqlite_url):
    store(sqlite_url, metrics=("chrf",))
    with opened(sqlite_url) as (_, (board,)):
        assert words_of(board.listed.metrics) == ("13a", "mixed")


def test_metrics_and_tokenizers_that_are_not_installed_here_are_passed_over():
    """Workers may have what this process has not."""
    assert words_of(["theirs:x=1", "bleu:tok=intl:case=lc"]) == ("intl", "lc")
    assert words_of(["bleu:tok=flores200", "ter:case=mixed", "bleu:tok=intl"]) == ("intl", "mixed")
    assert words_of(["theirs", "bleu:tok=flores200:case=lc"]) == ("13a", "mixed")
    assert words_of([]) == ("13a", "mixed")
