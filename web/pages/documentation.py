"""The documentation under `/docs`: the site that `make docs` builds into `web/documentation`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.staticfiles import StaticFiles

from web.pages.rendering import page, see_other

if TYPE_CHECKING:
    from starlette.types import Scope

router = APIRouter()

SITE = Path(__file__).parents[1] / "documentation"


class Documentation(StaticFiles):
    """Serves the built site; a page that says how to build it where it is missing."""

    def __init__(self, site: Path) -> None:
        super().__init__(directory=site, html=True, check_dir=False)
        self.installed = (site / "index.html").is_file()

    async def check_config(self) -> None:
        """Accept that there is no folder: the first answer would be an error of ours."""
        if self.installed:
            await super().check_config()

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Answer a request below `/docs`."""
        if self.installed:
            return await super().get_response(path, scope)
        return await run_in_threadpool(
            page, Request(scope), "documentation_missing", status=404, title="Documentation not installed"
        )


@router.get("/api/docs")
def api_documentation() -> Response:
    """Lead to the reference of the API."""
    return see_other("/docs/reference/http-api.html")
