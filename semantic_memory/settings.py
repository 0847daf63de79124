"""Settings: arguments > environment > semantic_memory.toml > defaults.

Environment variables start with SEMANTIC_MEMORY_, with two underscores between levels:
SEMANTIC_MEMORY_DATA_DIR, SEMANTIC_MEMORY_EMBEDDING__PRECISION.

Longer than other modules, because every setting is documented here, for people and the reference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import platformdirs
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from semantic_memory.domain.categories import Declared
from semantic_memory.domain.databases import check_database_url, database_name
from semantic_memory.domain.decay import CURVE, HALF_LIFE_DAYS, Curve
from semantic_memory.domain.errors import ConfigurationError, InvalidInputError
from semantic_memory.domain.facts import Category
from semantic_memory.domain.feed import EventKind
from semantic_memory.domain.profile import TierAges
from semantic_memory.domain.refusals import explain
from semantic_memory.domain.retention import Periods
from semantic_memory.domain.values import Tag, Unit

Days = Annotated[float, Field(gt=0, le=36_525)]
FILE = "semantic_memory.toml"
ADDRESS_FILE = "service.json"
"""In the data directory while its owner offers it to other processes: where, and a token."""


class Section(BaseModel):
    """A group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class EmbeddingSettings(Section):
    """Embedding of texts."""

    provider: Literal["onnx", "sentence-transformers", "openai"] = "onnx"
    """`onnx` is the packaged model, `sentence-transformers` another on this machine (needs the
    extra of that name), `openai` one at an OpenAI-compatible endpoint. A store keeps its model
    until `semantic-memory admin reembed`."""
    model: str = ""
    """Name or path for sentence-transformers, model name for openai; unused by onnx."""
    dimension: int = Field(default=1536, ge=1)
    """Dimension of the openai provider's vectors."""
    precision: Literal["int8", "fp32"] = "int8"
    """Precision of the onnx provider's model; fp32 is compiled at its first use, which needs the
    extra `sentence-transformers`."""
    base_url: str | None = None
    """For openai: base URL of the endpoint, ending in `/v1`; by default OpenAI's."""
    api_key: SecretStr | None = None
    """For openai: API key; by default the variable OPENAI_API_KEY, for OpenAI's own endpoint
    alone."""


class LLMSettings(Section):
    """Endpoints of language models, each under a name of your own, by which a task chooses one.

    `[llm.local]` is the endpoint `local`: `extraction.llm = "local"`. The name `openai` needs no
    section if the variable OPENAI_API_KEY is set.
    """

    provider: Literal["openai", "anthropic"] = "openai"
    """Form of the requests: `openai` for every OpenAI-compatible server, `anthropic` for
    Anthropic's own, which needs the extra `anthropic`."""
    base_url: str | None = None
    """Base URL of the endpoint, for openai mostly ending in `/v1`; by default the provider's."""
    api_key: SecretStr | None = None
    """API key. At the provider's own URL the default is the variable OPENAI_API_KEY or
    ANTHROPIC_API_KEY; at another no key is sent."""
    model: str = ""
    """Name of the model; by default gpt-4o-mini for openai."""
    headers: Mapping[str, SecretStr] = Field(default_factory=dict)
    """Further headers of every request: `{"api-key": "..."}` for Azure."""
    query: Mapping[str, str] = Field(default_factory=dict)
    """Parameters of the URL: `{"api-version": "2024-10-21"}` for Azure."""
    context_tokens: int | None = Field(default=None, ge=1_000)
    """Size of the model's context. Longer requests are halved before they are sent. Needed for
    servers that cut long requests without saying so, such as Ollama."""
    usd_per_million_tokens: tuple[float, float] | None = None
    """Price in USD of a million input and output tokens; without one, no cost is reported. Known
    for gpt-4o-mini at OpenAI."""
    timeout_seconds: float = Field(default=60.0, gt=0)
    """Longest wait for a response, in seconds, after which the request is repeated."""
    max_retries: int = Field(default=4, ge=0)
    """Retries of a request after connection errors, time-outs and status 408, 409, 429 or 5xx."""
    breaker_failures: int = Field(default=3, ge=1)
    """Consecutive failed requests after which requests to the endpoint pause."""
    breaker_seconds: float = Field(default=60.0, ge=0)
    """Length of that pause, in seconds."""

    @model_validator(mode="after")
    def _with_model(self) -> Self:
        if not self.model and self.provider == "anthropic":
            raise ValueError("model: an endpoint of the provider anthropic needs a model's name")
        return self


class CategorySettings(Section):
    """Categories of this application, beside the built-in ones, each under a name of its own.

    `[extraction.categories.training]` is the category `training`: a language model is taught it,
    and every verb takes it. Without a model, callers alone give it.
    """

    description: str = Field(default="", max_length=500)
    """Kinds of facts that belong to it, in words, for the model; empty if the name says it."""
    half_life_days: float = Field(default=math.inf, gt=0)
    """Half-life in days; `inf` never fades."""


class ExtractionSettings(Section):
    """Extraction of facts from conversations."""

    llm: str = ""
    """Name of the endpoint, a section of `llm`, whose model extracts and condenses histories. Empty
    for the packaged judge of sentences, which sends nothing."""
    temperature: float = Field(default=0.1, ge=0, le=2)
    """Sampling temperature of these requests; models that refuse one get none."""
    instructions: str = Field(default="", max_length=10_000)
    """Wishes of this application on what is kept or left, in plain sentences, added to the model's
    instructions. The packaged judge doesn't read it."""
    include: tuple[str, ...] = ()
    """Subjects, in words, that the model writes down alone: `["diet", "training plans"]`. The
    packaged judge doesn't read them, nor while it stands in for the model."""
    exclude: tuple[str, ...] = ()
    """Subjects, in words, of which the model writes nothing down. The packaged judge doesn't read
    them either: what mustn't be kept without a model is for `forget`, or isn't observed."""
    categories: Mapping[str, CategorySettings] = Field(default_factory=dict, max_length=40)
    """Categories of this application by name, of lower-case letters, digits, `-` and `_`."""
    stand_in_hours: float = Field(default=24.0, ge=0)
    """Hours for which the model has refused every request (wrong key, no such model, spent quota)
    after which the packaged judge extracts in its place. Once it is back, it extracts from the same
    messages again, and what only the judge found there is archived."""
    batch: bool = False
    """Extract through the provider's batch API, at half the price and within a day. Extraction then
    runs only in `flush`, not in the background. For imports: `semantic-memory ingest --batch`."""
    batch_poll_seconds: float = Field(default=30.0, gt=0)
    """Seconds between questions for the state of a batch."""

    @field_validator("categories")
    @classmethod
    def _of_own_names(cls, given: Mapping[str, CategorySettings]) -> Mapping[str, CategorySettings]:
        for name in given:
            try:
                category = Category(name.lower())
            except ValueError:
                raise ValueError(
                    f"{name!r} is no name of a category: use up to 40 lower-case letters, digits,"
                    " - and _, with a letter first"
                ) from None
            if not category.is_own:
                raise ValueError(
                    f"{name!r} is built in: describe what belongs to it in extraction.instructions,"
                    " and set its half-life in half_life_days"
                )
        return {name.lower(): own for name, own in given.items()}


class SummarySettings(Section):
    """Summaries of messages that leave a window and gave few facts."""

    llm: str = ""
    """Name of the endpoint, a section of `llm`, whose model writes them. Empty for
    `window.summarizer`."""


class IngestSettings(Section):
    """Timing and strictness of extraction."""

    background: bool = True
    """Extract, embed and index messages in the background; if False, only in `flush`."""
    quiet_seconds: float | None = Field(default=None, ge=0)
    """Seconds without new messages after which a session is extracted. Default: 300 with a
    language model, which costs a call and does better with more messages at once, else 30."""
    most_wait_seconds: float | None = Field(default=None, ge=0)
    """Longest wait of a session in which messages keep coming, in seconds. Default: 300; with
    a language model until there are `most_messages`."""
    most_messages: int | None = Field(default=None, ge=1)
    """Number of waiting messages of the user at which a session is extracted at once. Default: 10
    with a language model, else 50."""
    min_confidence: float = Field(default=0.7, ge=0, le=1)
    """Confidence below which the gate refuses a candidate."""
    personal_data: Literal["keep", "mask", "redact", "refuse"] = "mask"
    """Treatment of personal data in facts and recalled messages; the session logs keep it. `mask`
    replaces card numbers, IBANs and national numbers with valid check digits, and keeps all else;
    `redact` replaces e-mail addresses and telephone numbers too; `refuse` takes no fact with any of
    these. The last two need the extra `pii`."""
    secrets: Literal["keep", "mask", "refuse"] = "mask"
    """Treatment of passwords, keys and tokens. Under `mask`, recalled messages have them replaced,
    and texts of callers that hold one are refused; under `refuse`, so are messages."""
    forget_requests: Literal["ask", "leave out", "at once"] = "ask"
    """Treatment of requests to forget, said in a conversation: put to the application
    (`history.requests`), also left out of context blocks until they are settled, or done at once. A
    request to forget everything is never done at once."""
    retry_seconds: float = Field(default=60.0, gt=0)
    """Seconds before a model that couldn't be reached is tried again."""


class LogSettings(Section):
    """The session logs, which hold messages word for word, secrets excepted."""

    secrets: Literal["keep", "mask"] = "mask"
    """Passwords, keys and tokens in the session logs: replaced, unless `ingest.secrets` keeps them,
    or kept."""

    most_bytes: int = Field(default=10_000_000, ge=10_000)
    """Limit of a session's log, in bytes. At 90 % of it a warning is logged, and the log is
    rewritten at half the limit: messages of superseded facts are removed first, then those of the
    least relevant ones (`relevance < 0.05` first), older before newer; their memories stay."""
    patience_seconds: float = Field(default=1.0, ge=0)
    """Time for which `observe` holds messages in RAM and tries again while the disk fails; then it
    raises StoreUnavailableError. It tries three times even if this is 0."""
    patience_bytes: int = Field(default=16_000_000, ge=0)
    """Size of all messages held so, above which `observe` doesn't wait."""
    refuse_at: float = Field(default=1.0, ge=1)
    """Multiple of `most_bytes` beyond which a log refuses messages, if nothing of it can be
    removed: what wasn't extracted yet can't."""

    @model_validator(mode="before")
    @classmethod
    def _moved(cls, values: Any) -> Any:
        if isinstance(values, dict) and (moved := sorted({"key", "key_file"} & values.keys())):
            raise ValueError(
                f"log.{moved[0]} is encryption.{moved[0]} now, and encrypts the whole store: rename"
                " it, and run `semantic-memory admin encrypt` once"
            )
        return values


class EncryptionSettings(Section):
    """Encryption at rest of every file that the store writes."""

    key: SecretStr | None = None
    """Keys that encrypt the store, separated by commas, the one to write with first."""
    key_file: Path | None = None
    """A file with such keys instead, one a line, outside the data directory. `semantic-memory
    admin new-key` makes one, `admin encrypt` brings a store that exists under its first key."""


class StoreSettings(Section):
    """Place of a store that several machines share."""

    url: SecretStr | None = None
    """A PostgreSQL database, `postgresql://user@host/database?schema=name`, which then holds the
    whole store, and `data_dir` nothing of it; needs the extra `postgres`. A store is in one schema,
    `semantic_memory` by default. Any number of processes may have it open."""

    @field_validator("url")
    @classmethod
    def _of_postgresql(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None:
            check_database_url(url.get_secret_value())
        return url

    @property
    def plain_url(self) -> str | None:
        """The URL with its password, for the driver alone."""
        return None if self.url is None else self.url.get_secret_value()


class IndexSettings(Section):
    """Vectors in RAM, and in an index behind it."""

    provider: Literal["chroma", "chroma-server", "pgvector", "none"] = "chroma"
    """Index of the users who have outgrown RAM. `chroma` is one in the data directory,
    `chroma-server` one on a server that `chroma run` starts, `pgvector` one in a PostgreSQL
    database with that extension (needs the extra `postgres`); both are at `url`. With `none`, a
    query reads all of the user's vectors in the ledger. An encrypted store has none; at
    `store.url`, `chroma` is none too."""
    url: SecretStr = SecretStr("")
    """Address of the index: `http://host:8000` or `https://host` for `chroma-server`,
    `postgresql://user@host/database?schema=name` for `pgvector`, by default in the schema
    `semantic_memory`, or else at `store.url`. The schema is created if necessary, and may be a
    ledger's."""
    token: SecretStr = SecretStr("")
    """Token for `chroma-server`, sent as a bearer and as `X-Chroma-Token`; empty for none."""
    name: str = Field(default="semantic_memory", pattern=r"^[a-z0-9][a-z0-9_]{0,62}$")
    """Name with which the store's collections on a Chroma server begin. Stores that share a server
    need different names: a store deletes older collections of its name."""
    exact: bool = True
    """Scan users' memories exactly, in RAM, as far as the next two settings allow; without it, the
    index answers every search."""
    exact_limit: int = Field(default=30_000, ge=0)
    """Number of memories of a user up to which searches scan exactly, in RAM, if they fit into
    `exact_megabytes`. Chat messages take 4.5 KB each, facts 3, and loading a user takes a second
    for so many. Once they lie in a file of `partitions/`, which a store in plain text in a
    directory has, they take .2 KB, and searches scan forty times as many: of more than 30,000 the
    codes of their vectors, and then the nearest vectors."""
    exact_megabytes: int | None = Field(default=None, ge=1)
    """RAM for the users searched last, in MB; one who needs more alone, for memories that no file
    holds, is searched in the index. Default: 32 in a library, which shares its process and has room
    for 7,000 chat messages; in the service a quarter of the machine's RAM, at most 2,000."""
    sync_threshold: int = Field(default=10_000, ge=2)
    """Number of writes after which Chroma flushes its HNSW files, here or on a server. Writes not
    flushed are replayed at start, about 1 s for 10,000."""

    @property
    def scanned(self) -> int:
        """Number of memories of a user up to which searches scan in RAM."""
        return self.exact_limit if self.exact else 0


class RetrievalSettings(Section):
    """Weights of the parts of a match, relative to a memory's base score, which is in [0, 1].

    The formulas are in `semantic_memory.retrieval.ranking`.
    """

    dense: float = Field(default=0.55, ge=0, le=1)
    """Share of the cosine in a memory's base score; the rest is BM25."""
    sentence: float = Field(default=0.8, ge=0, le=1)
    """Share of the nearest sentence in the cosine; the rest is the nearest window of several."""
    neighbour: float = Field(default=0.3, ge=0)
    """Weight of the better of the two neighbouring messages' base scores."""
    answer: float = Field(default=0.15, ge=0)
    """Weight of the base score of the message before it, if that is a question."""
    session: float = Field(default=0.35, ge=0)
    """Weight of the best base score in its session."""
    speaker: float = Field(default=0.2, ge=0)
    """Bonus of messages by a speaker that the query names."""
    voice: float = Field(default=0.12, ge=0)
    """Bonus of the user's own messages, if the query is in the first person."""
    time: float = Field(default=0.3, ge=0)
    """Bonus of memories of the time that the query names."""
    asks: float = Field(default=0.03, ge=0)
    """Penalty of memories that are questions, or carry what they answer."""
    outdated: float = Field(default=0.5, ge=0, le=1)
    """Share of its match that a message loses if a superseded fact was extracted from it."""
    relevance: float = Field(default=0.07, ge=0, le=1)
    """Share of a memory's score that depends on its confidence, importance and age."""


class RerankSettings(Section):
    """Reordering of the best hits of a search by a model of query and text together.

    If it fails, the order stays as it was, and an event and a metric say so.
    """

    provider: Literal["packaged", "none", "cross-encoder", "cohere", "voyage", "jina", "tei"] = (
        "packaged"
    )
    """`packaged` comes with the package and reads English; `cross-encoder` runs a model of yours on
    this machine (extra `sentence-transformers`); the others are forms of HTTP requests, `tei` that
    of Text Embeddings Inference."""
    searches: bool | None = None
    """Reorder the hits of a search too; if False, only those that a context block is packed from.
    Default: unless the provider is `packaged`, which takes 8 ms of CPU for each hit."""
    model: str = ""
    """For `cross-encoder` a directory, or a name in the cache; else the provider's model."""
    base_url: str | None = None
    """Address of the endpoint; by default the provider's own. Needed for `tei`."""
    api_key: SecretStr | None = None
    """API key, sent as a bearer."""
    candidates: int | None = Field(default=None, ge=2, le=1_000)
    """Number of the best hits that are reordered. Default: by `packaged` 7 for a block and 20 in a
    search, else 40."""
    timeout_seconds: float = Field(default=2.0, gt=0)
    """Longest wait for the endpoint, in seconds."""


class ContextSettings(Section):
    """Packing of memories into a prompt."""

    model: str = "gpt-4o"
    """The model whose tokens are counted."""
    candidates: int = Field(default=100, ge=1, le=1_000)
    """Number of memories recalled to choose from."""
    template: str = "xml"
    """Form of the block: `xml`, `markdown`, `plain` or `json`."""
    floor: float = Field(default=0.12, ge=0, le=1)
    """Match below which nothing is recalled, if no memory reaches it."""
    weakest: float = Field(default=0.1, ge=0, le=1)
    """Match below which a memory is left out even beside better ones."""
    diversity: float = Field(default=0.5, ge=0, le=1)
    """Share of its score that a memory loses if it repeats one already chosen."""
    core: int = Field(default=150, ge=0)
    """Tokens of the core profile's facts, which begin every block: name, allergies, diet, health,
    instructions, deadlines ahead, home, family, work, languages."""
    history: float = Field(default=0.15, ge=0, le=1)
    """Largest share of the budget for the three texts of the profile and the user's history
    together; other memories can use the rest."""
    memory_files: float = Field(default=0.5, ge=0, le=1)
    """Largest share of the budget for memory files, where a block is to begin with them."""
    audit: int = Field(default=200, ge=0)
    """Number of the latest blocks of each user of which `history.audit` knows the memories: ids,
    scores and reasons, about 3 KB a block of 40 memories. 0 keeps none."""
    shares: Mapping[Category, float] = Field(default_factory=dict)
    """Largest share of the budget by category, while other categories can use the rest; replaces
    the defaults: personal, project, technical, decision, finding 0.25, preference, feedback,
    reference 0.15, conversation 1."""


class TraceSettings(Section):
    """Traces of searches and blocks: what they were made of, in ids and figures."""

    share: Unit = 1.0
    """Share of all searches and blocks of which a trace is kept."""
    days: float = Field(default=7.0, gt=0)
    """Days for which it is kept."""
    most: int = Field(default=20_000, ge=0)
    """Number of the latest traces that are kept, of all users together, about 3 KB each. 0 keeps
    none. They are in a file of their own, or in RAM for an encrypted store or one on a database."""
    texts: bool = False
    """Keep the questions as well, until something of their user is forgotten."""


class WindowSettings(Section):
    """Division of a model's window among response, memories and messages."""

    response_reserve: int = Field(default=13_000, ge=0)
    """Tokens reserved for the response; at most a quarter of the window."""
    trigger: float = Field(default=0.85, gt=0, le=1)
    """Share of the window without that reserve above which the window is compacted."""
    target: float = Field(default=0.6, gt=0, le=1)
    """Share of the same to which it is compacted."""
    summary_reserve: int = Field(default=20_000, ge=0)
    """Tokens reserved for a summary: at most a quarter of the window while it is made, and at most
    an eighth of the prompt once it is in there."""
    memory_tokens: int = Field(default=2_000, ge=0)
    """Most tokens of recalled memories in a prompt; at most a sixth of it."""
    keep_last: int = Field(default=10, ge=1)
    """Number of latest messages that stay whole as long as they fit."""
    result_characters: int = Field(default=10_000, ge=100)
    """Number of characters to which an older tool result is cut."""
    summarizer: Literal["none", "extractive"] = "extractive"
    """The summarizer of messages that leave the window and gave few facts, unless `summary.llm`
    names a model: `extractive` selects their most telling sentences."""

    memory_file_lines: int = Field(default=200, ge=20)
    """Lines of all memory files together, headings and warnings included."""
    memory_file_bytes: int = Field(default=25_000, ge=2_000)
    """Bytes of the same."""
    memory_directories: tuple[Path, ...] | None = None
    """Directories of memory files, the most specific last. Default: `/etc/agent/global`, the
    system's configuration directory, `~/.agent`, the user's configuration directory and the working
    directory; in the service the first two."""

    @property
    def policy(self) -> Mapping[str, Any]:
        """The values of `WindowPolicy`."""
        own = {"summarizer"}
        own |= {"memory_file_lines", "memory_file_bytes", "memory_directories"}
        return self.model_dump(exclude=own)


class ServiceSettings(Section):
    """Address and limits of the service."""

    host: str = "127.0.0.1"
    """Any address but loopback requires API keys: `semantic-memory keys create`."""
    port: int = Field(default=8321, ge=0, le=65_535)
    """0 chooses a free port."""
    workers: int = Field(default=1, ge=1, le=256)
    """Number of processes that listen on the port; more than one need `store.url`."""
    threads: int = Field(default=16, ge=1)
    """Number of requests that each handles at once; more wait."""
    connections: int = Field(default=512, ge=1)
    """Number of open connections; more are answered with 503."""
    header_bytes: int = Field(default=32_000, ge=1_000)
    """Most bytes of the headers of a request."""
    header_seconds: float = Field(default=10.0, gt=0)
    """Longest time that a connection may be open without the headers of a request."""
    body_bytes: int = Field(default=4_000_000, ge=1_000)
    """Largest request body, and largest line of an import, in bytes."""
    body_seconds: float = Field(default=30.0, gt=0)
    """Longest wait for the next part of a request body, in seconds."""
    requests_per_minute: int = Field(default=60_000, ge=1)
    """Rate limit of one API key; a tenth of it in a burst."""
    drain_seconds: float = Field(default=20.0, ge=0)
    """Seconds at shutdown for requests under way, and again for extraction and indexing."""
    cors_origins: tuple[str, ...] = ()
    """Origins that may call the service from a browser, like `https://app.example.org`."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """Least level of the log lines on standard error. Queries are logged at DEBUG only."""
    log_format: Literal["json", "text"] = "json"
    """Form of the log: a JSON object a line, or plain text."""
    tracing: bool = False
    """Send OpenTelemetry traces, configured by the OTEL_* variables. Needs
    `pip install '.[tracing]'`."""


class ProfileSettings(Section):
    """Limits of profiles and histories."""

    facts: int = Field(default=6, ge=1)
    """Facts of a field of the core profile."""
    recent_days: float = Field(default=30, gt=0)
    """Age below which a line of the history belongs to the recent tier."""
    earlier_days: float = Field(default=180, gt=0)
    """Age below which it belongs to the earlier tier, and from which on to the long-term one."""
    recent_sentences: int = Field(default=30, ge=0)
    """Sentences of the recent tier."""
    recent_tokens: int = Field(default=600, ge=0)
    """Tokens of that tier."""
    earlier_sentences: int = Field(default=10, ge=0)
    """Sentences of the earlier tier."""
    earlier_tokens: int = Field(default=250, ge=0)
    """Tokens of that tier."""
    long_term_sentences: int = Field(default=6, ge=0)
    """Sentences of the long-term tier."""
    long_term_tokens: int = Field(default=150, ge=0)
    """Tokens of that tier."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.earlier_days <= self.recent_days:
            raise ValueError("earlier_days must be more than recent_days")
        return self

    @property
    def ages(self) -> TierAges:
        """The ages of the tiers."""
        return TierAges(timedelta(days=self.recent_days), timedelta(days=self.earlier_days))


class UpkeepSettings(Section):
    """Maintenance jobs."""

    schedule: bool = True
    """Run jobs by schedule while the store is open."""
    usage_minutes: float = Field(default=10, gt=0)
    """Interval of recording which memories were recalled, in minutes."""
    sweep_minutes: float = Field(default=60, gt=0)
    """Interval of merging duplicates and resolving conflicts that writing has left, in minutes."""
    relevance_minutes: float = Field(default=60, gt=0)
    """Interval of weighing memories for listings by relevance, in minutes."""
    expiry_minutes: float = Field(default=60, gt=0)
    """Interval of erasing expired memories and old events, in minutes."""
    decay_hours: float = Field(default=24, gt=0)
    """Interval of lowering the confidence of fading facts and archiving, in hours."""
    rollup_hours: float = Field(default=24, gt=0)
    """Interval of deriving profiles and history tiers again, in hours."""
    compact_hours: float = Field(default=168, gt=0)
    """Interval of erasing forgotten texts from the files, in hours."""
    loss_per_week: Unit = 0.01
    """The confidence that a fading fact loses in a week without confirmation."""
    floor: Unit = 0.3
    """Confidence below which facts are archived."""
    cap: int = Field(default=5_000, ge=1)
    """Largest number of a user's facts. Writing more archives the least confident, then oldest. A
    hundred, as some memories have, is what one person says in weeks; so many take 15 MB of RAM."""
    events: int = Field(default=1_000_000, ge=1)
    """Number of the latest events of the feed that are kept, of all users together. Older ones are
    removed once the webhook, if there is one, has delivered them."""

    @property
    def intervals(self) -> Mapping[str, timedelta]:
        """The interval of each job."""
        sweep = timedelta(minutes=self.sweep_minutes)
        return {
            "usage": timedelta(minutes=self.usage_minutes),
            "dedup": sweep,
            "conflicts": sweep,
            "relevance": timedelta(minutes=self.relevance_minutes),
            "expiry": timedelta(minutes=self.expiry_minutes),
            "decay": timedelta(hours=self.decay_hours),
            "rollup": timedelta(hours=self.rollup_hours),
            "compact": timedelta(hours=self.compact_hours),
        }


class RetentionSettings(Section):
    """Periods after their last statement in which memories expire; the shortest one counts.

    Expired memories are in no answer, and the job `expiry` erases them. Pinned ones never expire.
    """

    categories: Mapping[Category, Days] = Field(default_factory=dict)
    """Days by category."""
    tags: Mapping[Tag, Days] = Field(default_factory=dict)
    """Days by tag, which covers those below it."""

    @property
    def periods(self) -> Periods:
        """The periods."""
        return Periods(
            {category: timedelta(days=days) for category, days in self.categories.items()},
            {tag: timedelta(days=days) for tag, days in self.tags.items()},
        )


class WebhookSettings(Section):
    """Delivery of events to an HTTP endpoint, signed as in Standard Webhooks; ids and no texts."""

    url: str | None = Field(default=None, repr=False)
    """Address of the endpoint; by default nothing is delivered. The first start with an address
    begins with what happens from then on, later ones continue. It may hold a token: representations
    of the settings and failures of deliveries leave it out."""
    secret: SecretStr | None = None
    """Secret that signs: `whsec_` and 24 to 64 random bytes in base64."""
    kinds: tuple[EventKind, ...] = ()
    """Kinds of events to deliver; all by default."""
    senders: int = Field(default=8, ge=1, le=256)
    """Messages under way at a time, each of another user: a user's events keep their order."""
    batch: int = Field(default=1, ge=1, le=500)
    """The most events of a user in one message. With 1, each is a message of its own; with more,
    messages of several are of the type `memory.batch`."""
    attempts: int = Field(default=12, ge=1, le=100)
    """Attempts, with pauses of 1, 2, 4, ... 300 s, before an event goes to the dead letters: half
    an hour by default. While the endpoint takes nothing of anybody, only those are given up that it
    refused by a status of 4xx."""


class RelevanceSettings(Section):
    """Fading of relevance with age; see `semantic_memory.domain.decay`."""

    floor: Unit = CURVE.floor
    """The lowest retention."""
    boost: float = Field(default=CURVE.boost, ge=0, le=10)
    """The gain of a memory that was just said."""
    boost_half_life_days: float = Field(default=CURVE.boost_half_life_days, gt=0)
    """Days in which that gain falls by half."""
    use_share: Unit = CURVE.use_share
    """The gain of a memory that was just used, as a share of `boost`."""


class BeliefSettings(Section):
    """Judging of duplicates and conflicts between facts."""

    judge: Literal["packaged", "nli"] = "packaged"
    """The packaged model decides at once; the sweeps ask `nli`, a cross-encoder on this machine,
    about what it is unsure of."""
    model: str = ""
    """For `nli`: a directory, or a name in the cache."""
    llm: str = ""
    """Name of the endpoint, a section of `llm`, whose model the sweeps ask about the rest instead.
    Empty for none."""
    pairs_per_hour: int = Field(default=200, ge=0)
    """Most pairs of facts that it judges in an hour."""
    daily_budget_tokens: int | None = Field(default=None, ge=0)
    """Most tokens, in and out, that the model of `llm` takes in a day, UTC; no limit by default.
    Once they are spent, it is asked no more that day; `admin.stats` says so."""
    daily_budget_usd: float | None = Field(default=None, ge=0)
    """The same in USD, by the endpoint's price, which it needs."""


class Settings(BaseSettings):
    """All settings, frozen."""

    model_config = SettingsConfigDict(
        env_prefix="SEMANTIC_MEMORY_",
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        toml_file=FILE,
    )

    data_dir: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("semantic-memory"))
    )
    """Directory of the store. Default: the platform's directory for users' data."""
    cache_dir: Path = Field(
        default_factory=lambda: Path(platformdirs.user_cache_dir("semantic-memory"))
    )
    """Directory of the packaged model once it is compiled to fp32, for all stores, and of vectors
    that `python -m eval` keeps. Default: the platform's cache."""
    lock_seconds: float = Field(default=1.0, ge=0)
    """Longest wait for another process that has the data directory open, in seconds."""
    embedding: EmbeddingSettings = EmbeddingSettings()
    extraction: ExtractionSettings = ExtractionSettings()
    summary: SummarySettings = SummarySettings()
    log: LogSettings = LogSettings()
    store: StoreSettings = StoreSettings()
    encryption: EncryptionSettings = EncryptionSettings()
    ingest: IngestSettings = IngestSettings()
    index: IndexSettings = IndexSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    rerank: RerankSettings = RerankSettings()
    context: ContextSettings = ContextSettings()
    trace: TraceSettings = TraceSettings()
    service: ServiceSettings = ServiceSettings()
    beliefs: BeliefSettings = BeliefSettings()
    profile: ProfileSettings = ProfileSettings()
    upkeep: UpkeepSettings = UpkeepSettings()
    retention: RetentionSettings = RetentionSettings()
    webhook: WebhookSettings = WebhookSettings()
    relevance: RelevanceSettings = RelevanceSettings()
    window: WindowSettings = WindowSettings()
    llm: Mapping[str, LLMSettings] = Field(default_factory=dict)
    """Endpoints of language models by name."""
    half_life_days: Mapping[Category, float] = Field(default_factory=dict)
    """Half-lives in days that replace the defaults: project 60, technical 90, decision 30,
    finding 14, reference 180, conversation 7, all others `inf`, which never fades."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources: arguments, then the environment, then the file."""
        del dotenv_settings, file_secret_settings
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @property
    def place(self) -> str:
        """The place of the store, without a password."""
        url = self.store.plain_url
        return str(self.data_dir) if url is None else f"postgresql://{database_name(url)}"

    @property
    def curve(self) -> Curve:
        """The parameters of retention and recency."""
        return Curve(**self.relevance.model_dump())

    @model_validator(mode="after")
    def _of_declared_categories(self) -> Self:
        places = {
            "context.shares": self.context.shares,
            "retention.categories": self.retention.categories,
            "half_life_days": self.half_life_days,
        }
        for place, named in places.items():
            try:
                self.declared.check(named, place)
            except InvalidInputError as error:
                raise ValueError(str(error)) from None
        return self

    @property
    def declared(self) -> Declared:
        """The categories that the store takes."""
        return Declared(tuple(self.extraction.categories))

    @property
    def half_lives(self) -> Mapping[Category, float]:
        """The half-life in days of every category."""
        own = {
            Category(name): category.half_life_days
            for name, category in self.extraction.categories.items()
        }
        return {**HALF_LIFE_DAYS, **own, **self.half_life_days}


class Explained(NamedTuple):
    """A setting, its value, and the origin of the value."""

    name: str
    value: Any
    origin: str


def explained(place: str | Path | None = None) -> list[Explained]:
    """List every setting, with the store at `place` if it is given; secrets are masked.

    Raises ConfigurationError.
    """
    effective = located(place, None)
    origins = {
        **dict.fromkeys(_leaves(TomlConfigSettingsSource(Settings)()), FILE),
        **dict.fromkeys(_leaves(EnvSettingsSource(Settings)()), "environment"),
        **({} if place is None else {"data_dir": "argument", "store.url": "argument"}),
    }
    values = _leaves(effective.model_dump(mode="json"))
    return [Explained(name, value, origins.get(name, "default")) for name, value in values.items()]


def _leaves(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict) and value:
            found |= _leaves(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = value
    return found


def load(**arguments: Any) -> Settings:
    """Load the effective settings. Raises ConfigurationError that names the wrong value."""
    try:
        return Settings(**{key: value for key, value in arguments.items() if value is not None})
    except ValidationError as error:
        raise ConfigurationError(f"settings: {explain(error, Settings)}") from None
    except ValueError as error:
        raise ConfigurationError(f"settings: {error}") from None


def located(place: str | Path | None, settings: Settings | None) -> Settings:
    """Return `settings`, or else the effective ones, with the store at `place` if it is given.

    A place is a directory or the URL of a database. Raises ConfigurationError.
    """
    given = settings or load()
    if place is None:
        return given
    if "://" not in str(place):
        return given.model_copy(update={"store": StoreSettings(), "data_dir": Path(place)})
    try:
        check_database_url(str(place))
    except ValueError as error:
        raise ConfigurationError(f"the URL of a store {error}") from None
    return given.model_copy(update={"store": StoreSettings(url=SecretStr(str(place)))})
