"""Human judgments, as they are stored."""

from __future__ import annotations

from typing import Any

from steelyard_client.documents.document import Document, Timestamp


class HumanScoresResponse(Document):
    """One version of human judgments of a test set."""

    campaign: str
    """Name of the campaign."""
    test_set: str
    """Name of the test set."""
    name: str
    """The name of the judgments."""
    version: int
    """The version of the judgments, from 1."""
    kind: str
    """scores, ratings, errors or rankings."""
    method: dict[str, Any]
    """How the judgments were aggregated to scores."""
    created_at: Timestamp
    """When this version was stored."""


class HumanScoresCreatedResponse(HumanScoresResponse):
    """The stored judgments, or those that would be, and how their systems match the campaign's systems."""

    stored: bool
    """false for a preview: nothing was stored."""
    new: bool
    """false where the same judgments are stored already under this name."""
    judgments: int
    """How many there are, without those that were left out."""
    rankings: int
    """How many times systems were ranked against each other; 0 for other kinds of judgments."""
    annotators: int
    """How many people gave them; 0 where the files do not say."""
    judged_segments: int
    """Segments of the test set with a judgment or a score of at least one system."""
    system_scores: int
    """Systems with a score."""
    segment_scores: int
    """Scores of segments, of all systems together."""
    segments: int
    """Of the test set."""
    error_spans: int
    """Marked errors that can be shown."""
    notices: list[str]
    """What was left out of the files and why, and what to know of them."""

    matched: list[str]
    """Matched systems, by their names in the campaign; judgments may name them with or without their teams."""
    unknown: list[str]
    """Judged systems without a submission that are not references either."""
    references: list[str]
    """Judged human translations."""
    not_judged: list[str]
    """Submitted systems without judgments."""


class AnnotatorAgreement(Document):
    """How often two annotators agree on which of two systems is better."""

    comparisons: int
    """Pairs of systems that two annotators compared."""
    share: float
    """In which share of them they agree."""
    kappa: float | None
    """The share beyond chance (Callison-Burch et al. 2011); null where it is undefined."""


class AnnotatorReliability(Document):
    """How far annotators agree on values: ratings, or sums of penalties."""

    alpha: float | None
    """Krippendorff's alpha on an interval scale; null where it is undefined."""
    outputs: int
    """Outputs of segments that several annotators judged."""


class JudgingAnnotator(Document):
    """What one annotator did. Names are shown nowhere."""

    number: int
    """From 1, as in the errors of segments."""
    judgments: int
    """Ratings, errors, or ranks."""
    outputs: int
    """Outputs of segments; 0 for rankings."""
    mean: float | None
    """Of the values of outputs."""
    deviation: float | None
    """Standard deviation of these values; with the mean it makes z-scores."""
    shared: int
    """Of the outputs those that others judged, too."""
    z: float | None
    """Mean difference from the others on these, in standard deviations of all values."""
    seconds: float | None
    """The median time of a judgment."""


class JudgedSystem(Document):
    """A system with human scores."""

    system: str
    """Its name in the campaign, or in the judgments if it was not submitted."""
    reference: bool
    """Whether it is a human translation."""
    submitted: bool
    """Whether it has a submission."""
    rank: int | None
    """The rank by the score."""
    rank_low: int | None
    """The best rank that the tests allow; null without tests."""
    rank_high: int | None
    """The worst rank that the tests allow; null without tests."""
    cluster: int | None
    """The number of the cluster, from 1."""
    cluster_first: int | None
    """The best rank in the cluster."""
    cluster_last: int | None
    """The worst rank in the cluster."""
    wins: int | None
    """Systems that it is significantly better than."""
    score: float
    """The score; higher is better."""
    raw: float | None
    """The mean on the annotators' own scale; null where only scores were published."""
    n_segments: int | None
    """Judged segments."""
    n_judgments: int | None
    """Judgments."""


class HumanScoresDetails(HumanScoresResponse):
    """One version of human judgments, with the systems that they rank."""

    test: str | None
    """The test by which systems are compared; null where the judgments allow none."""
    annotators: int | None
    """How many people gave them; null where only scores are stored."""
    agreement: AnnotatorAgreement | None
    """null where no two annotators compared the same pair of systems."""
    reliability: AnnotatorReliability | None
    """null for rankings, and where only scores are stored."""
    by_annotator: list[JudgingAnnotator]
    """Empty where only scores are stored."""
    systems: list[JudgedSystem]
    """Best first; empty where only segments have scores."""
    references: list[str]
    """Judged human translations."""
    unknown: list[str]
    """Judged systems without a submission; empty before there are submissions."""
    not_judged: list[str]
    """Submitted systems without judgments."""


class JudgedSegment(Document):
    """The human score of a system's output of one segment."""

    system: str
    """Name of the system."""
    segment: int
    """Number of the segment, from 0."""
    score: float
    """The score; higher is better."""
    raw: float | None
    """The mean on the annotators' own scale."""
    n_judgments: int | None
    """Judgments."""


class HumanScoresRename(Document):
    """Another name for human judgments."""

    name: str
    """The new name of all their versions: 1 to 100 characters, without @."""
