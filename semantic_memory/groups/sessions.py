"""The sessions of users, `memory.sessions`: options, messages, a model's window.

memory.sessions.configure(user_id="maya", session_id="s1", extract=False)
for message in memory.sessions.messages(user_id="maya", session_id="s1"):
    print(message.role, message.content)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semantic_memory.domain.requests import (
    CloseSessionRequest,
    ConfigureSessionRequest,
    CreateSessionRequest,
    LoadSessionRequest,
    MessagesRequest,
    OpenSessionRequest,
    PopRequest,
    SessionsRequest,
)
from semantic_memory.groups.binding import Group, verb

if TYPE_CHECKING:  # it would load the parts of a session
    from semantic_memory.domain.ports import Summarizer
    from semantic_memory.session.parts import Form
    from semantic_memory.session.session import Session


class Sessions(Group):
    """The sessions of a memory's users. Thread-safe."""

    create = verb(CreateSessionRequest.of, lambda use: use.conversations.create)
    load = verb(LoadSessionRequest.of, lambda use: use.conversations.load)
    close = verb(CloseSessionRequest.of, lambda use: use.conversations.close)
    configure = verb(ConfigureSessionRequest.of, lambda use: use.conversations.configure)
    messages = verb(MessagesRequest.of, lambda use: use.conversations.messages)
    pop = verb(PopRequest.of, lambda use: use.conversations.pop)
    list = verb(SessionsRequest.of, lambda use: use.conversations.sessions)

    def open(
        self,
        *,
        user_id: str,
        session_id: str,
        agent_id: str | None = None,
        run_id: str | None = None,
        system_prompt: str = "",
        model: str | None = None,
        window: int | None = None,
        form: Form | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        summarizer: Summarizer | None = None,
        memory_directories: Sequence[Path] | None = None,
    ) -> Session:
        """Open a conversation with a model, which fits its messages into the model's window.

        `model` decides how tokens are counted, how long the window is and which API's messages it
        takes; `window` and `form` override that. `summarizer` replaces that of the settings for
        messages that leave the window. Memory files are read from `memory_directories`,
        by default those of the settings. With `agent_id` or `run_id` it observes and recalls as
        that agent and in that run. A session that is opened again continues where it was. Raises
        ConfigurationError, and SessionClosedError after `close`.
        """
        asked = OpenSessionRequest.of(
            user_id=user_id, session_id=session_id, agent_id=agent_id, run_id=run_id
        )
        return self._parts().open_session.open(
            asked.key,
            scope=asked.scope,
            system_prompt=system_prompt,
            model=model,
            window=window,
            form=form,
            tools=tools,
            summarizer=summarizer,
            memory_directories=memory_directories,
        )
