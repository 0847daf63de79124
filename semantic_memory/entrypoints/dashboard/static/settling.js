// Memories with what can be done about them at one click.

import { html, useState } from "./vendor/htm-preact-3.1.1.js";
import { api } from "./api.js";
import { inspection, revert, takeBack } from "./inspection.js";
import { useAction } from "./loading.js";
import { Category, Dialog, Failed, MemoryLink, Status, When } from "./parts.js";

const percent = (share) => `${Math.round(100 * share)} %`;

// Why a newer statement ended a memory, or perhaps changed it.
export function Why({ cause }) {
  if (!cause) return null;
  const sure = cause.probability === null ? "" : `, ${percent(cause.probability)} sure`;
  const who = cause.decided_by === "caller" ? "a person" : cause.decided_by;
  return html`<div class="why">
    ${cause.quote && html`<q dir="auto">${cause.quote}</q>`}
    <small>${cause.reason && `${cause.reason} – `}decided by ${who}${sure}</small>
  </div>`;
}

// A button that does something and says so; what fails is shown beside it.
export function Act({ label, say, act, done, kind = "" }) {
  const acting = useAction();
  const run = () =>
    acting.run(async () => {
      await act();
      done(say);
    });
  return html`
    <button type="button" class=${kind} disabled=${acting.busy} onClick=${run}>${label}</button>
    ${acting.error && html`<${Failed} error=${acting.error} />`}
  `;
}

export function ForgetOne({ fact, done }) {
  const [asking, setAsking] = useState(false);
  const acting = useAction();
  const forget = () =>
    acting.run(async () => {
      await api.remove(fact.id, fact.user_id, "");
      setAsking(false);
      done("Forgotten, for good.");
    });
  return html`
    <button type="button" onClick=${() => setAsking(true)}>Forget…</button>
    ${asking &&
    html`<${Dialog} title="Forget this memory?" onClose=${() => setAsking(false)}>
      <blockquote dir="auto">${fact.content}</blockquote>
      <p>It goes from every answer, with the sentence it was drawn from, and can't come back.</p>
      ${acting.error && html`<${Failed} error=${acting.error} />`}
      <div class="actions">
        <button type="button" onClick=${() => setAsking(false)}>Cancel</button>
        <button type="button" class="bad" disabled=${acting.busy} onClick=${forget}>Forget</button>
      </div>
    <//>`}
  `;
}

const settle = (answer, older, newer) => () =>
  api.settleLink(answer, older.id, newer.id, older.user_id, "");

export const Links = ({ older, newer, done }) => html`
  <${Act} label="It changed" say="Accepted: the older one has ended." act=${settle("accept", older, newer)} done=${done} />
  <${Act} label="Both hold" say="Both stay, and are kept apart." act=${settle("reject", older, newer)} done=${done} />
`;

export const TakeBack = ({ fact, done, label = "Undo" }) => html`
  <${Act} label=${label} say="Taken back: it is believed again." act=${() => takeBack(fact)} done=${done} />
`;

export const StillSo = ({ fact, done }) => html`
  <${Act}
    label="Still so"
    say="Confirmed."
    act=${() =>
      inspection.add({
        user_id: fact.user_id,
        content: fact.content,
        category: fact.category,
        agent_id: fact.agent_id ?? undefined,
        run_id: fact.run_id ?? undefined,
      })}
    done=${done}
  />
`;

export const Revert = ({ fact, version, done }) => html`
  <${Act} label="Undo" say="Taken back: it is as it was before." act=${() => revert(fact, version)} done=${done} />
`;

// One memory in a list: its text, what came in its place, when, why, and what to do about it.
export function Item({ fact, newer, at, note, cause, children }) {
  return html`
    <li class="item">
      <div class="told">
        <p dir="auto"><${MemoryLink} fact=${fact} /></p>
        ${newer && html`<p class="next" dir="auto"><span class="muted">now </span><${MemoryLink} fact=${newer} /></p>`}
        <p class="meta">
          <${Category} name=${fact.category} /> <${Status} name=${fact.status} />
          ${at && html`<${When} at=${at} />`} ${note && html`<span>${note}</span>`}
        </p>
        <${Why} cause=${cause} />
      </div>
      ${children && html`<div class="actions">${children}</div>`}
    </li>
  `;
}

// A memory that perhaps changed, or that nobody has stated for long, with what settles it.
export const Unsettled = ({ fact, newer, cause, may, done }) => html`
  <${Item}
    fact=${fact}
    newer=${newer}
    at=${cause?.at ?? fact.created_at}
    cause=${cause}
    note=${cause ? "" : "not said again for half a year"}
  >
    ${may("write") &&
    (newer
      ? html`<${Links} older=${fact} newer=${newer} done=${done} />`
      : html`<${StillSo} fact=${fact} done=${done} /><${ForgetOne} fact=${fact} done=${done} />`)}
  <//>
`;
