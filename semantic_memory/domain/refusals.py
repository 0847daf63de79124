"""Words for what pydantic refuses: the place, the reason, the value, and which keys there are.

Every face says it with these: library, REST, command line, MCP.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from types import UnionType
from typing import Annotated, Any, Final, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.patterns import regex

ModelT = TypeVar("ModelT", bound=BaseModel)

UNKNOWN_KEY: Final = "extra_forbidden"
"""The type of pydantic's errors about keys that a model doesn't have."""
_OUT_OF_LIMITS = ("greater_than_equal", "less_than_equal")
_SECRETS = regex(r"(?<!http)(?<!https)://.*|://.*(?=@)|password=.*")
"""Parts of URLs that may hold a password, wherever a wrong one has it."""
_SHOULD = regex(r"^\w+ should (?=be |have |match |start |end |contain |only )")
"""The beginning of most reasons of pydantic, like "Input should be" and "String should have"."""
_IDS = r"[A-Za-z0-9_.@:+\-]+"
_SPELLED = {
    f"^{_IDS}$": "must have only letters, digits and _ . @ : + -",
    rf"^({_IDS}\*?|\*)$": "must be a user, the beginning of users with a *, or *",
}
"""Patterns in words."""
_SEQUENCE = regex(r"\ba valid (?:list|tuple|set|frozenset)$")
_LABEL = regex(
    r"^(?:\[key\]$|(?:function-\w+|list|dict|tuple|set|frozenset|is-instance|nullable|literal"
    r"|lax-or-strict|json-or-python|chain|tagged-union)\[)"
)
"""Names that pydantic gives to validators, among the keys of a place."""
_SCALARS = frozenset("str int float bool bytes none datetime date timedelta".split())


def parse(model: type[ModelT], label: str, values: Mapping[str, Any]) -> ModelT:
    """Build `model` from a caller's values; `label` names them in error messages.

    Raises InvalidInputError that names the field, the value and what it must be.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise InvalidInputError(f"{label}: {explain(error, model)}") from None


def explain(error: ValidationError, model: Any = None) -> str:
    """Describe a pydantic error in one line.

    `model` is the type that was validated, or a mapping of names to types; its keys are named where
    one is unknown.
    """
    return "; ".join(each(error.errors(include_url=False), model))


def each(details: Iterable[Mapping[str, Any]], model: Any = None) -> Iterator[str]:
    """Describe each detail of a pydantic error; keys that several lack are named once."""
    named: set[tuple[str, ...]] = set()
    for detail in details:
        loc: Sequence[str | int] = detail["loc"]
        place, kinds = _found(loc, model)
        kind, said = detail["type"], str(detail["msg"]).removeprefix("Value error, ")
        shown = ".".join(map(str, place))
        if kind == UNKNOWN_KEY:
            within, holders = _found(loc[:-1], model)
            known = tuple(sorted(_keys(holders)))
            yield _unknown(str(loc[-1]), within, known, named=known in named)
            named.add(known)
        elif kind == "missing":
            yield f"{shown} is missing"
        elif kind == "union_tag_not_found":
            yield f"{_kind_of(place, detail)} is missing"
        elif kind == "union_tag_invalid":
            tags, tag = detail["ctx"]["expected_tags"], detail["ctx"]["tag"]
            yield f"{_kind_of(place, detail)} must be one of {tags} (got {_value(tag)})"
        elif not loc and kind == "value_error":  # about the fields together
            yield said
        elif (spelled := _SPELLED.get(detail.get("ctx", {}).get("pattern", ""))) is not None:
            yield f"{shown or 'value'} {spelled} (got {_value(detail['input'])})"
        else:
            limits = _limits(kinds) if kind in _OUT_OF_LIMITS else None
            yield f"{shown or 'value'} {limits or _must(said)} (got {_value(detail['input'])})"


def reasons(error: ValidationError) -> str:
    """Describe a pydantic error about the value of one field, without naming the field."""
    found = (item["msg"].removeprefix("Value error, ") for item in error.errors(include_url=False))
    return "; ".join(dict.fromkeys(map(_must, found)))


def meant(key: str, known: Iterable[str]) -> str:
    """Ask whether the nearest of the known keys was meant, if one is near."""
    near = get_close_matches(key, [*known], n=1)
    return f" did you mean {near[0]!r}?" if near else ""


def _must(said: str) -> str:
    return _SEQUENCE.sub("a list", _SHOULD.sub("must ", said))


def _kind_of(place: Sequence[str | int], detail: Mapping[str, Any]) -> str:
    """Return the place of the key whose value chooses among alternatives; pydantic quotes it."""
    return ".".join(map(str, [*place, str(detail["ctx"]["discriminator"]).strip("'")]))


def _unknown(key: str, within: Sequence[str | int], known: Sequence[str], *, named: bool) -> str:
    where = f" in {'.'.join(map(str, within))}" if within else ""
    names = f" known: {', '.join(known)}" if known and not named else ""
    return f"unknown key {key!r}{where};{meant(key, known)}{names}".rstrip(";")


def _value(given: object) -> str:
    shown = _SECRETS.sub("***", repr(given))
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _limits(kinds: Iterable[Any]) -> str | None:
    """Describe the limits of a number, all of them at once."""
    found = [one for kind in kinds if isinstance(kind, FieldInfo) for one in kind.metadata]
    least = next((one.ge for one in found if hasattr(one, "ge")), None)
    most = next((one.le for one in found if hasattr(one, "le")), None)
    if least is None:
        return None
    return f"must be at least {least:,}" if most is None else f"must be {least:,} to {most:,}"


def _keys(kinds: Iterable[Any]) -> set[str]:
    return {
        field.alias or name
        for kind in _plain(kinds)
        if is_model(kind)
        for name, field in kind.model_fields.items()
    }


def _found(loc: Sequence[str | int], model: Any) -> tuple[list[str | int], list[Any]]:
    """Return a place without pydantic's labels of alternatives, and the types that it may have."""
    place: list[str | int] = []
    kinds: list[Any] = [] if model is None else [model]
    for part in loc:
        plain = [*_plain(kinds)]
        if inner := [one for kind in plain for one in _inside(kind, part)]:
            place.append(part)
            kinds = inner
        elif named := [kind for kind in plain if _name(kind) == str(part).lower()]:
            kinds = named
        elif not _is_label(part):
            place.append(part)
            kinds = []
    return place, kinds


def _plain(kinds: Iterable[Any]) -> Iterator[Any]:
    """Yield the alternatives of types, without annotations."""
    for kind in kinds:
        one = kind.annotation if isinstance(kind, FieldInfo) else kind
        if get_origin(one) is Annotated:
            yield from _plain(get_args(one)[:1])
        elif get_origin(one) in (Union, UnionType):
            yield from _plain(get_args(one))
        else:
            yield one


def _inside(kind: Any, part: str | int) -> list[Any]:
    """Return the types at a part of a place."""
    if isinstance(kind, Mapping):
        return [kind[str(part)]] if part in kind else []
    if is_model(kind):
        fields = kind.model_fields
        found = [field for name, field in fields.items() if part in (name, field.alias)]
        return [*found]
    inner = get_args(kind)
    origin = get_origin(kind)
    if not inner or not isinstance(origin, type):
        return []
    if issubclass(origin, Mapping):
        return [inner[-1]]
    return [inner[0]] if isinstance(part, int) else []


def is_model(kind: Any) -> bool:
    """Return True for a type of models, which has fields."""
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _name(kind: Any) -> str:
    return str(getattr(kind, "__name__", "")).lower()


def _is_label(part: str | int) -> bool:
    if isinstance(part, int):
        return False
    return part in _SCALARS or bool(_LABEL.match(part))
