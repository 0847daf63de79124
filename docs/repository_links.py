"""Point links of the pages to files of the repository at GitHub, where the site has no such page.

MkDocs calls `on_page_markdown` for each page, as `mkdocs.yml` says.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
_LINK = re.compile(r"\[([^\]]+)\]\((\.\./[^)\s#]+)(?:#[^)\s]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return a page whose links to files outside of `docs` are the files' paths.

    A link to a file that doesn't exist stays, and ends a strict build.
    """
    directory = (DOCS / page.file.src_uri).parent

    def named(link: re.Match[str]) -> str:
        text, target = link.groups()
        file = (directory / target).resolve()
        if file.is_relative_to(DOCS) or not file.exists():
            return link[0]
        path = f"`{file.relative_to(DOCS.parent)}`"
        return path if text.strip("`") in (path.strip("`"), file.name) else f"{text} ({path})"

    return _LINK.sub(named, markdown)
