"""Reranker at an HTTP endpoint, in the forms of Cohere, Voyage, Jina and TEI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import httpx

from semantic_memory.domain.errors import ProviderError

Form = Literal["cohere", "voyage", "jina", "tei"]


@dataclass(frozen=True, slots=True)
class _Form:
    """The differences between the forms."""

    base_url: str | None
    path: str
    texts: str
    """Key of the texts in the request."""
    results: str | None
    """Key of the results in the response; None if it is a list of them."""
    score: str
    takes_model: bool = True


_FORMS: Mapping[Form, _Form] = MappingProxyType(
    {
        "cohere": _Form(
            "https://api.cohere.com", "/v2/rerank", "documents", "results", "relevance_score"
        ),
        "voyage": _Form(
            "https://api.voyageai.com", "/v1/rerank", "documents", "data", "relevance_score"
        ),
        "jina": _Form(
            "https://api.jina.ai", "/v1/rerank", "documents", "results", "relevance_score"
        ),
        "tei": _Form(None, "/rerank", "texts", None, "score", takes_model=False),
    }
)


class HttpReranker:
    """Reranker that sends one request a search, without retries: a search doesn't wait."""

    def __init__(
        self,
        form: Form,
        model: str = "",
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 2.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Speak to the provider's own address, or to `base_url`, which `tei` needs.

        Raises ValueError without an address, or without a model where one is needed.
        """
        self._form = _FORMS[form]
        address = base_url or self._form.base_url
        if address is None:
            raise ValueError(f"a reranker of the form {form} needs base_url")
        if self._form.takes_model and not model:
            raise ValueError(f"a reranker of the form {form} needs a model's name")
        self._model = model
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._url = address.rstrip("/") + self._form.path
        self._http = httpx.Client(headers=headers, timeout=timeout, transport=transport)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each text for a query, higher is better.

        Raises ProviderError, which doesn't tell the texts.
        """
        body: dict[str, Any] = {"query": query, self._form.texts: list(texts)}
        body |= {"model": self._model} if self._form.takes_model else {"truncate": True}
        try:
            response = self._http.post(self._url, json=body)
            response.raise_for_status()
            return self._read(response.json(), len(texts))
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            raise ProviderError(f"the reranker answered {status}") from error
        except httpx.HTTPError as error:
            reason = type(error).__name__
            raise ProviderError(f"the reranker can't be reached ({reason})") from error
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ProviderError(f"the reranker's answer can't be read: {error!r}") from error

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _read(self, answer: Any, number: int) -> list[float]:
        results = answer if self._form.results is None else answer[self._form.results]
        found = {int(one["index"]): float(one[self._form.score]) for one in results}
        return [found[place] for place in range(number)]
