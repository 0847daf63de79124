"""Errors as `application/problem+json` (RFC 9457): one named exception, one status, one type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from semantic_memory.domain.errors import (
    AccessDeniedError,
    ConcurrentUpdateError,
    ConfigurationError,
    EventsRemovedError,
    InputRefusedError,
    InvalidInputError,
    LogFullError,
    NotFoundError,
    ProviderError,
    RecordRefusedError,
    SchemaTooNewError,
    SemanticMemoryError,
    SessionClosedError,
    SessionExistsError,
    StoreClosedError,
    StoreError,
    StoreUnavailableError,
)
from semantic_memory.domain.refusals import each, is_model

MEDIA_TYPE = "application/problem+json"
TYPE = "/problems/"

# The first that fits decides, so a class stands before those it derives from.
_BY_ERROR: tuple[tuple[type[SemanticMemoryError], int, str], ...] = (
    (SessionExistsError, 409, "session-exists"),
    (EventsRemovedError, 422, "events-removed"),
    (InvalidInputError, 422, "invalid-input"),
    (NotFoundError, 404, "not-found"),
    (AccessDeniedError, 403, "forbidden"),
    (ConcurrentUpdateError, 409, "concurrent-update"),
    (SessionClosedError, 409, "session-closed"),
    (InputRefusedError, 422, "input-refused"),
    (ProviderError, 502, "provider"),
    (StoreClosedError, 503, "closing"),
    (LogFullError, 507, "log-full"),
    (StoreUnavailableError, 503, "store-unavailable"),
    (SchemaTooNewError, 422, "schema-too-new"),
    (StoreError, 500, "store"),
    (ConfigurationError, 500, "configuration"),
    (SemanticMemoryError, 500, "internal"),
)
_BY_STATUS = {
    400: ("bad-request", "The request can't be read"),
    401: ("unauthenticated", "An API key is needed"),
    403: ("forbidden", "The API key doesn't reach that far"),
    404: ("not-found", "Nothing of that name"),
    405: ("method-not-allowed", "The resource has no such method"),
    408: ("timeout", "The body took too long"),
    409: ("conflict", "Something else happens to it just now"),
    410: ("withdrawn", "The answer held memories that were forgotten"),
    413: ("too-large", "The body is too large"),
    415: ("unsupported-media-type", "The body has another media type than expected"),
    421: ("misdirected", "This host isn't served here"),
    422: ("invalid-input", "A value can't be used"),
    429: ("rate-limited", "Too many requests for this API key"),
    500: ("internal", "The service failed"),
    502: ("provider", "A model endpoint failed"),
    503: ("unavailable", "The service can't answer now"),
    507: ("log-full", "The session's log is full"),
}
RETRY_SECONDS = 1
NO_FIGURES: Mapping[str, int] = MappingProxyType({})


class Problem(BaseModel):
    """An error and its remedy, as RFC 9457 problem details."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "/problems/not-found",
                    "title": "Nothing of that name",
                    "status": 404,
                    "detail": "no memory '0c5b…'",
                    "request_id": "5f0c2a9d1e7b4c63",
                }
            ]
        }
    )

    type: str
    title: str
    status: int
    detail: str
    request_id: str | None = None
    errors: list[str] | None = None
    """One message for each invalid value, if there are several."""
    loaded: int | None = None
    """Number of new records before the one that can't be loaded."""
    resume: int | None = None
    """The place of the feed behind which all events are kept."""


def problem(
    scope: Mapping[str, Any],
    status: int,
    detail: str,
    *,
    name: str | None = None,
    headers: Mapping[str, str] | None = None,
    errors: list[str] | None = None,
    figures: Mapping[str, int] = NO_FIGURES,
) -> JSONResponse:
    """Build the problem response to the request of `scope`."""
    usual, title = _BY_STATUS.get(status, ("http", "The request failed"))
    body = Problem(
        type=TYPE + (name or usual),
        title=title,
        status=status,
        detail=detail,
        request_id=scope.get("state", {}).get("request_id"),
        errors=errors,
        **figures,
    )
    retry = {"Retry-After": str(RETRY_SECONDS)} if status == 503 else {}
    return JSONResponse(
        body.model_dump(exclude_none=True),
        status,
        headers={**retry, **(headers or {})},
        media_type=MEDIA_TYPE,
    )


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI entries of a route's error responses."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {"description": _BY_STATUS[status][1], "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in statuses
    }


def document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of `app`, with the schema of its errors and its own categories."""
    if app.openapi_schema is None:
        found = FastAPI.openapi(app)
        schemas = found["components"]["schemas"]
        schemas["Problem"] = Problem.model_json_schema()
        for choice in schemas["Filters"]["properties"]["categories"]["anyOf"]:
            choice.pop("uniqueItems", None)  # one that is given twice does no harm
        app.openapi_schema = app.state.memory.admin.settings.declared.named_in(found)
    return app.openapi_schema or found


def install(app: FastAPI) -> None:
    """Make every error of `app` a problem."""

    async def on_ours(request: Request, error: SemanticMemoryError) -> JSONResponse:
        status, name = next(
            (status, name) for kind, status, name in _BY_ERROR if isinstance(error, kind)
        )
        request.state.error = error
        return problem(request.scope, status, str(error), name=name, figures=_figures(error))

    async def on_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        reasons = [*_reasons(request.scope.get("route"), error.errors())]
        return problem(request.scope, 422, "; ".join(reasons), errors=reasons)

    async def on_http(request: Request, error: HTTPException) -> JSONResponse:
        headers = error.headers
        if error.status_code == 405:  # the framework names the methods of one route only
            headers = {"Allow": ", ".join(_methods(app, request.url.path) or ["GET", "HEAD"])}
        return problem(request.scope, error.status_code, error.detail, headers=headers)

    async def on_gone(request: Request, error: ClientDisconnect) -> JSONResponse:
        del error
        return problem(request.scope, 400, "the connection ended before the body did")

    async def on_bug(request: Request, error: Exception) -> JSONResponse:
        del error  # the server logs it; its text may hold what a caller must not see
        return problem(request.scope, 500, "an error in the service; its log has the details")

    app.add_exception_handler(SemanticMemoryError, on_ours)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, on_invalid)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, on_http)  # type: ignore[arg-type]
    app.add_exception_handler(ClientDisconnect, on_gone)  # type: ignore[arg-type]
    app.add_exception_handler(Exception, on_bug)
    app.openapi = partial(document, app)  # type: ignore[method-assign]


def _figures(error: SemanticMemoryError) -> Mapping[str, int]:
    match error:
        case RecordRefusedError():
            return {"loaded": error.loaded}
        case EventsRemovedError():
            return {"resume": error.resume}
    return NO_FIGURES


def _methods(app: FastAPI, path: str) -> list[str]:
    """Return the methods that the resource at `path` allows."""
    routes = [*iter_route_contexts(app.routes)]
    named = [route for route in routes if route.path == path]
    matching = named or [route for route in routes if route.path_regex.match(path)]
    return sorted({method for route in matching for method in route.methods or ()})


def _reasons(route: object, details: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Describe what was refused of a request, by the types that its route takes."""
    for detail in details:
        source, *loc = detail["loc"]
        if detail["type"] == "json_invalid":
            yield f"the body is no JSON: {detail['ctx']['error']} at character {loc[0]}"
            continue
        kinds = _taken(route, source) if isinstance(route, APIRoute) else None
        yield from each([{**detail, "loc": loc or [source]}], kinds)


def _taken(route: APIRoute, source: str) -> Any:
    """Return the type of a route's body or query, or those of its parameters by name."""
    fields = getattr(route.dependant, f"{source}_params", [])
    kinds = {field.alias: field.field_info for field in fields}
    alone = [one for one in kinds.values() if is_model(one.annotation)]
    return alone[0] if len(kinds) == 1 and alone else kinds
