"""A course: requests drawn from a seed, in good weather and bad, and what must hold throughout."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import product
from pathlib import Path
from random import Random
from unittest.mock import patch

from semantic_memory import (
    Category,
    Fact,
    LedgerBehindError,
    Message,
    NotFoundError,
    SemanticMemory,
    StoreCorruptError,
    StoreError,
)
from semantic_memory.bootstrap import Parts, UseCases, build
from semantic_memory.domain.errors import PromptTooLongError, SemanticMemoryError
from semantic_memory.domain.events import CheckpointRestored, Event
from semantic_memory.domain.extraction import Candidate
from semantic_memory.session.session import Session
from semantic_memory.settings import IngestSettings, LogSettings, Settings, UpkeepSettings
from semantic_memory.testing import FrozenClock, HashEmbedder, InMemoryIndex, ScriptedExtractor
from tests.faults.database import DatabaseDisk
from tests.faults.model import Model, State, Task, in_text
from tests.faults.simulated import files_in
from tests.faults.weather import CALM, Faults, PowerCut, Weather, drawn, flipped

USERS, SESSIONS = ("anna", "ben"), ("s1", "s2")
_WINDOW = 600
"""Tokens of the windows of sessions, so that they are compacted, and saved, every few turns."""
_SPELLS = 4
"""Number of times that the weather changes in a course."""
_FLIPS = 5


class Found(AssertionError):  # noqa: N818 - a finding of the harness
    """A course in which something didn't hold: names its seed."""


def run(seed: int, draw: Callable[[Random], Weather] = drawn) -> Faults:
    """Run the course of a seed; return the faults that it had. Raises Found."""
    with tempfile.TemporaryDirectory() as directory:
        course = Course(seed, Path(directory), draw)
        identifiers = Random(seed)  # which a seed must repeat like all else
        with patch("uuid.uuid4", lambda: uuid.UUID(int=identifiers.getrandbits(128), version=4)):
            try:
                course.run()
            except Exception as error:
                lines = "\n  ".join(course.told)
                raise Found(
                    f"seed {seed}: {type(error).__name__}: {error}\n  {lines}\n"
                    f"again with: PYTHONHASHSEED=0 python -m tests.faults {seed}"
                ) from error
            finally:
                course.end()
        return course.faults


def propose(messages: Sequence[Message]) -> list[Candidate]:
    """Propose each sentence of a message as a fact."""
    return [
        Candidate(
            content=sentence.strip(" ."),
            category=Category.PREFERENCE,
            confidence=0.9,
            message_ids=(message.id,),
        )
        for message in messages
        for sentence in message.content.split(".")
        if sentence.strip()
    ]


@dataclass
class Course:
    """A store on a simulated disk, beside a model of it."""

    seed: int
    directory: Path
    draw: Callable[[Random], Weather]
    told: list[str] = field(default_factory=list)
    """Every request and its outcome."""

    def __post_init__(self) -> None:
        self.rng = Random(self.seed)
        self.faults = Faults(Random(self.seed + 1))
        self.clock = FrozenClock()
        self.model = Model(checked=self.faults.checked)
        self.facts: dict[str, tuple[str, list[str]]] = {}
        self.restored: list[Event] = []
        """Events of checkpoints that were damaged."""
        self.memory: SemanticMemory | None = None
        self.lives = 0
        self.said = 0
        self.root = self.directory / "store"
        self.disk = self.mounted()

    def mounted(self) -> DatabaseDisk:
        disk = DatabaseDisk(self.root, self.faults)
        disk.mount()
        return disk

    # ---------------------------------------------------------------- the course

    def run(self) -> None:
        """Change the weather again and again; look in calm what is left."""
        for _ in range(_SPELLS):
            self.spell()
            self.look()
        ending: Callable[[], None] = getattr(self, self.rng.choice(_ENDINGS))
        ending()

    def spell(self) -> None:
        """Send requests in one weather."""
        self.faults.weather = CALM if self.rng.random() < 0.2 else self.draw(self.rng)
        self.told.append(str(self.faults.weather))
        try:
            for _ in range(self.rng.randint(2, 9)):
                self.request()
        except PowerCut:
            self.told.append("power cut")
            self.resurrect()
        self.faults.weather = CALM

    def request(self) -> None:
        """Open the store if it is closed, and send a request."""
        names = list(_WEIGHTS)
        (name,) = self.rng.choices(names, [_WEIGHTS[one] for one in names])
        action: Callable[[SemanticMemory], str | None] = getattr(self, name)
        try:
            if self.memory is None:
                self.memory = self.opened()
            about = action(self.memory)
        except SemanticMemoryError as error:
            if not isinstance(error, StoreError):
                raise
            self.faults.checked["requests refused"] += 1
            self.told.append(f"{name}: {type(error).__name__}: {str(error)[:90]}")
        else:
            self.faults.checked["requests answered"] += 1
            self.told.append(f"{name} {about or ''}")

    def look(self) -> None:
        """Compare the store with the model in calm weather, with and without opening it again."""
        if self.memory is None or self.rng.random() < 0.5:
            self.closed()
            self.memory = self.opened()
        memory = self.memory
        memory.flush()
        self.model.compare(memory, USERS, strict=True)
        self.look_into_sessions(memory)
        # a course sets its clock back, so that dates lie ahead of it
        wrong = [one for one in memory.admin.check() if not one.ok and one.check != "dates"]
        if self.lives:  # a torn line that was never acknowledged is told apart from none
            wrong = [finding for finding in wrong if finding.check != "session logs"]
        assert not wrong, f"check: {wrong}"

    def look_into_sessions(self, memory: SemanticMemory) -> None:
        """Compare windows and checkpoints with the model."""
        for user, name in product(USERS, SESSIONS):
            session = self.session(memory, user, name)
            self.model.shown((part.text for part in session.messages), user)
            saved = session.checkpoint("task", Task).load()
            self.model.loaded(user, name, saved.word if saved else None)

    def session(self, memory: SemanticMemory, user: str, name: str) -> Session:
        return memory.sessions.open(
            user_id=user, session_id=name, window=_WINDOW, memory_directories=()
        )

    # ---------------------------------------------------------------- beyond what can be kept

    def bit_flips(self) -> None:
        """Flip a bit in a file: it is refused, or noticed, or does no harm."""
        after_power_cut = self.rng.random() >= 0.5
        if after_power_cut:
            self.power_cut()
        else:
            self.closed()
        for _ in range(_FLIPS):
            files = sorted(file for file in files_in(self.root) if file.stat().st_size)
            file = self.rng.choice(files)
            sound = {path: path.read_bytes() for path in files}
            file.write_bytes(flipped(self.rng, sound[file]))
            self.faults.injected[f"bit flipped in {file.suffix or file.name}"] += 1
            self.told.append(f"bit flipped in {file.name}")
            try:
                noticed = self.read_flipped(file, after_power_cut=after_power_cut)
            except SemanticMemoryError as error:
                self.told.append(f"{type(error).__name__}: {error}")
                noticed = "refused"
            self.faults.outcomes[f"bit flipped: {noticed}"] += 1
            with suppress(SemanticMemoryError):
                self.closed()
            for path in {*files_in(self.root), *self.root.rglob("*-shm")} - {*sound}:
                path.unlink()
            for path, content in sound.items():
                path.write_bytes(content)

    def read_flipped(self, file: Path, *, after_power_cut: bool) -> str:
        """Look at a store after damage; return how it was noticed, if it was."""
        self.disk = self.mounted()
        self.memory = self.opened()
        wrong = [finding for finding in self.memory.admin.check() if not finding.ok]
        self.told.append("; ".join(finding.detail for finding in wrong))
        self.memory.flush()
        # The watermark doesn't wait for the disk: after a loss of power, the end of a damaged
        # write-ahead log may be lost without a trace.
        dark = after_power_cut and file.name.endswith("-wal")
        self.model.compare(self.memory, USERS, strict=not wrong and not dark)
        self.restored.clear()
        for user, name in product(USERS, SESSIONS):
            saved = self.session(self.memory, user, name).checkpoint("task", Task).load()
            if not self.restored:
                self.model.loaded(user, name, saved.word if saved else None)
        if self.restored:
            return "reported when a checkpoint was restored"
        return "reported by check" if wrong else "harmless"

    def disk_lies(self) -> None:
        """Lose the power after waits that were none: what is left is refused, or can be used."""
        self.faults.weather = Weather(lies=self.rng.choice([0.1, 1.0]))
        for _ in range(self.rng.randint(2, 9)):
            self.request()
        self.power_cut()
        try:
            outcome = self.read_lost()
        except StoreCorruptError as error:
            self.told.append(str(error))
            outcome = "refused"
        self.faults.outcomes[f"fsync lied: {outcome}"] += 1

    def read_lost(self) -> str:
        """Look at a store after a disk has lied; return how it could be opened."""
        outcome = "opened"
        try:
            self.memory = self.opened()
        except LedgerBehindError as error:
            self.told.append(str(error))
            self.memory, outcome = self.recovered(), "recovered"
        if not all(finding.ok for finding in self.memory.admin.check()):
            return f"{outcome}, reported by check"
        self.memory.flush()
        self.model.compare(self.memory, USERS, strict=False)
        return outcome

    def ledger_lost(self) -> None:
        """Lose the ledger, or its end: it is noticed, and no message forgotten since is back."""
        self.closed()
        ledger = self.root / "ledger.sqlite3"
        backup = ledger.read_bytes()
        for _ in range(self.rng.randint(2, 9)):
            self.request()
        if self.rng.random() < 0.5:
            self.closed()
        else:
            self.resurrect(killed=True)
        ledger = self.root / "ledger.sqlite3"
        lost = self.rng.choice(["ledger deleted", "ledger emptied", "ledger older", "WAL deleted"])
        self.told.append(lost)
        self.faults.injected[lost] += 1
        if lost != "ledger emptied":
            ledger.with_name("ledger.sqlite3-wal").unlink(missing_ok=True)
        match lost:
            case "ledger deleted":
                ledger.unlink()
            case "ledger emptied":
                ledger.write_bytes(b"")
            case "ledger older":
                ledger.write_bytes(backup)
        self.disk = self.mounted()
        try:
            self.memory = self.opened()
        except LedgerBehindError as error:
            self.told.append(str(error))
            self.faults.outcomes["ledger lost: recovered"] += 1
            self.memory = self.recovered()
        else:
            self.faults.outcomes["ledger lost: nothing in it"] += 1
        self.memory.flush()
        self.model.compare(self.memory, USERS, strict=True, said=True)

    def reads_rot(self) -> None:
        """Read flipped bits: whatever comes of it, it is an error of ours."""
        self.closed()
        self.faults.weather = Weather(rot=self.rng.choice([0.005, 0.05]))
        for _ in range(self.rng.randint(2, 9)):
            try:
                self.request()
            except NotFoundError as error:
                # Pages have no checksums: where an index is misread, a lookup finds nothing.
                self.faults.checked["requests misled"] += 1
                self.told.append(str(error))
        self.faults.weather = CALM

    def recovered(self) -> SemanticMemory:
        """Recover the store, and open it."""
        with closing(self.built(recovering=True)) as use_cases:
            use_cases.maintenance.take_in(None)
        return self.opened()

    def power_cut(self) -> None:
        self.faults.injected["power cut between requests"] += 1
        self.resurrect()

    def opened(self) -> SemanticMemory:
        return SemanticMemory(self.built())

    def built(self, *, recovering: bool = False) -> UseCases:
        settings = Settings(
            data_dir=self.root,
            ingest=IngestSettings(background=False),
            log=LogSettings(patience_seconds=0),
            upkeep=UpkeepSettings(schedule=False),
        )
        parts = Parts(
            embedder=HashEmbedder(),
            extractor=ScriptedExtractor(propose),
            index=InMemoryIndex(),
            clock=self.clock,
            observer=self.notice,
            disk=self.disk,
        )
        return build(settings, parts, recovering=recovering)

    def notice(self, event: Event) -> None:
        if isinstance(event, CheckpointRestored):
            self.restored.append(event)

    def closed(self) -> None:
        memory, self.memory = self.memory, None
        if memory is not None:
            memory.close()

    def resurrect(self, *, killed: bool = False) -> None:
        """Go on with what the loss of power, or a kill, left, in a directory of its own."""
        self.lives += 1
        root = self.directory / f"store-{self.lives}"
        root.mkdir(mode=0o700)
        if killed:
            self.disk.killed_in(root)
        else:
            self.disk.left_in(root)
        self.end()
        self.faults.dead = False
        self.faults.weather = CALM
        self.root = root
        self.disk = self.mounted()

    def end(self) -> None:
        """Let go of the files, as they are."""
        self.faults.dead = True
        with suppress(SemanticMemoryError, PowerCut):
            self.closed()

    # ---------------------------------------------------------------- requests

    def observe(self, memory: SemanticMemory) -> str:
        user, session = self.rng.choice(USERS), self.rng.choice(SESSIONS)
        messages, words = [], []
        for _ in range(self.rng.randint(1, 3)):
            coined = [self.model.coin(user, session) for _ in range(self.rng.randint(1, 2))]
            self.said += 1
            text = " ".join(f"The {word} of {word}." for word in coined)
            text += "" if self.rng.random() < 0.8 else " " + "so it goes " * 200
            messages.append(Message(id=f"m{self.said}", role="user", content=text))
            words += coined
        memory.observe(messages, user_id=user, session_id=session)
        self.model.become(words, State.KEPT)
        return f"{user} {session} {words}"

    def turn(self, memory: SemanticMemory) -> str:
        user, name = self.rng.choice(USERS), self.rng.choice(SESSIONS)
        session = self.session(memory, user, name)
        coined = [self.model.coin(user, name) for _ in range(self.rng.randint(1, 3))]
        text = " ".join(f"The {word} of {word}." for word in coined)
        session.push(user=text, assistant="so it goes " * self.rng.choice([1, 60]))
        self.model.become(coined, State.KEPT)
        with suppress(PromptTooLongError):  # a long message is the present turn
            shown = session.payload("And then?")
            self.model.shown((str(message) for message in shown), user)
        return f"{user} {name} {coined}"

    def save(self, memory: SemanticMemory) -> str:
        user, name = self.rng.choice(USERS), self.rng.choice(SESSIONS)
        kept = self.session(memory, user, name).checkpoint("task", Task)
        word = self.model.coin(user, name)
        self.model.saving(user, name, word)
        kept.save(Task(word=word))
        self.model.saved(user, name, word)
        return f"{user} {name} {word}"

    def clear(self, memory: SemanticMemory) -> str:
        user, name = self.rng.choice(USERS), self.rng.choice(SESSIONS)
        self.model.saving(user, name, None)
        self.session(memory, user, name).checkpoint("task", Task).clear()
        self.model.saved(user, name, None)
        return f"{user} {name}"

    def add(self, memory: SemanticMemory) -> str:
        user = self.rng.choice(USERS)
        word = self.model.coin(user)
        fact = memory.add(f"{word} {word}", user_id=user)
        self.facts[fact.id] = (user, [word])
        self.model.become([word], State.KEPT)
        return f"{user} {word}"

    def update(self, memory: SemanticMemory) -> str | None:
        if not self.facts:
            return None
        fact_id = self.rng.choice(sorted(self.facts))
        user, words = self.facts[fact_id]
        word = self.model.coin(user)
        self.model.become(words, State.OPEN)
        self.facts[fact_id] = (user, [*words, word])
        memory.update(fact_id, content=f"{word} {word}")
        self.model.become([word], State.KEPT)
        return f"{user} {words} -> {word}"

    def delete(self, memory: SemanticMemory) -> str | None:
        if not self.facts:
            return None
        fact_id = self.rng.choice(sorted(self.facts))
        user, words = self.facts.pop(fact_id)
        self.model.become(words, State.OPEN)
        memory.delete(fact_id)
        self.model.become(words, State.GONE)
        return f"{user} {words}"

    def delete_derived(self, memory: SemanticMemory) -> str | None:
        user = self.rng.choice(USERS)
        listed = [fact for fact in memory.list(user_id=user, limit=None) if self._said(fact)]
        if not listed:
            return None
        fact = self.rng.choice(sorted(listed, key=lambda fact: fact.content))
        words = in_text(fact.content)
        self.model.become(words, State.OPEN)
        memory.delete(fact.id)
        self.model.become(words, State.GONE)
        return f"{user} {fact.category} {words}"

    def _said(self, fact: Fact) -> bool:
        """Return False for a fact that was added, or whose words were damaged on the disk."""
        known = [self.model.words.get(word) for word in in_text(fact.content)]
        return all(word is not None and word.session for word in known)

    def forget_query(self, memory: SemanticMemory) -> str | None:
        user = self.rng.choice(USERS)
        kept = self.model.kept(user)
        if not kept:
            return None
        word = self.rng.choice(kept)
        self.model.become([word], State.OPEN)
        self._lose_facts([word])
        memory.forget(user_id=user, query=word)
        self.model.become([word], State.GONE)
        return f"{user} {word}"

    def forget_session(self, memory: SemanticMemory) -> str:
        user, session = self.rng.choice(USERS), self.rng.choice(SESSIONS)
        words = self.model.among(user, session)
        self.model.become(words, State.OPEN)
        self.model.saving(user, session, None)
        memory.forget(user_id=user, session_id=session)
        self.model.become(words, State.GONE)
        self.model.saved(user, session, None)
        return f"{user} {session}"

    def forget_user(self, memory: SemanticMemory) -> str:
        user = self.rng.choice(USERS)
        words = self.model.among(user)
        self.model.become(words, State.OPEN)
        self._lose_facts(words)
        for session in SESSIONS:
            self.model.saving(user, session, None)
        memory.forget(user_id=user, everything=True)
        self.model.become(words, State.GONE)
        for session in SESSIONS:
            self.model.saved(user, session, None)
        return user

    def _lose_facts(self, words: Sequence[str]) -> None:
        self.facts = {
            key: (user, own) for key, (user, own) in self.facts.items() if not {*own} & {*words}
        }

    def compact(self, memory: SemanticMemory) -> str | None:
        (run,) = memory.jobs.run(["compact"])
        # A line that is damaged, as it is read, can't be recognised as forgotten.
        if run.error is None and not self.faults.weather.rot:
            self.model.erased(self.disk.files())
        return run.error

    def flush(self, memory: SemanticMemory) -> None:
        memory.flush()

    def search(self, memory: SemanticMemory) -> None:
        self.model.compare(memory, USERS, strict=False)

    def reopen(self, memory: SemanticMemory) -> None:
        self.closed()

    def jump(self, memory: SemanticMemory) -> str:
        hours = self.rng.choice([-24 * 400, -24, -1, 1, 24, 24 * 30, 24 * 400])
        self.clock.advance(hours=hours)
        return f"{timedelta(hours=hours)}"


_ENDINGS = ("bit_flips", "disk_lies", "ledger_lost", "reads_rot")
_WEIGHTS = {
    "observe": 6,
    "turn": 3,
    "save": 2,
    "clear": 0.3,
    "add": 4,
    "update": 3,
    "delete": 2,
    "delete_derived": 2,
    "forget_query": 2,
    "forget_session": 1,
    "forget_user": 0.5,
    "compact": 2,
    "flush": 4,
    "search": 1,
    "reopen": 2,
    "jump": 2,
}
