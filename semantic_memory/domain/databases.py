"""URLs of PostgreSQL databases, checked and named without their passwords."""

from __future__ import annotations

from urllib.parse import urlsplit

from semantic_memory.domain.patterns import regex

_SCHEMES = ("postgresql://", "postgres://")
_NAMING = ("host", "hostaddr", "port", "dbname", "service", "schema")
"""Options that tell which database it is."""
_HOSTS = regex(r"(?:(?:\[[^\[\]]*\]|[^:,\[\]]*)(?::\d*)?(?:,|$))*")
_LONE_PERCENT = regex("%(?![0-9A-Fa-f]{2})")


def is_database_url(place: str) -> bool:
    """Return True for a place that is the URL of a database, and no directory.

    >>> is_database_url("postgresql://db.example/memories")
    True
    """
    return place.startswith(_SCHEMES)


def check_database_url(url: str) -> None:
    """Raise ValueError for a URL that can't be read; the message never quotes it.

    A password with a bare `/`, `?`, `#`, `@` or `%` is cut off there, and would be taken for the
    name of a host or database, which messages show.
    """
    if not is_database_url(url):
        raise ValueError("must be like postgresql://user@host/database?schema=name")
    try:
        place = urlsplit(url).netloc
    except ValueError:  # brackets
        place = ":"
    if not _HOSTS.fullmatch(place.rpartition("@")[2]):
        raise ValueError("must name hosts as host:port, with the user and the password before an @")
    users = place.count("@")
    if users > 1 or url.count("@") != users or _LONE_PERCENT.search(url):
        raise ValueError(
            "has a character that ends a part of it: in the user, the password and the options,"
            " write / as %2F, ? as %3F, # as %23, @ as %40 and % as %25"
        )


def database_name(url: str) -> str:
    """Return the part of a checked URL that tells which database it is, without a user.

    >>> database_name("postgresql://memory:secret@db:5433/agents?sslmode=require&schema=a")
    'db:5433/agents?schema=a'
    >>> database_name("postgresql:///agents?host=/run/postgresql")
    '/agents?host=/run/postgresql'
    """
    parts = urlsplit(url)
    options = [one for one in parts.query.split("&") if one.partition("=")[0] in _NAMING]
    name = parts.netloc.rpartition("@")[2] + parts.path
    return f"{name}?{'&'.join(options)}" if options else name
