"""Nouns of the client with verbs that need the server itself."""

from __future__ import annotations

from cli.meta_evaluation.correlate import correlate
from steelyard_client.commands.campaigns.campaign import campaign

__all__ = ["campaign"]

campaign.add_command(correlate)
