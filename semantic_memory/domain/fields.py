"""Descriptions, defaults and limits of the fields of requests, each written once for every face.

Plain values without pydantic: `semantic_memory.domain.requests` builds the request types from them,
and the command line shows them without loading a model.
"""

from __future__ import annotations

from typing import Generic, Literal, NamedTuple, TypeVar, get_args

from semantic_memory.domain.categories import Category

NumberT = TypeVar("NumberT", int, float)


class Number(NamedTuple, Generic[NumberT]):
    """A numeric field; `most` None leaves it unbounded."""

    description: str
    default: NumberT
    least: NumberT
    most: NumberT | None = None


HITS = Number("Most memories to return.", default=10, least=1, most=1_000)
BUDGET = Number("Most tokens of the block.", default=2_000, least=1)
MEMORY_FILES = "Begin the block with the memory files, AGENT.md, MEMORY.md, .agent-context.md."
AS_PRODUCT = "Rank by the product of importance, retention, recency and match."
LEAST_TRUST = (
    "Lowest trust of what is shown: imported, external, tool, assistant, agent or user; all if"
    " left out."
)
PAGE = Number("Most memories to list.", default=100, least=1)
BEHIND = "Only what comes behind this one: `earlier` of the answer before."
POINTS = Number("Most memories to lay out, the newest first.", default=2_000, least=1, most=5_000)
RUNS = Number("Most runs to return, the latest first.", default=50, least=1, most=1_000)
RECORDS = Number("Most blocks to list, the latest first.", default=20, least=1, most=1_000)
CONFIDENCE = Number("Certainty of the fact, 0 to 1.", default=1.0, least=0.0, most=1.0)
IMPORTANCE = Number("Importance of the fact, 0 to 1.", default=0.5, least=0.0, most=1.0)
LEAST_SCORE = Number("Lowest score of a hit; 0 leaves none out.", default=0.0, least=0.0)
LEAST_CONFIDENCE = Number("Lowest confidence to return, 0 to 1.", default=0.0, least=0.0, most=1.0)

SHORT_PAGE = 20
"""Memories that a reader is shown at once: a person at a terminal, or an agent."""
MOST_ITEMS = 1_000
"""Items that one HTTP request or answer may hold; more take several."""

USER = "The user whose memory this is."
AGENT = "The agent that it belongs to; shared by all agents of the user if left out."
RUN = "The run, such as a task, that it belongs to; of none if left out."
AS_AGENT = "Recall as this agent: its own memories and the shared ones; all if left out."
AS_RUN = "Recall in this run: its memories and those of no run; all if left out."
SPACES = "Further users, such as a team, whose memories are ranked among the user's."
MOST_SPACES = 8
OF_AGENT = "Only memories of this agent, without the shared ones."
OF_RUN = "Only memories of this run."
QUERY = "A question, or words to search for."
CATEGORIES = "Only memories of these categories."
TAGS = "Only memories with all of these tags; a tag covers those below it, `work` `work.deadlines`."
SINCE = "Only memories said at or after this time."
UNTIL = "Only memories said before this time."
OF_SESSION = "Only memories of this session."
AS_OF = "Return the memories believed at this time, instead of now."
STATUS = "Only memories of this status, instead of those believed now."
SORT = "Order, highest first: time, importance, confidence, or relevance (with retention)."
Sort = Literal["time", "relevance", "importance", "confidence"]
CURSOR_MARK = "~"
"""Begins a cursor, and no id."""
AFTER = "Cursor of the next page, from the page before; or the id of its last memory."
FILTERS = "Conditions: an object of fields, or a query like `tag:work -tag:old since:yesterday`."
WHERE = 'A query: words, "a phrase", auth*, -word, tag:work.*, category:decision, when:yesterday.'

CONTENT = "One sentence that stands on its own, with absolute dates."
CATEGORY = "The subject of the fact."
DEFAULT_CATEGORY = Category.PERSONAL
OWN_TAGS = "Topics of the fact, with '.' between levels: work.deadlines."
REFERENCES = "Ids of what the fact refers to."
TRUST = "Trust in the fact, if less than in the caller: the lowest of what it rests on."
NEW_TRUST = "Trust in the new values, if less than in the memory."
METADATA = "Further values to keep with the fact."
SAID_AT = "The time when the fact was said; now if left out."
EXPIRES_AT = "The time from which the fact is in no answer, and is erased; never if left out."
BODY = "A decision, reference or procedure in fields, beside the content."
NEW_EXPIRES_AT = "A new time of expiry, or `never`."
NEVER: Literal["never"] = "never"
MEMORY = "Id of a memory."
PREFIX = "The first characters of the id of a memory."
WITH_MEMORY = "Only blocks with this memory."
REASON = "Kept in the memory's history."
MOST_REASON = 1_000

SESSION = "Id of a session of the user."
MESSAGES_SESSION = "Id of the session of messages that name none."
OWN_SESSION = "Id of the message's session, in place of that of the call."
MESSAGES = "Messages in the order in which they were said."
RECALL = (
    "False for a message that is kept in its session alone, such as the output of a tool: no facts"
    " are extracted from it, and nothing recalls it."
)
MESSAGES_LIMIT = "Most messages to return; all if left out."
NEWEST = "Return the latest message first."
MESSAGE = "Id of a message of the session, instead of its latest one."
EXTRACT = "Extract facts from the session's messages."
SESSIONS_OF = "Only sessions of this agent: with messages of it alone, and created by no one else."
SESSION_OF = "Only if it is a session of this agent: with messages of it alone."
MESSAGE_OF = "Only messages of this agent."
SESSION_AGENT = "The agent that it belongs to; of no agent if left out."
FADES = "Let the confidence of the session's facts fade."
NEW_SESSION = "Id of the session; a random one if left out."
COMPACT = "Shorten the session's window and log when they are too long."
HALF_LIFE_DAYS = "Half-lives of the session's memories by category, in days; {} for the settings'."
FLOOR = "Lowest retention of the session's memories, 0 to 1."
LANGUAGE = "The language in which the session is answered; empty for none in particular."
VERBOSITY = "The length of the session's answers: brief, normal or detailed."

REQUEST = "Id of a request to forget."
ANSWER = "forget: what the request names; done: it was forgotten otherwise; decline."
Answer = Literal["forget", "done", "decline"]

RETIRED_SINCE = "Only facts that were retired at or after this time."
RETIRED_UNTIL = "Only facts that were retired before this time."
UNDO_DECISION = "Id of the memory that was retired, which names the decision."
UNDO_SOURCE = (
    "What this source alone retired: session:ID, speaker:NAME, role:tool, extractor:NAME or"
    " trust:LEVEL."
)
UNDO_DAY = "What was retired on this day, in UTC."
UNDO_DRY_RUN = "Show what would be restored, and restore nothing."
LINK_OLDER = "Id of the memory that perhaps changed."
LINK_NEWER = "Id of the newer memory that perhaps changed it."

FORGET_ENTITY = "Forget what names this person, place or thing."
FORGET_QUERY = "Forget what is about this, like: Anna's divorce."
FORGET_TAG = "Forget this topic and all below it."
FORGET_SINCE = "Forget memories said at or after this time."
FORGET_UNTIL = "Forget memories said before this time."
FORGET_SESSION = "Forget this session."
FORGET_AGENT = "Forget what is of this agent."
FORGET_RUN = "Forget what is of this run."
FORGET_FILTERS = "Forget memories that meet these conditions."
FORGET_SOURCE = (
    "Forget what came from this source alone: session:ID, speaker:NAME, role:tool, extractor:NAME"
    " or trust:LEVEL; facts that it retired are current again."
)
WITHDRAW = "Quarantine what came from `source`, until it is restored, instead of forgetting it."
FORGET_DRY_RUN = "Show what would be forgotten, and forget nothing."
PROOF = "Erase it from all files now, and search them for its texts; for administrators."
NOW = "Erase it from all files before this returns, as the job `compact` does."
FORCE = (
    "Forget it though `entity` is a common word, or it takes more than a third of the user's"
    " memories."
)
RECEIPT = "A receipt, as `forget` with `proof` gives it."
EVERYTHING = "Forget everything of the user."
CONFIRM = "Forget it; without this, what would be forgotten is only shown."
KEEP_SOURCE = (
    "Keep the sentences that a fact was drawn from, and the facts that rest on a message alone."
)

EXPORT_FORMATS = ("jsonl", "json")
EXPORT_FORMAT = "`jsonl`: one record a line; `json`: one document."

PROFILE_FIELD = "A field of the profile."
PROFILE_AS_OF = "Return the profile as it stood at this time."

NAMESPACE = "Labels of the namespace, from the outermost."
PREFIX = "The labels that namespaces begin with; empty: all namespaces."
SUFFIX = "The labels that namespaces end with."
KEY = "The key of the item in its namespace."
VALUE = "A JSON object, kept exactly."
TTL = "Seconds to keep the item after it was put, and read; for ever if left out."
INDEX = "Paths of the texts to find it by, like title or notes[*].text; all if left out; or false."
ITEM_OWNER = "The owner of the items; null: of every user."
ITEM_FILTERS = "Conditions on values: {path: value} or {path: {$eq $ne $gt $gte $lt $lte: value}}."
ITEM_BY = "Search by meaning, by words, or both."
ITEM_REFRESH = "Begin the time to live of what is read again."
ITEMS = Number("Most items to return.", default=100, least=1, most=10_000)
ITEM_HITS = Number("Most items to return.", default=10, least=1, most=10_000)
OFFSET = Number("Items to skip.", default=0, least=0, most=10_000_000)
NAMESPACES = Number("Most namespaces to return.", default=100, least=1, most=10_000)
NAMESPACES_OFFSET = Number("Namespaces to skip.", default=0, least=0, most=10_000_000)
MOST_TTL = 100 * 365 * 86_400
DEPTH = "Cut namespaces to this number of labels."

EVENT_KINDS = "Only events of these kinds; all if left out."
AFTER_EVENT = (
    "Id of the event to continue after; 0: from the oldest one that is kept; now: only later ones."
)
LAST_EVENT = "Id of the event to continue after; goes before `after`."
EVENTS = Number("Most events to return.", default=100, least=1, most=1_000)
MOST_NUMBER = 2**63 - 1
"""The highest number that the ledger can hold."""

JOBS = ("usage", "relevance", "expiry", "dedup", "conflicts", "decay", "rollup", "compact")
ALL_JOBS = "all"
ON_DEMAND = ("redeliver",)
"""Jobs that run when they are named, and neither by schedule nor among all."""
JOB_NAMES = f"{', '.join(JOBS)}, or {ALL_JOBS}; {', '.join(ON_DEMAND)} runs by its name alone."
ONE_USER = "Only this user."
DRY_RUN = "Report the changes without making them."

Format = Literal[
    "auto",
    "jsonl",
    "openai",
    "anthropic",
    "chatgpt",
    "claude",
    "claude-code",
    "mem0",
    "zep",
    "letta",
    "mcp-memory",
    "langgraph",
    "locomo",
    "longmemeval",
    "realtalk",
    "markdown",
    "text",
]
"""The formats of files of messages, and of other systems' memories; `auto` detects one."""
FORMATS: tuple[Format, ...] = get_args(Format)
