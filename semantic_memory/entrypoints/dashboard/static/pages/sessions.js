import { html, useEffect, useState } from "../vendor/htm-preact-3.1.1.js";
import { api } from "../api.js";
import { Conversation } from "../conversation.js";
import { useLoaded } from "../loading.js";
import { Category, Empty, factCategories, Loaded, NoUser, When, plural } from "../parts.js";
import { href } from "../routing.js";
import { Requests } from "./requests.js";

const CHUNK = 200;

export function Sessions({ route, user, may }) {
  if (!user) return html`<h1 tabindex="-1">Sessions</h1><${NoUser} />`;
  return route.id === undefined
    ? html`<${List} user=${user} may=${may} />`
    : html`<${Session} user=${user} id=${route.id} message=${route.params.message} />`;
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
      <td><a href=${href("sessions", { user }, item.session_id)}>${item.session_id}</a></td>
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

function Session({ user, id, message }) {
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
