"""Nouns of the client with verbs that need the server itself."""

from __future__ import annotations

from cli.meta_evaluation.correlate import correlate
from cli.queue.control import cancel, recompute, retry
from steelyard_client.commands.campaigns.campaign import campaign
from steelyard_client.commands.campaigns.submission import submission

__all__ = ["campaign", "submission"]

campaign.add_command(correlate)
for command in (cancel, retry, recompute):
    submission.add_command(command)
