"""Settings: arguments > environment > semantic_memory.toml > defaults.

Environment variables start with SEMANTIC_MEMORY_, with two underscores between levels:
SEMANTIC_MEMORY_DATA_DIR, SEMANTIC_MEMORY_EMBEDDING__PRECISION.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from semantic_memory.domain.decay import HALF_LIFE_DAYS
from semantic_memory.domain.errors import ConfigurationError
from semantic_memory.domain.facts import Category
from semantic_memory.domain.values import Unit, explain

FILE = "semantic_memory.toml"


class Section(BaseModel):
    """A group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class EmbeddingSettings(Section):
    """Embedding of texts."""

    provider: Literal["onnx", "sentence-transformers", "openai"] = "onnx"
    model: str = ""
    """Name or path for sentence-transformers, model name for openai; unused by onnx."""
    dimension: int = Field(default=1536, ge=1)
    """Dimension of the openai provider's vectors."""
    precision: Literal["int8", "fp32"] = "int8"
    """Precision of the onnx provider's model."""


class OpenAISettings(Section):
    """An OpenAI-compatible endpoint."""

    api_key: SecretStr | None = None
    base_url: str | None = None


class ExtractionSettings(Section):
    """Extraction of facts from conversations."""

    provider: Literal["offline", "openai"] = "offline"
    """`openai` sends conversations to the endpoint in `openai`, `offline` sends nothing."""
    model: str = "gpt-4o-mini"
    temperature: float = Field(default=0.1, ge=0, le=2)
    timeout_seconds: float = Field(default=60.0, gt=0)
    max_retries: int = Field(default=4, ge=0)
    """Retries of a request after connection errors, time-outs and status 408, 409, 429 or 5xx."""
    breaker_failures: int = Field(default=3, ge=1)
    """Consecutive failed requests after which requests to the endpoint pause."""
    breaker_seconds: float = Field(default=60.0, ge=0)
    """Length of that pause."""
    batch: bool = False
    """Extract through the provider's batch API, at half the price and within a day. Extraction then
    runs only in `flush`, not in the background. For imports: `semantic-memory ingest --batch`."""
    batch_poll_seconds: float = Field(default=30.0, gt=0)
    usd_per_million_tokens: Mapping[str, tuple[float, float]] = Field(
        default_factory=lambda: {"gpt-4o-mini": (0.15, 0.60)}
    )
    """Price of input and of output by model; the cost is reported with every call."""


class IngestSettings(Section):
    """Timing and strictness of extraction."""

    background: bool = True
    """Extract, embed and index messages in the background; if False, only in `flush`."""
    quiet_seconds: float = Field(default=30.0, ge=0)
    """Time without new messages after which a session is extracted."""
    most_wait_seconds: float = Field(default=300.0, ge=0)
    """Longest wait of a session in which messages keep coming."""
    most_messages: int = Field(default=50, ge=1)
    """Number of waiting messages at which a session is extracted at once."""
    min_confidence: float = Field(default=0.7, ge=0, le=1)
    """Confidence below which the gate refuses a candidate."""
    personal_data: Literal["keep", "redact", "refuse"] = "keep"
    """The treatment of e-mail addresses, phone, card and account numbers in facts. Under `refuse`,
    recalled messages have them redacted too; the session logs keep them."""
    retry_seconds: float = Field(default=60.0, gt=0)
    """The pause before a model that couldn't be reached is tried again."""


class LogSettings(Section):
    """The session logs, which hold messages word for word."""

    key: SecretStr | None = None
    """Fernet keys that encrypt the logs, separated by commas, the one to write with first."""
    key_file: Path | None = None
    """A file with such keys instead, one a line, outside the data directory."""
    most_bytes: int = Field(default=10_000_000, ge=10_000)
    """Limit of a session's log. At 90 % of it a warning is logged, and the log is rewritten at half
    the limit, without the messages that the fewest facts rest on, the oldest first; their memories
    stay."""
    patience_seconds: float = Field(default=1.0, ge=0)
    """Time for which `observe` holds messages in RAM and tries again while the disk fails; then it
    raises StoreUnavailableError. It tries three times even if this is 0."""
    patience_bytes: int = Field(default=16_000_000, ge=0)
    """Size of all messages held so, above which `observe` doesn't wait."""
    refuse_at: float = Field(default=2.0, ge=1)
    """Multiple of `most_bytes` at which a log refuses messages, if nothing of it can be removed."""


class LedgerSettings(Section):
    """Storage of facts."""

    store: Literal["sqlite", "memory"] = "sqlite"
    """`memory` ends with the process, and is for tests."""


class IndexSettings(Section):
    """Vectors in RAM and in Chroma."""

    exact_limit: int = Field(default=7_000, ge=0)
    """Number of memories of a user up to which searches scan exactly, in RAM. Chat messages take
    4.5 KB each, so this many fill `exact_megabytes`; fewer but longer memories may fill it too,
    and are not scanned either."""
    exact_megabytes: int | None = Field(default=None, ge=1)
    """RAM for the users searched last. Default: 32 in a library, which shares its process; in the
    service a quarter of the machine's RAM, at most 2,000."""
    sync_threshold: int = Field(default=10_000, ge=2)
    """Number of writes after which Chroma flushes its HNSW files. Writes not flushed are replayed
    at start, about 1 s for 10,000."""


class RetrievalSettings(Section):
    """Weights of ranking; see `semantic_memory.retrieval.ranking`."""

    dense: float = Field(default=0.55, ge=0, le=1)
    sentence: float = Field(default=0.8, ge=0, le=1)
    neighbour: float = Field(default=0.3, ge=0)
    answer: float = Field(default=0.15, ge=0)
    session: float = Field(default=0.35, ge=0)
    speaker: float = Field(default=0.2, ge=0)
    voice: float = Field(default=0.12, ge=0)
    time: float = Field(default=0.3, ge=0)
    asks: float = Field(default=0.03, ge=0)
    outdated: float = Field(default=0.5, ge=0, le=1)
    relevance: float = Field(default=0.1, ge=0, le=1)


class ContextSettings(Section):
    """Packing of memories into a prompt."""

    model: str = "gpt-4o"
    """The model whose tokens are counted."""
    candidates: int = Field(default=100, ge=1, le=1_000)
    """Number of memories recalled to choose from."""
    template: str = "xml"
    """The form of the block: xml, markdown or plain."""
    floor: float = Field(default=0.12, ge=0, le=1)
    """Match below which nothing is recalled, if no memory reaches it."""
    weakest: float = Field(default=0.1, ge=0, le=1)
    """Match below which a memory is left out even beside better ones."""
    diversity: float = Field(default=0.5, ge=0, le=1)
    """The weight of being like a chosen memory, which lowers a memory's score."""
    overview: float = Field(default=0.04, ge=0, le=1)
    """Largest share of the budget for the user's profile and history."""
    shares: Mapping[Category, float] = Field(default_factory=dict)
    """Largest share of the budget by category, while other categories can use the rest."""


class WindowSettings(Section):
    """Division of a model's window; see `semantic_memory.session.limits`."""

    response_reserve: int = Field(default=13_000, ge=0)
    trigger: float = Field(default=0.85, gt=0, le=1)
    target: float = Field(default=0.6, gt=0, le=1)
    summary_reserve: int = Field(default=20_000, ge=0)
    memory_tokens: int = Field(default=2_000, ge=0)
    keep_last: int = Field(default=10, ge=1)
    result_characters: int = Field(default=10_000, ge=100)


class ServiceSettings(Section):
    """Address and limits of the service."""

    host: str = "127.0.0.1"
    """Any address but loopback requires API keys: `semantic-memory keys create`."""
    port: int = Field(default=8321, ge=0, le=65_535)
    """0 chooses a free port."""
    threads: int = Field(default=16, ge=1)
    """Number of requests handled at once; more wait."""
    connections: int = Field(default=512, ge=1)
    """Number of open connections; more are answered with 503."""
    body_bytes: int = Field(default=4_000_000, ge=1_000)
    """Largest request body, and largest line of an import."""
    body_seconds: float = Field(default=30.0, gt=0)
    """Longest wait for the next part of a request body."""
    requests_per_minute: int = Field(default=60_000, ge=1)
    """Rate limit of one API key."""
    drain_seconds: float = Field(default=20.0, ge=0)
    """Time at shutdown for requests under way, and again for extraction and indexing."""
    cors_origins: tuple[str, ...] = ()
    """Origins that may call the service from a browser, like `https://app.example.org`."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_format: Literal["json", "text"] = "json"
    tracing: bool = False
    """Send OpenTelemetry traces, configured by the OTEL_* variables."""


class ProfileSettings(Section):
    """Limits of profiles and histories."""

    sentences: int = Field(default=3, ge=1)
    """Sentences of a profile field derived from facts."""
    tokens: int = Field(default=90, ge=1)
    """Tokens of such a field."""
    recent_sentences: int = Field(default=30, ge=0)
    """Sentences of the tier of the last 30 days."""
    recent_tokens: int = Field(default=600, ge=0)
    earlier_sentences: int = Field(default=10, ge=0)
    """Sentences of the tier of 30 to 180 days ago."""
    earlier_tokens: int = Field(default=250, ge=0)
    long_term_sentences: int = Field(default=6, ge=0)
    """Sentences of the tier before that."""
    long_term_tokens: int = Field(default=150, ge=0)


class UpkeepSettings(Section):
    """Maintenance jobs."""

    schedule: bool = True
    """Run jobs by schedule while the store is open."""
    usage_minutes: float = Field(default=10, gt=0)
    sweep_minutes: float = Field(default=60, gt=0)
    """The interval of looking for duplicates and conflicts that writing has left."""
    decay_hours: float = Field(default=24, gt=0)
    rollup_hours: float = Field(default=24, gt=0)
    compact_hours: float = Field(default=168, gt=0)
    loss_per_week: Unit = 0.01
    """The confidence that a fading fact loses in a week without confirmation."""
    floor: Unit = 0.3
    """Confidence below which facts are archived."""
    cap: int = Field(default=5_000, ge=1)
    """Number of facts of a user above which the least confident and oldest are archived."""

    @property
    def intervals(self) -> Mapping[str, timedelta]:
        """The interval of each job."""
        sweep = timedelta(minutes=self.sweep_minutes)
        return {
            "usage": timedelta(minutes=self.usage_minutes),
            "dedup": sweep,
            "conflicts": sweep,
            "decay": timedelta(hours=self.decay_hours),
            "rollup": timedelta(hours=self.rollup_hours),
            "compact": timedelta(hours=self.compact_hours),
        }


class BeliefSettings(Section):
    """Judging of duplicates and conflicts between facts."""

    judge: Literal["rules", "openai", "nli"] = "rules"
    """Rules decide the clear cases; the sweeps ask `openai` (at the endpoint in `openai`) or `nli`
    (a cross-encoder on this machine) about the rest."""
    model: str = ""
    """For `openai`, by default that of extraction; for `nli`, a directory or name in the cache."""
    pairs_per_hour: int = Field(default=200, ge=0)
    """Most pairs of facts that it is asked about."""


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
    cache_dir: Path = Field(
        default_factory=lambda: Path(platformdirs.user_cache_dir("semantic-memory"))
    )
    """The directory of compiled embedding models, for all stores."""
    lock_seconds: float = Field(default=1.0, ge=0)
    """Longest wait for another process that has the data directory open."""
    embedding: EmbeddingSettings = EmbeddingSettings()
    openai: OpenAISettings = OpenAISettings()
    extraction: ExtractionSettings = ExtractionSettings()
    log: LogSettings = LogSettings()
    ingest: IngestSettings = IngestSettings()
    ledger: LedgerSettings = LedgerSettings()
    index: IndexSettings = IndexSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    context: ContextSettings = ContextSettings()
    service: ServiceSettings = ServiceSettings()
    beliefs: BeliefSettings = BeliefSettings()
    profile: ProfileSettings = ProfileSettings()
    upkeep: UpkeepSettings = UpkeepSettings()
    window: WindowSettings = WindowSettings()
    half_life_days: Mapping[Category, float] = Field(default_factory=dict)
    """Half-lives by category, replacing the defaults; `inf` never fades."""

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
    def half_lives(self) -> Mapping[Category, float]:
        """The half-life in days of every category."""
        return {**HALF_LIFE_DAYS, **self.half_life_days}


class Explained(NamedTuple):
    """A setting, its value, and the origin of the value."""

    name: str
    value: Any
    origin: str


def explained(**arguments: Any) -> list[Explained]:
    """List every setting; secrets are masked. Raises ConfigurationError."""
    given = {key: value for key, value in arguments.items() if value is not None}
    effective = load(**given)
    origins = {
        **dict.fromkeys(_leaves(TomlConfigSettingsSource(Settings)()), FILE),
        **dict.fromkeys(_leaves(EnvSettingsSource(Settings)()), "environment"),
        **dict.fromkeys(_leaves(given), "argument"),
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
        raise ConfigurationError(
            f"settings: {explain(error, known=Settings.model_fields)}"
        ) from None
    except ValueError as error:
        raise ConfigurationError(f"settings: {error}") from None


def located(data_dir: str | Path | None, settings: Settings | None) -> Settings:
    """Return `settings`, or else the effective ones, with `data_dir` if it is given.

    Raises ConfigurationError.
    """
    if settings is None:
        return load(data_dir=data_dir)
    if data_dir is None:
        return settings
    return settings.model_copy(update={"data_dir": Path(data_dir)})
