import { html, useEffect, useState } from "../vendor/htm-preact-3.1.1.js";
import { api, apiKey } from "../api.js";
import { inspection } from "../inspection.js";
import { useAction, useLoaded } from "../loading.js";
import { Dialog, Empty, Failed, Field, Loaded, When, plural } from "../parts.js";
import { href } from "../routing.js";

const RIGHTS = {
  read: "see memories",
  write: "add, change and forget them",
  admin: "run jobs, manage keys, see counts of the whole store",
};
const allowed = (rights) => Object.keys(RIGHTS).filter((one) => rights.includes(one)).join(", ");
const REPLAY_MS = 1500;

export function Keys({ may, caller }) {
  if (!may("admin")) {
    return html`
      <h1 tabindex="-1">Keys and webhook</h1>
      <${Empty} title="Not with this key">
        Managing keys needs a key with the right to admin. This one may ${allowed(caller.rights)}.
      <//>
    `;
  }
  return html`
    <h1 tabindex="-1">Keys and webhook</h1>
    <p class="muted">A key opens the <a href=${href("rest")}>REST routes</a> of the service.</p>
    <${KeyList} caller=${caller} />
    ${caller.users.includes("*") && html`<${Webhook} />`}
  `;
}

const words = (text) => text.split(/[\s,]+/).filter(Boolean);

function KeyList({ caller }) {
  const loaded = useLoaded((signal) => api.keys(signal), []);
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState(null);
  const [revoking, setRevoking] = useState(null);
  const [said, setSaid] = useState("");
  const first = !apiKey.get();
  return html`
    <section aria-labelledby="keys">
      <div class="headline">
        <h2 id="keys">API keys</h2>
        <button type="button" class="primary" onClick=${() => setMaking(true)}>Make a key…</button>
      </div>
      ${first &&
      html`<p class="muted">
        No key is needed yet, as only programs of this machine reach the service. Once there is one, every request needs one.
      </p>`}
      <p class="summary" role="status">${said}</p>
      <${Loaded} loaded=${loaded}>
        ${({ items }) =>
          items.length
            ? html`<${Table} items=${items} revoke=${setRevoking} />`
            : html`<${Empty} title="No keys yet">A key says whose memory a program may see and change.<//>`}
      <//>
    </section>
    ${making &&
    html`<${Make}
      caller=${caller}
      first=${first}
      close=${() => setMaking(false)}
      done=${(found) => {
        setMaking(false);
        setMade({ ...found, first }); // there is a key now, so that later it isn't told
        if (first) apiKey.set(found.token); // else the page would be shut out by its own key
        loaded.reload();
      }}
    />`}
    ${made &&
    html`<${Token}
      stored=${made.key}
      token=${made.token}
      first=${made.first}
      close=${() => {
        setMade(null);
        if (made.first) location.reload();
      }}
    />`}
    ${revoking &&
    html`<${Revoke}
      one=${revoking}
      close=${() => setRevoking(null)}
      done=${() => {
        setSaid(`The key “${revoking.name}” is revoked.`);
        setRevoking(null);
        loaded.reload();
      }}
    />`}
  `;
}

const reach = ({ users, agent_id, spaces }) =>
  [
    users.map((one) => (one === "*" ? "every user" : one)).join(", "),
    agent_id && `agent ${agent_id} only`,
    spaces.length && `may read ${spaces.join(", ")}`,
  ].filter(Boolean).join("; ");

const Table = ({ items, revoke }) => html`
  <div class="card listing">
    <table>
      <caption class="hidden">API keys, oldest first</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Users</th>
          <th scope="col" class="wide-only">May</th>
          <th scope="col" class="wide-only">Made</th>
          <th scope="col"><span class="hidden">Revoke</span></th>
        </tr>
      </thead>
      <tbody>
        ${items.map(
          (one) => html`
            <tr key=${one.id}>
              <td>
                <b>${one.name || "without a name"}</b> ${one.own && html`<span class="badge">this tab's</span>`}
                <span class="meta"><code>${one.id}</code><span class="narrow-only">${allowed(one.rights)}</span></span>
              </td>
              <td>${reach(one)}</td>
              <td class="wide-only">${allowed(one.rights)}</td>
              <td class="wide-only when"><${When} at=${one.created_at} dayOnly /></td>
              <td class="right"><button type="button" class="bad" aria-label=${`Revoke ${one.name}`} onClick=${() => revoke(one)}>Revoke…</button></td>
            </tr>
          `,
        )}
      </tbody>
    </table>
  </div>
`;

function Make({ caller, first, close, done }) {
  const [form, setForm] = useState({ name: "", users: first ? "*" : "", agent: "", spaces: "" });
  const [rights, setRights] = useState(new Set(first ? caller.rights : ["read", "write"].filter((one) => caller.rights.includes(one))));
  const making = useAction();
  const set = (name) => (event) => setForm({ ...form, [name]: event.target.value });
  const toggle = (right) => {
    const now = new Set(rights);
    if (!now.delete(right)) now.add(right);
    setRights(now);
  };
  const submit = (event) => {
    event.preventDefault();
    making.run(async () => {
      done(
        await api.makeKey({
          name: form.name.trim(),
          users: words(form.users),
          rights: [...rights],
          agent_id: form.agent.trim() || null,
          spaces: words(form.spaces),
        }),
      );
    });
  };
  return html`
    <${Dialog} title="Make a key" onClose=${close}>
      <form onSubmit=${submit}>
        <${Field} label="Name of the program or person that will hold it">
          <input required maxlength="128" autocomplete="off" value=${form.name} onInput=${set("name")} />
        <//>
        <${Field} label="Users: ids, beginnings like team-*, or * for every user">
          <input required autocomplete="off" spellcheck="false" value=${form.users} onInput=${set("users")} />
        <//>
        <fieldset class="choices">
          <legend>It may</legend>
          ${Object.entries(RIGHTS).map(
            ([right, about]) => html`<label key=${right} class="choice">
              <input type="checkbox" checked=${rights.has(right)} disabled=${!caller.rights.includes(right)} onChange=${() => toggle(right)} />
              <span><b>${right}</b> <span class="muted">${about}</span></span>
            </label>`,
          )}
        </fieldset>
        <details>
          <summary>Narrower, or shared</summary>
          <${Field} label="Only the memories of this agent">
            <input autocomplete="off" spellcheck="false" value=${form.agent} onInput=${set("agent")} />
          <//>
          <${Field} label="Further users, such as a team, whose memory it may only read">
            <input autocomplete="off" spellcheck="false" value=${form.spaces} onInput=${set("spaces")} />
          <//>
        </details>
        ${first && html`<p>It is the first key: from then on every request needs one, this page's too. This tab goes on with the new key.</p>`}
        ${making.error && html`<${Failed} error=${making.error} />`}
        <div class="actions">
          <button type="button" onClick=${close}>Cancel</button>
          <button type="submit" class="primary" disabled=${making.busy || !rights.size}>Make the key</button>
        </div>
      </form>
    <//>
  `;
}

function Token({ stored, token, first, close }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(token);
    setCopied(true);
  };
  return html`
    <${Dialog} title=${`The key of ${stored.name}`} onClose=${close}>
      <p>It is shown this once. Keep it where its holder finds it, and nobody else.</p>
      <pre class="receipt" tabindex="0" aria-label="The key">${token}</pre>
      ${first && html`<p>This tab has it until it is closed.</p>`}
      <div class="actions">
        <button type="button" onClick=${copy}>${copied ? "Copied" : "Copy"}</button>
        <button type="button" class="primary" onClick=${close}>Done</button>
      </div>
    <//>
  `;
}

function Revoke({ one, close, done }) {
  const acting = useAction();
  const revoke = () =>
    acting.run(async () => {
      await api.revokeKey(one.id);
      done();
    });
  return html`
    <${Dialog} title=${`Revoke the key “${one.name}”?`} onClose=${close}>
      <p>Whoever holds it is refused from the next request on. It can't be brought back.</p>
      ${one.own && html`<p class="refused">It is the key of this tab, which then asks for another one.</p>`}
      ${acting.error && html`<${Failed} error=${acting.error} />`}
      <div class="actions">
        <button type="button" onClick=${close}>Cancel</button>
        <button type="button" class="bad" disabled=${acting.busy} onClick=${revoke}>Revoke</button>
      </div>
    <//>
  `;
}

function Webhook() {
  const loaded = useLoaded((signal) => inspection.webhook(signal), []);
  const [said, setSaid] = useState("");
  const replaying = loaded.value?.replaying ?? 0;
  useEffect(() => {
    if (!replaying || !loaded.value?.configured || loaded.loading) return undefined;
    const soon = setTimeout(loaded.reload, REPLAY_MS);
    return () => clearTimeout(soon);
  }, [replaying, loaded.loading]);
  const done = (what) => {
    setSaid(what);
    loaded.reload();
  };
  return html`
    <section aria-labelledby="webhook">
      <h2 id="webhook">Webhook</h2>
      <p class="summary" role="status">${said}</p>
      <${Loaded} loaded=${loaded}>
        ${(state) => html`<${Deliveries} ...${state} done=${done} />`}
      <//>
    </section>
  `;
}

function Deliveries({ configured, kinds, delivered, latest, disabled, replaying, dead, done }) {
  const acting = useAction();
  const again = () =>
    acting.run(async () => {
      await api.maintain({ jobs: ["redeliver"] });
      done(dead.length ? `${plural(dead.length, "event")} will be sent again.` : "Deliveries go on.");
    });
  return html`
    ${configured
      ? html`<div class="card">
          <p>
            ${disabled
              ? "The address asked for no more events (410): nothing is sent until you send again."
              : delivered === null
                ? "Nothing has been sent yet."
                : delivered >= latest
                  ? "Every change has been dealt with."
                  : `${plural(latest - delivered, "change")} to look at.`}
            ${" "}${kinds.length ? `Sent are: ${kinds.join(", ")}.` : "Changes of every kind are sent."}
          </p>
          <p class="muted small">To end it, take <code>webhook.url</code> out of the settings and start the service again.</p>
        </div>`
      : html`<${Empty} title="No webhook">
          With <code>webhook.url</code> and <code>webhook.secret</code> in the settings, each change is sent to an address of yours.
        <//>`}
    ${(dead.length > 0 || disabled) &&
    html`<div class="headline">
      <h3>${plural(dead.length, "event")} that the address didn't take</h3>
      ${configured &&
      html`<button type="button" disabled=${acting.busy || replaying > 0} onClick=${again}>
        ${replaying ? `Sending ${replaying.toLocaleString()}…` : dead.length ? "Send all again" : "Send again"}
      </button>`}
    </div>`}
    ${acting.error && html`<${Failed} error=${acting.error} />`}
    ${dead.length > 0 && html`<${Dead} dead=${dead} done=${done} />`}
  `;
}

const Dead = ({ dead, done }) => html`
  <ul class="items card" aria-label="Events that were given up">
    ${dead.map(
      ({ letter, event }) => html`
        <li key=${letter.event_id} class="item">
          <div class="told">
            <p>
              ${event
                ? html`${event.kind}${event.memory_id && html`${" "}<a href=${href("memory", { user: event.user_id }, event.memory_id)}>a memory</a>`} of
                  ${" "}<a href=${href("overview", { user: event.user_id })}>${event.user_id}</a>`
                : "an event that isn't kept any more"}
            </p>
            <p class="meta">
              <span>${letter.error}</span><span>tried ${plural(letter.attempts, "time")}, last <${When} at=${letter.at} /></span>
            </p>
          </div>
          <div class="actions"><${Remove} id=${letter.event_id} done=${done} /></div>
        </li>
      `,
    )}
  </ul>
`;

function Remove({ id, done }) {
  const acting = useAction();
  const remove = () =>
    acting.run(async () => {
      await inspection.removeDead(id);
      done("It won't be sent again.");
    });
  return html`
    <button type="button" disabled=${acting.busy} onClick=${remove}>Remove</button>
    ${acting.error && html`<${Failed} error=${acting.error} />`}
  `;
}
