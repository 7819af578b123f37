"""However a file of judgments was saved, it is the same file: with a byte-order mark, Windows' line ends, packed."""

import json

import pytest

from steelyard.meta_evaluation.human.assessed import opened_assessments
from steelyard.meta_evaluation.human.assessment_formats.reading import FORMATS, AssessmentFiles
from tests.library.saved_files import SAVED

PEARMUT = {
    "user_id": "u1",
    "item_i": 0,
    "item": [{"src": "s", "tgt": {"tug": "t"}, "item_id": "news_###_d1_###_0"}],
    "annotation": [{"tug": {"score": 70, "error_spans": [], "textfield": None}}],
    "actions": [{"time": 1.0, "action": "x"}, {"time": 9.0, "action": "x"}],
}
LINE = {
    "doc_id": "x", "langs": "en-cs", "line_id": 4, "esa_score": 85, "esa_spans": [], "tgt": "t", "system": "tug",
    "annotator": "a", "times": [1.0, 4.5],
}  # fmt: skip
SAMPLES = {
    "Pearmut's export": ("pearmut.json", json.dumps(PEARMUT) + "\n"),
    "WMT's JSON Lines": ("judged.jsonl", json.dumps(LINE) + "\n"),
    "mt-metrics-eval's ratings": ("en-de.mqm.merged.seg.rating", 'tug\tNone\ntug\t{"errors": []}\tr1\n'),
    "mt-metrics-eval's scores": ("en-de.mqm.seg.score", "tug\t90.0\nraft\t1\ntug\tNone\nraft\t-2.5\n"),
    "a table of errors (MQM)": (
        "en-cs.mqm.tsv",
        "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
        "tug\td1\t1\t1\tr1\tHi.\tDobry den.\tAccuracy/Mistranslation\tMajor\n",
    ),
    "Appraise's export, or a table with a header": (
        "en-cs.esa.csv",
        "u1,tug,1,TGT,eng,ces,40,d1,False,[],1.5,2.5\nu1,raft,1,TGT,eng,ces,60,d1,False,[],2.5,3.5\n",
    ),
}


def read(path, data):
    path.write_bytes(data)
    files = AssessmentFiles()
    files.read([path])
    contents, assessments = opened_assessments(path)
    contents.close()
    return files.assessments, assessments


def test_there_is_a_sample_of_every_format():
    assert list(SAMPLES) == [each.title for each in FORMATS]


@pytest.mark.parametrize("how", SAVED)
@pytest.mark.parametrize("title", SAMPLES)
def test_a_file_is_the_same_however_it_was_saved(tmp_path, title, how):
    name, text = SAMPLES[title]
    plain, assessments = read(tmp_path / name, text.encode())
    assert plain
    assert assessments == (title != "a table of errors (MQM)"), "such a table is read with other tables"
    assert read(tmp_path / name, SAVED[how](text)) == (plain, assessments)


@pytest.mark.parametrize("title", SAMPLES)
def test_a_file_is_read_by_its_own_format(title):
    head = SAMPLES[title][1].encode()
    assert next(each.title for each in FORMATS if each.recognizes(head)) == title
