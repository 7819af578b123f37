"""The parts of the code that mutants are put into, by area."""

from __future__ import annotations

from collections.abc import Iterator

from tests.mutants.analysis_areas import ANALYSIS_AREAS
from tests.mutants.backend_areas import BACKEND_AREAS
from tests.mutants.campaign_areas import CAMPAIGN_AREAS
from tests.mutants.client_areas import CLIENT_AREAS
from tests.mutants.command_areas import COMMAND_AREAS
from tests.mutants.library_areas import LIBRARY_AREAS
from tests.mutants.library_command_areas import LIBRARY_COMMAND_AREAS
from tests.mutants.server_areas import SERVER_AREAS
from tests.mutants.target import Target
from tests.mutants.web_areas import WEB_AREAS

FILES: tuple[dict[str, list[Target]], ...] = (
    CLIENT_AREAS,
    COMMAND_AREAS,
    SERVER_AREAS,
    BACKEND_AREAS,
    CAMPAIGN_AREAS,
    WEB_AREAS,
    ANALYSIS_AREAS,
    LIBRARY_AREAS,
    LIBRARY_COMMAND_AREAS,
)
"""Those of each file; no two of them have a name in common."""
AREAS: dict[str, list[Target]] = {name: known for areas in FILES for name, known in areas.items()}


def targets(area: str = "") -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Area, source and tests of each source, of one area or of all."""
    for name, known in AREAS.items():
        for target in known if area in ("", name) else []:
            for source in target.sources:
                yield name, source, target.tests
