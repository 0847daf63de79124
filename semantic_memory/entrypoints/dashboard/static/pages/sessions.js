import { html, useEffect, useState } from "../vendor/htm-preact-3.1.1.js";
import { api } from "../api.js";
import { Conversation } from "../conversation.js";
import { Forgetting } from "../forgetting.js";
import { useAction, useLoaded } from "../loading.js";
import { Category, Empty, factCategories, Failed, Loaded, NoUser, When, plural } from "../parts.js";
import { go, href } from "../routing.js";
import { Requests } from "./requests.js";

const CHUNK = 200;

export function Sessions({ route, user, may }) {
  if (!user) return html`<h1 tabindex="-1">Sessions</h1><${NoUser} />`;
  return route.id === undefined
    ? html`<${List} user=${user} may=${may} />`
    : html`<${Session} user=${user} id=${route.id} message=${route.params.message} may=${may} />`;
}

function List({ user, may }) {
  const loaded = useLoaded((signal) => api.sessions(user, signal), [user]);
  return html`
    <h1 tabindex="-1">Sessions</h1>
    <${Requests} user=${user} may=${may} />
    <${Loaded} loaded=${loaded}>
      ${({ items }) =>
        items.length
          ? html`
              <p class="summary" aria-live="polite">${plural(items.length, "session")}</p>
              <div class="card listing">
                <table>
                  <caption class="hidden">Sessions, latest first</caption>
                  <thead>
                    <tr>
                      <th scope="col">Session</th>
                      <th scope="col" class="right">Messages</th>
                      <th scope="col" class="wide-only">Facts</th>
                      <th scope="col" class="wide-only">First</th>
                      <th scope="col">Last</th>
                    </tr>
                  </thead>
                  <tbody>
                    ${items.map((item) => html`<${Row} key=${item.session_id} item=${item} user=${user} />`)}
                  </tbody>
                </table>
              </div>
            `
          : html`<${Empty} title="No sessions">Nothing has been said by or to this user yet.<//>`}
    <//>
  `;
}

function Row({ item, user }) {
  const facts = factCategories().filter((name) => item.by_category[name]);
  return html`
    <tr>
      <td class="name">
        <a href=${href("sessions", { user }, item.session_id)}>${item.session_id}</a>
        ${!item.options.extract && html`${" "}<span class="badge">left unread</span>`}
      </td>
      <td class="right">${item.messages.toLocaleString()}</td>
      <td class="wide-only">
        <span class="meta">
          ${facts.map(
            (name) => html`<span key=${name} class="choice"><${Category} name=${name} /> ${item.by_category[name]}</span>`,
          )}
        </span>
      </td>
      <td class="when wide-only"><${When} at=${item.first_at} dayOnly /></td>
      <td class="when"><${When} at=${item.last_at} dayOnly /></td>
    </tr>
  `;
}

// Whether facts are drawn from a conversation, and the way to forget it.
function Keeping({ user, id, may }) {
  const loaded = useLoaded(
    async (signal) => (await api.sessions(user, signal)).items.find((one) => one.session_id === id),
    [user, id],
  );
  const acting = useAction();
  const [forgetting, setForgetting] = useState(false);
  if (!loaded.value || !may("write")) return null;
  const { extract } = loaded.value.options;
  const change = () =>
    acting.run(async () => {
      await api.configure({ user_id: user, session_id: id, extract: !extract });
      loaded.reload();
    });
  return html`
    <p role="status" class="muted">
      ${extract ? "Facts are drawn from what is said here." : "Left unread: no facts are drawn from what is said here, though its messages are found."}
    </p>
    ${acting.error && html`<${Failed} error=${acting.error} />`}
    <div class="actions">
      <button type="button" disabled=${acting.busy} onClick=${change}>${extract ? "Leave unread" : "Read it again"}</button>
      <button type="button" class="bad" onClick=${() => setForgetting(true)}>Forget…</button>
    </div>
    ${forgetting &&
    html`<${Forgetting}
      requests=${[{ session_id: id }]}
      title=${`Forget the conversation ${id}?`}
      user=${user}
      may=${may}
      close=${() => setForgetting(false)}
      done=${() => go(href("sessions", { user }))}
    />`}
  `;
}

function Session({ user, id, message, may }) {
  const loaded = useLoaded(
    async (signal) => {
      const asked = { user_id: user, session_id: id, category: factCategories(), limit: 1000 };
      const [messages, facts] = await Promise.all([
        api.messages(user, id, signal),
        api.memories(asked, signal),
      ]);
      return { messages: messages.items, facts: byMessage(facts.items, id), number: facts.items.length };
    },
    [user, id],
  );
  return html`
    <p class="crumbs"><a href=${href("sessions", { user })}>Sessions</a></p>
    <h1 tabindex="-1">${id}</h1>
    <${Keeping} user=${user} id=${id} may=${may} />
    <${Loaded} loaded=${loaded}>
      ${(value) => html`<${Said} ...${value} message=${message} />`}
    <//>
  `;
}

function Said({ messages, facts, number, message }) {
  const place = messages.findIndex((one) => one.id === message);
  const [shown, setShown] = useState(Math.max(CHUNK, place + 20));
  useEffect(() => {
    if (place >= 0) document.querySelector(`[data-message="${CSS.escape(message)}"]`)?.scrollIntoView();
  }, [message]);
  return html`
    <p class="summary" aria-live="polite">
      ${plural(messages.length, "message")}, ${plural(number, "fact")} from them
    </p>
    <${Conversation}
      messages=${messages.slice(0, shown)}
      facts=${facts}
      marked=${new Set(message ? [message] : [])}
    />
    ${shown < messages.length &&
    html`<div><button type="button" onClick=${() => setShown(shown + CHUNK)}>
      Show more (${messages.length - shown} left)
    </button></div>`}
  `;
}

function byMessage(facts, session) {
  const found = new Map();
  for (const fact of facts) {
    for (const source of [fact.source, ...fact.corroborations]) {
      if (source.session_id !== session) continue;
      for (const id of source.message_ids) found.set(id, [...(found.get(id) ?? []), fact]);
    }
  }
  return found;
}
