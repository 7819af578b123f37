"""The scores that are drawn for the benchmark are those of a shared task, in a form that is read."""

from benchmarks import automatic_scores
from steelyard.formats.scores.reading import read_scores


def test_the_drawn_scores_have_the_shape_of_a_shared_task(tmp_path, monkeypatch):
    assert sum(automatic_scores.systems_of_pairs().values()) == 1_066
    monkeypatch.setattr(automatic_scores, "ROWS", 2 * len(automatic_scores.PAIRS))
    automatic_scores.generate(tmp_path)
    found = {each.pair: each for each in read_scores([tmp_path])}
    assert len(found) == 31
    assert found["cs-de_DE"].systems == ("System-0", "System-1")
    assert [each.scores.shape for each in found["en-cs_CZ"].metrics] == [(2, 384)] * 5
