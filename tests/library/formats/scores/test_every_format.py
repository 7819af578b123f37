"""However a file of scores was saved, it is the same file: with a byte-order mark, Windows' line ends, packed."""

import pytest

from steelyard.formats.scores.reading import FORMATS, read_scores
from tests.library.saved_files import SAVED

SAMPLES = {
    "WMT's automatic scores (JSON Lines)": (
        "GPT-4.1.jsonl",
        '{"language_pair": "en-de", "document_id": "d", "metric_scores": {"X": [1, null], "Y": [2, 3]}}\n'
        '{"language_pair": "en-de", "document_id": "e", "metric_scores": {"X": [4], "Y": [5]}}\n',
    ),
    "COMET's --to_json": ("en-de/comet.json", '{"out/a.txt": [{"src": "s", "mt": "t", "COMET": 0.5}]}\n'),
    "MetricX' JSON Lines": ("en-de/a.jsonl", '{"hypothesis": "t", "prediction": 0.5}\n{"prediction": 3}\n'),
    "a table with the columns system, metric, score": (
        "scores.tsv",
        "system\tmetric\tsegment\tscore\na\tM\t1\t0.5\na\tM\t2\t\nb\tM\t2\t7\n",
    ),
    "WMT's metrics task (TSV)": (
        "Ours/segments.tsv",
        "doc_id\tsegment_id\tsource_lang\ttarget_lang\tsystem_id\toverall\nd\t1\ten\tde\ta\t3\nd\t2\ten\tde\ta\t4\n",
    ),
    "WMT's metrics task until 2023": (
        "M.tsv",
        "M\ten-de\twmt23\tnews\td\trefA\ta\t1\t0.5\nM\ten-de\twmt23\tnews\td\trefA\ta\t2\t1\n",
    ),
    "mt-metrics-eval's .score": ("en-de/M-refA.seg.score", "a\t1\nb\t2\na\t3\nb\tNone\n"),
}  # fmt: skip
WAYS = SAVED | {"with a blank line behind": lambda text: (text + "\n").encode()}


def read(folder, name, data):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return [
        (each.pair, each.systems, *(str(value) for value in vars(metric).values()))
        for each in read_scores([path])
        for metric in each.metrics
    ]


def test_there_is_a_sample_of_every_format():
    assert list(SAMPLES) == [each.title for each in FORMATS]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("title", SAMPLES)
def test_a_file_is_the_same_however_it_was_saved(tmp_path, title, how):
    name, text = SAMPLES[title]
    assert read(tmp_path, name, WAYS[how](text)) == read(tmp_path, name, text.encode()) != []


@pytest.mark.parametrize("title", SAMPLES)
def test_a_file_is_read_by_its_own_format_alone(tmp_path, title):
    """The first that recognizes it reads it: none before may."""
    head = SAMPLES[title][1].encode()
    assert next(each.title for each in FORMATS if each.recognizes(head)) == title
