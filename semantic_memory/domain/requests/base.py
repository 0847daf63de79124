"""The parts that several requests share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Self, TypeVar

from pydantic import ConfigDict, Field
from pydantic.fields import FieldInfo

from semantic_memory.domain import fields
from semantic_memory.domain.errors import InvalidInputError
from semantic_memory.domain.fields import Number
from semantic_memory.domain.messages import SessionKey
from semantic_memory.domain.refusals import meant, parse
from semantic_memory.domain.values import Identifier, Value
from semantic_memory.domain.values import Whole as Whole

if TYPE_CHECKING:  # it would load numpy
    from semantic_memory.domain.ports import Progress

P = ParamSpec("P")
MethodT = TypeVar("MethodT", bound=Callable[..., Any])
RequestT = TypeVar("RequestT", bound="Request")


class Request(Value):
    """Base of the requests: the fields of one verb, with their limits and defaults."""

    verb: ClassVar[str]
    """The method of `SemanticMemory` that takes this request."""

    @classmethod
    def parsed(cls, **values: Any) -> Self:
        """Build the request from a caller's values. Raises InvalidInputError."""
        return parse(cls, cls.verb, values)

    def given(self) -> dict[str, Any]:
        """Return the fields that were given, by name."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class OfUser(Request):
    """A request about one user."""

    user_id: Identifier = Field(description=fields.USER)


class OfUserAlone(OfUser):
    """A request that has nothing but its user."""

    @classmethod
    def of(cls, *, user_id: str) -> Self:
        """Build the request. Raises InvalidInputError."""
        return cls.parsed(user_id=user_id)


class Watched(Request):
    """A request about the whole store whose progress can be watched."""

    @classmethod
    def of(cls, progress: Progress | None = None) -> Self:
        """Build the request. `progress` isn't part of it: a service reports none."""
        del progress
        return cls()


class OfSession(OfUser):
    """A request about one session."""

    session_id: Identifier = Field(description=fields.SESSION)

    @property
    def key(self) -> SessionKey:
        """The session's key."""
        return SessionKey(self.user_id, self.session_id)


class OfFact(Request):
    """A request about one memory; without `user_id`, of any user."""

    fact_id: Identifier = Field(description=fields.MEMORY)
    user_id: Identifier | None = Field(None, description=fields.USER)


class Reasoned(Value):
    """A change with its reason."""

    reason: str = Field("", max_length=fields.MOST_REASON, description=fields.REASON)


def number(of: Number[Any], **others: Any) -> Any:
    """Declare a field with the description, default and limits of a `Number`."""
    found: FieldInfo = Field(
        default=of.default, description=of.description, ge=of.least, le=of.most, **others
    )
    return found


def several(given: object, place: str) -> Iterable[Any]:
    """Return a caller's list or iterator. Raises InvalidInputError, which names the `place`."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        shown = type(given).__name__
        raise InvalidInputError(f"{place} must be a list, or another iterable (got {shown})")
    return given


def example(**values: Any) -> ConfigDict:
    """Configure a request with an example for the service's OpenAPI document."""
    return ConfigDict(json_schema_extra={"examples": [values]})


def built(build: Callable[P, RequestT], *args: P.args, **kwargs: P.kwargs) -> RequestT:
    """Build a request from the arguments of a method.

    Raises TypeError that names the method and its arguments, if these don't fit.
    """
    try:
        return build(*args, **kwargs)
    except TypeError:
        signature = inspect.signature(build)
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            known = signature.parameters
            unknown = next((one for one in kwargs if one not in known), None)
            said = error if unknown is None else f"has no argument {unknown!r}"
            near = "" if unknown is None else meant(unknown, known)
            name = request_of(build).verb
            raise TypeError(f"{name}() {said};{near} it takes {', '.join(known)}") from None
        raise


def request_of(build: Callable[..., Request]) -> type[Request]:
    """Return the type of the requests that are built: by itself, or by its class method `of`."""
    found: Any = build
    request: type[Request] = getattr(found, "__self__", found)
    return request


def as_method(method: MethodT, build: Callable[..., Request]) -> MethodT:
    """Give a method the name, documentation and signature that `help` and editors show."""
    request = request_of(build)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    parameters = inspect.signature(build).parameters.values()
    method.__name__ = method.__qualname__ = request.verb.rpartition(".")[2]
    method.__doc__ = request.__doc__
    method.__signature__ = inspect.Signature([own, *parameters])  # type: ignore[attr-defined]
    return method
