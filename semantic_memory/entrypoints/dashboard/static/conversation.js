// Messages as they were said.

import { html } from "./vendor/htm-preact-3.1.1.js";
import { MemoryLink, Category, When } from "./parts.js";

// `marked`: ids of messages that stand out; `facts`: by message id, what came of it.
export function Conversation({ messages, marked = new Set(), facts = new Map() }) {
  return html`
    <ol class="conversation">
      ${messages.map(
        (message) => html`
          <li
            key=${message.id}
            class=${`message role-${message.role}${marked.has(message.id) ? " marked" : ""}`}
            data-message=${message.id}
            aria-current=${marked.has(message.id) ? "true" : undefined}
          >
            <p class="meta">
              <b>${message.name ?? message.role}</b> <${When} at=${message.created_at} />
              ${marked.has(message.id) && html`<span class="badge">source</span>`}
            </p>
            <p class="said">${message.content}</p>
            ${facts.has(message.id) &&
            html`<ul class="learned" aria-label="Facts from this message">
              ${facts.get(message.id).map(
                (fact) => html`<li key=${fact.id}><${Category} name=${fact.category} /> <${MemoryLink} fact=${fact} /></li>`,
              )}
            </ul>`}
          </li>
        `,
      )}
    </ol>
  `;
}

// The messages around those with `ids`, in runs: [[message, ...], ...].
export function excerpts(messages, ids, around = 2) {
  const wanted = new Set(ids);
  const near = new Set();
  messages.forEach((message, place) => {
    if (!wanted.has(message.id)) return;
    for (let one = place - around; one <= place + around; one += 1) near.add(one);
  });
  const runs = [];
  messages.forEach((message, place) => {
    if (!near.has(place)) return;
    if (near.has(place - 1) && runs.length) runs[runs.length - 1].push(message);
    else runs.push([message]);
  });
  return runs;
}
