"""The verbs of the server, as the command `steelyard` takes them."""

from __future__ import annotations

from functools import partial

from steelyard.commands.verbs import Verb, imported

FILES = {
    "evaluate": ("score a campaign of systems and keep the results", "campaigns.evaluate"),
    "demo": ("evaluate the small campaign that comes with the project", "campaigns.evaluate"),
    "tune": ("choose a metric's parameter by human judgments", "meta_evaluation.tune"),
    "schedule": ("score the same systems every night and find regressions", "schedules.schedule"),
    "vectors": ("train, import and list word vectors", "scoring.vectors"),
    "model": ("import, list and delete models for learned metrics", "scoring.model"),
    "up": ("serve pages and API, score queued work and run nightly schedules, until stopped", "processes.up"),
    "serve": ("serve pages and API until stopped", "processes.serve"),
    "worker": ("score shards until stopped", "processes.processes"),
    "scheduler": ("dispatch work until stopped", "processes.processes"),
    "db": ("create and upgrade the tables of the database", "processes.database"),
    "health": ("check whether a worker, a scheduler or the web service is ready", "processes.health"),
    "doctor": ("find what is misconfigured, and say how to fix it", "doctor.doctor"),
}
"""Verbs and nouns: their lines in the help, and the files that define them under their own names."""
VERBS = {name: Verb(line, partial(imported, f"cli.{file}:{name}")) for name, (line, file) in FILES.items()}
"""What the entry point of the group `steelyard.commands` leads to."""
