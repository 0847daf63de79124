"""The dashboard's files. They hold no data, so they are served without a key."""

from __future__ import annotations

from pathlib import Path, PurePath

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

PATH = "/dashboard"
_FOLDER = Path(__file__).parent / "static"
# Guessed types depend on the machine, and a module of another type isn't run.
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class DashboardFiles(StaticFiles):
    """The pages, with what keeps anything but their own scripts from running in them."""

    def __init__(self) -> None:
        super().__init__(directory=_FOLDER, html=True)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file at `path`."""
        response = await super().get_response(path, scope)
        suffix = PurePath(path).suffix if path != "." else ".html"
        if response.status_code == 200 and suffix in _TYPES:
            response.headers["Content-Type"] = _TYPES[suffix]
        response.headers.update(_HEADERS)
        return response
