"""SQL tables, one file each, and the questions asked of them."""

from models.account import Account, ApiToken, Confirmation, Invitation, WebSession
from models.audit import AuditEntry
from models.base import BLOCK_SEGMENTS, Base, now
from models.campaign import (
    Campaign,
    CampaignMember,
    CampaignProtocol,
    CampaignTestSet,
    Correction,
    Participation,
    Phase,
)
from models.comparison import Comparison, Contestant, Randomization, Trials
from models.compatibility import Compatibility
from models.cost import MeasuredCost
from models.declaration import Declaration, Diagnosis, LadderStep
from models.evaluation import Evaluation
from models.judgments import HumanSegmentScore, HumanSystemScore, Judgments, Rating
from models.leader import Leader
from models.ledger import LedgerEntry, QuotaAccount, SubmissionRequest
from models.nights import Delivery, Night, NightEvaluation
from models.preparation import Preparation, PreparedChapter, PreparedState, ProtocolState
from models.protocol import Protocol
from models.quota import Quota
from models.reduction import Reduction
from models.schedule import Schedule
from models.score import Score
from models.shard import Shard, ShardEvaluation
from models.states import (
    ComparisonState,
    EvaluationState,
    Fault,
    JudgmentKind,
    LeaseState,
    NightState,
    QueueClass,
    QuotaKind,
)
from models.statistics import ReplicatePart, Statistics
from models.submission import Submission
from models.system import System
from models.team import Membership, Team
from models.test_set import Document, Reference, TestSet
from models.text import LayerBlock, Text, TextBlock
from models.worker import Worker

__all__ = [
    "BLOCK_SEGMENTS",
    "Account",
    "ApiToken",
    "AuditEntry",
    "Base",
    "Campaign",
    "CampaignMember",
    "CampaignProtocol",
    "CampaignTestSet",
    "Comparison",
    "ComparisonState",
    "Compatibility",
    "Confirmation",
    "Contestant",
    "Correction",
    "Declaration",
    "Delivery",
    "Diagnosis",
    "Document",
    "Evaluation",
    "EvaluationState",
    "Fault",
    "HumanSegmentScore",
    "HumanSystemScore",
    "Invitation",
    "JudgmentKind",
    "Judgments",
    "LadderStep",
    "LayerBlock",
    "Leader",
    "LeaseState",
    "LedgerEntry",
    "MeasuredCost",
    "Membership",
    "Night",
    "NightEvaluation",
    "NightState",
    "Participation",
    "Phase",
    "Preparation",
    "PreparedChapter",
    "PreparedState",
    "Protocol",
    "ProtocolState",
    "QueueClass",
    "Quota",
    "QuotaAccount",
    "QuotaKind",
    "Randomization",
    "Rating",
    "Reduction",
    "Reference",
    "ReplicatePart",
    "Schedule",
    "Score",
    "Shard",
    "ShardEvaluation",
    "Statistics",
    "Submission",
    "SubmissionRequest",
    "System",
    "Team",
    "TestSet",
    "Text",
    "TextBlock",
    "Trials",
    "WebSession",
    "Worker",
    "now",
]
