// A user's requests to forget that await a decision, above the list of sessions.

import { html, useState } from "../vendor/htm-preact-3.1.1.js";
import { api } from "../api.js";
import { useAction, useLoaded } from "../loading.js";
import { Dialog, Failed, Loaded, When, plural } from "../parts.js";
import { href } from "../routing.js";

const SHOWN = 10;
const title = ({ scope, subject }) => (scope === "everything" ? "everything" : `“${subject}”`);
const wanted = ({ scope, subject }) => (scope === "everything" ? { everything: true } : { query: subject });

export function Requests({ user, may }) {
  const loaded = useLoaded((signal) => api.requests(user, signal), [user]);
  const [asking, setAsking] = useState(null);
  const pending = (loaded.value?.items ?? []).filter((one) => one.state === "pending");
  if (!pending.length) return null;
  return html`
    <section class="card" aria-labelledby="requests">
      <h2 id="requests">Requests to forget</h2>
      <ul class="plain">
        ${pending.map(
          (one) => html`
            <li key=${one.id}>
              ${title(one)}, asked <${When} at=${one.asked_at} dayOnly /> in${" "}
              <a href=${href("sessions", { user }, one.session_id)}>${one.session_id}</a>
              ${may("write") && html`<button type="button" onClick=${() => setAsking(one)}>Decide</button>`}
            </li>
          `,
        )}
      </ul>
      ${asking &&
      html`<${Decide}
        user=${user}
        request=${asking}
        close=${() => setAsking(null)}
        done=${() => {
          setAsking(null);
          loaded.reload();
        }}
      />`}
    </section>
  `;
}

function Decide({ user, request, close, done }) {
  const shown = useLoaded(
    (signal) => api.forget({ user_id: user, ...wanted(request), dry_run: true }, signal),
    [request.id],
  );
  const acting = useAction();
  const answer = (given) =>
    acting.run(async () => {
      await api.settle({ user_id: user, request_id: request.id, answer: given });
      done();
    });
  return html`
    <${Dialog} title=${`Forget ${title(request)}?`} onClose=${close}>
      <${Loaded} loaded=${shown}>
        ${({ forgotten, memories, sentences }) => html`
          <p>
            ${plural(forgotten, "memory", "memories")} and ${plural(sentences.length, "sentence")} of messages would
            go permanently.
          </p>
          <ul>
            ${memories.slice(0, SHOWN).map((fact) => html`<li key=${fact.id}>${fact.content}</li>`)}
            ${sentences.slice(0, SHOWN).map((one, place) => html`<li key=${place}>${one}</li>`)}
          </ul>
        `}
      <//>
      ${acting.error && html`<${Failed} error=${acting.error} />`}
      <div class="actions">
        <button type="button" onClick=${close}>Cancel</button>
        <button type="button" disabled=${acting.busy} onClick=${() => answer("decline")}>Decline</button>
        <button type="button" class="bad" disabled=${acting.busy || !shown.value} onClick=${() => answer("forget")}>
          Forget
        </button>
      </div>
    <//>
  `;
}
