import { html, useEffect, useState } from "../vendor/htm-preact-3.1.1.js";
import { api } from "../api.js";
import { inspection } from "../inspection.js";
import { useLoaded } from "../loading.js";
import { Loaded, NoUser, When, bytes, plural, rounded } from "../parts.js";
import { href } from "../routing.js";
import { ForgetOne, Item, Links, Revert, TakeBack, Unsettled } from "../settling.js";
import { Running, useRuns } from "../running.js";
import { Waiting } from "../waiting.js";
import { Requests } from "./requests.js";

const PERIODS = [["1", "Today"], ["7", "This week"], ["30", "This month"]];
const GROUPS = [
  ["learnt", "Learnt"],
  ["changed", "Changed"],
  ["ended", "Ended"],
  ["marked", "Perhaps changed"],
  ["archived", "Faded or merged"],
  ["quarantined", "Set aside as unsafe"],
  ["forgotten", "Forgotten"],
];
const SHOWN = 5;
const AT_FIRST = 25; // of each group
const MOST = 200; // that the service lists
const MOST_UNSURE = 100;
// The status by which the memories of a group are listed.
const STATUS = { ended: "superseded", archived: "archived", quarantined: "quarantined", forgotten: "forgotten" };
const EMPTY_MS = 3000;
const LATEST = 40; // samples: ten minutes
const SMALL = 50_000_000; // bytes of a store that is checked without being asked to

export function Overview({ route, user, may, caller }) {
  const days = route.params.days ?? "7";
  const everyone = may("admin");
  const users = useLoaded(everyone && ((signal) => inspection.activity(7, signal)), []);
  const empty = everyone && users.value?.items.length === 0;
  const beginning = useLoaded(empty && (async () => (await import("../beginning.js")).Beginning), [empty]);
  useEffect(() => {
    if (!empty) return undefined;
    const soon = setInterval(users.reload, EMPTY_MS); // the first user shows up by itself
    return () => clearInterval(soon);
  }, [empty]);
  return html`
    <h1 tabindex="-1">Overview</h1>
    ${!everyone && !user && html`<${NoUser} />`}
    ${empty && beginning.value && html`<${beginning.value} may=${may} done=${users.reload} />`}
    ${everyone && !empty &&
    html`<${Loaded} loaded=${users} what="Looking for users">
      ${({ items }) => html`<${Users} items=${items} user=${user} caller=${caller} />`}
    <//>`}
    ${user && html`<${Changes} key=${`${user}/${days}`} user=${user} days=${days} may=${may} />`}
    ${everyone && !empty && html`<${Store} may=${may} caller=${caller} />`}
  `;
}

function Users({ items, user }) {
  const [sought, setSought] = useState("");
  const [all, setAll] = useState(false);
  const found = items.filter((one) => one.user_id.toLowerCase().includes(sought.toLowerCase()));
  const shown = all || sought ? found.slice(0, 200) : found.slice(0, SHOWN);
  return html`
    <section aria-labelledby="users-title">
      <div class="headline">
        <h2 id="users-title">${plural(items.length, "user")}, the most recently active first</h2>
        ${items.length > SHOWN &&
        html`<input type="search" aria-label="Find a user" placeholder="Find a user" value=${sought} onInput=${(event) => setSought(event.target.value)} />`}
      </div>
      <div class="card listing">
        <table>
          <caption class="hidden">Users</caption>
          <thead>
            <tr>
              <th scope="col">User</th>
              <th scope="col" class="right">Changes<span class="wide-only"> this week</span></th>
              <th scope="col">Last change</th>
              <th scope="col" class="wide-only">Waiting</th>
            </tr>
          </thead>
          <tbody>
            ${shown.map(
              (one) => html`
                <tr key=${one.user_id} aria-current=${one.user_id === user ? "true" : undefined}>
                  <td><a href=${href("overview", { user: one.user_id })}>${one.user_id}</a></td>
                  <td class="right">${one.changes.toLocaleString()}</td>
                  <td class="when">${one.last_at ? html`<${When} at=${one.last_at} dayOnly />` : html`<span class="muted">not this week</span>`}</td>
                  <td class="wide-only">${one.waiting ? plural(one.waiting, "conversation") : "–"}</td>
                </tr>
              `,
            )}
          </tbody>
        </table>
      </div>
      ${!all && !sought && found.length > SHOWN &&
      html`<div><button type="button" onClick=${() => setAll(true)}>Show all ${found.length.toLocaleString()}</button></div>`}
    </section>
  `;
}

function Changes({ user, days, may }) {
  const [said, setSaid] = useState("");
  const [limit, setLimit] = useState(AT_FIRST);
  const loaded = useLoaded((signal) => inspection.changes(user, days, limit, signal), [user, days, limit]);
  const unsure = useLoaded((signal) => inspection.toConfirm(user, MOST_UNSURE, signal), [user]);
  const done = (what) => {
    setSaid(what);
    loaded.reload();
    unsure.reload();
  };
  return html`
    <section aria-labelledby="changed-title">
      <div class="headline">
        <h2 id="changed-title">What changed for ${user}</h2>
        <p class="tabs" role="group" aria-label="Period">
          ${PERIODS.map(
            ([value, name]) => html`<a
              key=${value}
              href=${href("overview", { user, days: value })}
              aria-current=${value === days ? "true" : undefined}
            >${name}</a>`,
          )}
        </p>
      </div>
      <p class="summary" role="status">${said}</p>
      <${Loaded} loaded=${loaded} what="Looking for changes">
        ${(value) => html`<${Groups} ...${value} may=${may} done=${done} user=${user} more=${() => setLimit(MOST)} />`}
      <//>
    </section>
    <${Requests} user=${user} may=${may} />
    <${Loaded} loaded=${unsure}>
      ${({ items }) => html`<${ToConfirm} items=${items} may=${may} done=${done} user=${user} />`}
    <//>
  `;
}

function Groups({ counts, items, may, done, user, more }) {
  const present = GROUPS.filter(([name]) => counts[name]);
  if (!present.length) {
    return html`<p class="muted">
      Nothing in this period. <a href=${href("memories", { user })}>All memories of ${user}</a>
    </p>`;
  }
  return html`
    <ul class="tiles" aria-label="Number of changes">
      ${present.map(
        ([name, title]) => html`<li key=${name}><b>${counts[name].toLocaleString()}</b> ${title.toLowerCase()}</li>`,
      )}
    </ul>
    <div class="groups">
      ${present.map(
        ([name, title]) => html`<${Group}
          key=${name}
          name=${name}
          title=${title}
          count=${counts[name]}
          items=${items.filter((one) => one.group === name)}
          may=${may}
          done=${done}
          user=${user}
          more=${more}
        />`,
      )}
    </div>
  `;
}

function Group({ name, title, count, items, may, done, user, more }) {
  const [all, setAll] = useState(false);
  const present = items.filter((one) => one.fact || name === "forgotten"); // others are forgotten
  const shown = all ? present : present.slice(0, SHOWN);
  const cut = Math.min(count, MOST) - items.length;
  const rest = present.length - shown.length + cut;
  const open = () => {
    setAll(true);
    if (cut > 0) more();
  };
  return html`
    <section class="card" aria-labelledby=${`group-${name}`}>
      <h3 id=${`group-${name}`}>${title} <span class="muted">${count.toLocaleString()}</span></h3>
      <ul class="items">
        ${shown.map((one) =>
          one.fact
            ? html`<${Item} key=${one.event.id} fact=${one.fact} newer=${one.newer} at=${one.event.at} cause=${causeOf(one)} note=${noteOf(one)}>
                ${may("write") && html`<${Undo} one=${one} done=${done} />`}
              <//>`
            : html`<li key=${one.event.id} class="item">
                <p class="muted">
                  Forgotten on <${When} at=${one.event.at} />${one.event.reason && `: ${one.event.reason}`}. It can't come back.
                </p>
              </li>`,
        )}
      </ul>
      ${!all && rest > 0 && html`<div><button type="button" class="quiet" onClick=${open}>Show ${rest} more</button></div>`}
      ${all && count > MOST && html`<p class="muted">These are the latest. <a href=${href("memories", { user, status: STATUS[name] })}>All of ${user}</a></p>`}
    </section>
  `;
}

const causeOf = ({ group, fact }) =>
  group === "ended" ? fact.ended_by : group === "marked" ? fact.perhaps_changed.at(-1) : null;
const noteOf = ({ group, event }) =>
  group === "changed" && event.action !== "updated" ? event.action : "";

// What takes a change back, if it still stands.
function Undo({ one, done }) {
  const { group, fact, newer, event } = one;
  switch (group) {
    case "learnt":
      return fact.status === "active" && html`<${ForgetOne} fact=${fact} done=${done} />`;
    case "changed":
      return (
        event.action === "updated" &&
        event.version === fact.version &&
        html`<${Revert} fact=${fact} version=${event.version} done=${done} />`
      );
    case "ended":
      return fact.status === "superseded" && html`<${TakeBack} fact=${fact} done=${done} />`;
    case "marked":
      return newer && fact.perhaps_changed.length > 0 && html`<${Links} older=${fact} newer=${newer} done=${done} />`;
    case "archived":
      return fact.status === "archived" && html`<${TakeBack} fact=${fact} done=${done} label="Bring back" />`;
    case "quarantined":
      return (
        fact.status === "quarantined" &&
        html`<${TakeBack} fact=${fact} done=${done} label="It is safe" /><${ForgetOne} fact=${fact} done=${done} />`
      );
    default:
      return null;
  }
}

function ToConfirm({ items, may, done, user }) {
  const [all, setAll] = useState(false);
  if (!items.length) return null;
  const shown = all ? items : items.slice(0, SHOWN);
  return html`
    <section class="card" aria-labelledby="confirm-title">
      <h2 id="confirm-title">To confirm <span class="muted">${items.length}${items.length < MOST_UNSURE ? "" : " or more"}</span></h2>
      <ul class="items">
        ${shown.map(
          (one) => html`<${Unsettled} key=${`${one.fact.id}/${one.newer?.id}`} ...${one} may=${may} done=${done} />`,
        )}
      </ul>
      ${items.length > shown.length &&
      html`<div><button type="button" class="quiet" onClick=${() => setAll(true)}>Show ${items.length - shown.length} more</button></div>`}
      ${all && items.length === MOST_UNSURE && html`<p class="muted">These are the latest. <a href=${href("beliefs", { user, view: "unsure" })}>All to confirm</a></p>`}
    </section>
  `;
}

// What waits, how much is kept, and whether the store is sound.
function Store({ may, caller }) {
  const stats = useLoaded((signal) => inspection.stats(signal), []);
  const { running } = useRuns(caller.users.includes("*"));
  return html`
    <section aria-labelledby="store-title">
      <h2 id="store-title">The store</h2>
      <div class="gallery">
        <${Waiting} may=${may}>
          ${running.map((run) => html`<${Running} key=${run.job} run=${run} />`)}
        <//>
        <div class="card">
          <h3>Kept</h3>
          <${Loaded} loaded=${stats}>
            ${(value) => html`<p>
              ${plural(value.memories, "memory", "memories")} of ${plural(value.users, "user")} from
              ${" "}${plural(value.sessions, "conversation")}, ${bytes(value.store_bytes)} on the disk.
            </p>`}
          <//>
          <${Speed} />
        </div>
        <div class="card">
          <h3>Health</h3>
          ${stats.value && html`<${Health} at_once=${stats.value.store_bytes < SMALL} />`}
        </div>
      </div>
    </section>
  `;
}

// How fast the service answered of late, from the latest sample with any request.
function Speed() {
  const { value } = useLoaded((signal) => api.samples(LATEST, signal), []);
  const last = value?.items.findLast((one) => one.p50_ms !== null);
  return html`<p>
    ${last && `Of the last requests, half were answered within ${rounded(last.p50_ms)} ms, 95 of 100 within ${rounded(last.p95_ms)} ms. `}
    <a href=${href("metrics")}>Speed and load</a>
  </p>`;
}

function Health({ at_once }) {
  const [wanted, setWanted] = useState(at_once);
  const checked = useLoaded(wanted && ((signal) => inspection.check(signal)), [wanted]);
  if (!wanted) return html`<button type="button" onClick=${() => setWanted(true)}>Check the store</button>`;
  return html`
    <${Loaded} loaded=${checked} what="Checking">
      ${({ items }) => {
        const bad = items.filter((one) => !one.ok);
        return html`
          <p>${bad.length ? plural(bad.length, "problem") : `Sound: ${plural(items.length, "check")} passed.`}</p>
          <ul class="plain">
            ${bad.map((one) => html`<li key=${one.check}><b>${one.check}</b>: ${one.detail}${one.remedy && html` <code>${one.remedy}</code>`}</li>`)}
          </ul>
          <details>
            <summary>All checks</summary>
            <ul class="plain small">
              ${items.map((one, place) => html`<li key=${place}>${one.ok ? "✓" : "✗"} ${one.check}: ${one.detail}</li>`)}
            </ul>
          </details>
        `;
      }}
    <//>
  `;
}
