"""Small files of judgments, and reading them."""

import pytest

from steelyard.errors import BadText
from steelyard.meta_evaluation.human.reading import Reading, read_judgments

DOCUMENTS = {"d1": [0, 1, 4], "d2": [2, 3]}
"""The first is in two pieces."""


def read(*texts: str, segments: int = 5, **options):
    return read_judgments([text.encode() for text in texts], Reading(segments, DOCUMENTS, **options))


def tsv(*rows: str) -> str:
    """Rows in which spaces stand for tabs."""
    return "".join(row.replace(" ", "\t") + "\n" for row in rows)


def problem(*texts: str, **options) -> str:
    with pytest.raises(BadText) as caught:
        read(*texts, **options)
    return str(caught.value)


RATINGS = ["annotator system segment score", "eva x 0 40", "eva y 0 60", "eva y 1 80", "jan x 0 75", "jan x 1 85"]

APPRAISE = """\
u1,Online-W,0,TGT,eng,ces,40,d1#2-3,False,16.1,16.2
u1,Online-W,1,TGT,eng,ces,60,d1#2-3,False,16.1,16.2
u1,translator-B,0,TGT,eng,ces,80,d1#2-3,False,16.1,16.2
u1,translator-B,0,BAD,eng,ces,0,d1#2-3,False,16.1,16.2
u1,translator-B,9,TGT,eng,ces,100,d1#2-3,True,16.1,16.2
u2,translator-B,2,TGT,zho,eng,100,other#1-3,False,16.1,16.2
"""

MQM = """\
system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity
x\td1\t1\t1\tr1\ts\tso "quoted\tAccuracy/Mistranslation\tMajor
x\td1\t1\t1\tr1\ts\tt\tFluency/Punctuation\tMinor
x\td1\t1\t1\tr2\ts\tt\tNo-error\tNo-error
x\td1\t2\t2\tr1\ts\tt\tNon-translation!\tMajor
y\td1\t1\t1\tr1\ts\tt\tStyle/Awkward\tMinor
y\td1\t1\t1\tr1\ts\tt\tStyle/Awkward\tNeutral
y\td1\t2\t2\tr3\ts\tt\tno-error\tno-error
"""

WMT = """\
srclang,trglang,srcIndex,documentId,segmentId,judgeId,system1Number,system1Id,system2Number,system2Id,system3Number,\
system3Id,system1rank,system2rank,system3rank
Czech,English,1,doc,7,eva,1,p,2,q,3,r,1,2,2
Czech,English,1,doc,7,jan,3,r,2,q,1,p,3,1,1
Czech,English,2,doc,8,jan,1,p,2,q,3,r,2,1,-1
"""
