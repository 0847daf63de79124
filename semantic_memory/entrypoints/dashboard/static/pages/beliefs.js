import { html, useState } from "../vendor/htm-preact-3.1.1.js";
import { inspection } from "../inspection.js";
import { useAction, useLoaded } from "../loading.js";
import { Empty, Failed, Further, Loaded, MemoryLink, NoUser, When, plural } from "../parts.js";
import { href } from "../routing.js";
import { TakeBack, Unsettled, Why } from "../settling.js";

const VIEWS = [["timelines", "Timelines"], ["ended", "Ended"], ["unsure", "Perhaps changed"]];
const KINDS = [
  ["slot", "About the user"],
  ["chain", "What replaced what"],
  ["entity", "People, places and things"],
];
const SHOWN = 20;
const AT_FIRST = 100;
const MOST = 1000; // that the service lists

export function Beliefs({ route, user, may }) {
  const view = route.params.view ?? "timelines";
  const [said, setSaid] = useState("");
  return html`
    <h1 tabindex="-1">Beliefs</h1>
    ${!user && html`<${NoUser} />`}
    ${user &&
    html`
      <p class="tabs" role="group" aria-label="View">
        ${VIEWS.map(
          ([name, title]) => html`<a
            key=${name}
            href=${href("beliefs", { user, view: name })}
            aria-current=${name === view ? "true" : undefined}
          >${title}</a>`,
        )}
      </p>
      <p class="summary" role="status">${said}</p>
      ${view === "ended" && html`<${Ended} user=${user} may=${may} say=${setSaid} />`}
      ${view === "unsure" && html`<${Unsure} user=${user} may=${may} say=${setSaid} />`}
      ${view === "timelines" && html`<${Timelines} user=${user} sought=${route.params.name} ...${stretchOf(route.params)} />`}
    `}
  `;
}

const stretchOf = ({ behind, limit }) => ({ behind, limit });

function Timelines({ user, sought = "", behind, limit }) {
  const loaded = useLoaded(
    (signal) => inspection.timelines({ user_id: user, behind, limit }, signal),
    [user, behind, limit],
  );
  const [typed, setTyped] = useState(sought);
  const [all, setAll] = useState(false);
  const wanted = typed.toLowerCase();
  const holds = (one) =>
    one.name.toLowerCase().includes(wanted) || one.facts.some((fact) => fact.content.toLowerCase().includes(wanted));
  return html`
    <${Loaded} loaded=${loaded} what="Laying out">
      ${({ items, since, earlier }) => {
        const stretch = html`<${Stretch} user=${user} behind=${behind} limit=${limit} since=${since} earlier=${earlier} />`;
        if (!items.length) {
          return html`
            <${Empty} title=${behind || earlier ? "No timelines here" : "No timelines yet"}>
              A timeline shows how one thing changed: a home, a job, a person.
            <//>
            ${stretch}
          `;
        }
        const found = wanted ? items.filter(holds) : items;
        return html`
          ${stretch}
          <input type="search" aria-label="Find a timeline" placeholder="home, job, a name" value=${typed} onInput=${(event) => setTyped(event.target.value)} />
          ${KINDS.map(([kind, title]) => {
            const own = found.filter((one) => one.kind === kind);
            const shown = all ? own : own.slice(0, SHOWN);
            return (
              own.length > 0 &&
              html`<section key=${kind} aria-label=${title}>
                <h2>${title}</h2>
                ${shown.map((one) => html`<${Line} key=${one.name} ...${one} />`)}
                ${own.length > shown.length &&
                html`<div><button type="button" onClick=${() => setAll(true)}>Show all ${own.length}</button></div>`}
              </section>`
            );
          })}
        `;
      }}
    <//>
  `;
}

// Which of a user's statements are laid out, if not all of them are, and the way to the others.
function Stretch({ user, behind, limit, since, earlier }) {
  if (!behind && !earlier) return null;
  return html`
    <p class="notice">
      ${behind ? "Older" : "Only the newest"} statements are laid out${since && html`, back to <${When} at=${since} dayOnly />`}.
      ${earlier && html`${" "}<a href=${href("beliefs", { user, behind: earlier, limit })}>Earlier statements</a>`}
      ${behind && html`${" "}<a href=${href("beliefs", { user, limit })}>The newest</a>`}
    </p>
  `;
}

function Line({ kind, name, facts }) {
  const changed = facts.some((fact) => fact.status === "superseded");
  return html`
    <details class="card timeline" open=${changed}>
      <summary><b dir="auto">${kind === "entity" ? asWritten(name, facts) : name.replaceAll("_", " ")}</b> <span class="muted">${plural(facts.length, "statement")}${changed ? ", changed" : ""}</span></summary>
      <ol class="history">
        ${facts.map(
          (fact) => html`
            <li key=${fact.id} class=${fact.status === "superseded" ? "past" : ""}>
              <p dir="auto"><${MemoryLink} fact=${fact} /></p>
              <p class="meta">
                <span>from <${When} at=${fact.valid_from} dayOnly /></span>
                ${fact.valid_to && html`<span>to <${When} at=${fact.valid_to} dayOnly /></span>`}
                ${kind === "slot" && fact.reading && html`<span>read by ${fact.reading.judge}, ${Math.round(100 * fact.reading.slot_probability)} % sure</span>`}
              </p>
              ${fact.status === "superseded" && html`<${Why} cause=${fact.ended_by} />`}
              ${fact.perhaps_changed.map((cause) => html`<div key=${cause.newer}><small class="muted">perhaps changed</small><${Why} cause=${cause} /></div>`)}
            </li>
          `,
        )}
      </ol>
    </details>
  `;
}

// A name as the latest statement that has it spells it: names are compared in small letters.
function asWritten(name, facts) {
  for (const { content } of facts.toReversed()) {
    const place = content.toLowerCase().indexOf(name);
    if (place >= 0) return content.slice(place, place + name.length);
  }
  return name;
}

const dayOf = (at) => at.slice(0, 10);

function Ended({ user, may, say }) {
  const [limit, setLimit] = useState(AT_FIRST);
  const loaded = useLoaded((signal) => inspection.retired(user, limit, signal), [user, limit]);
  const done = (what) => {
    say(what);
    loaded.reload();
  };
  return html`
    <${Loaded} loaded=${loaded}>
      ${({ items }) => {
        if (!items.length) return html`<${Empty} title="Nothing has ended">No newer statement has ended a memory by itself.<//>`;
        const days = [...new Set(items.map((one) => dayOf(one.cause.at)))];
        return html`
          ${days.map((day) => html`<${Day} key=${day} day=${day} user=${user} items=${items.filter((one) => dayOf(one.cause.at) === day)} may=${may} done=${done} />`)}
          <${Further} number=${items.length} limit=${limit} most=${MOST} more=${() => setLimit(MOST)}>
            <a href=${href("memories", { user, status: "superseded" })}>All that has ended</a>
          <//>
        `;
      }}
    <//>
  `;
}

// A day's retirements as a diff.
function Day({ day, user, items, may, done }) {
  const acting = useAction();
  const undo = () =>
    acting.run(async () => {
      const { items: back } = await inspection.undo({ user_id: user, day });
      done(`${plural(back.length, "memory", "memories")} of ${day} taken back.`);
    });
  return html`
    <section class="card" aria-label=${`Ended on ${day}`}>
      <div class="headline">
        <h2><${When} at=${`${day}T12:00:00Z`} dayOnly /></h2>
        ${may("write") && html`<button type="button" disabled=${acting.busy} onClick=${undo}>Undo the whole day</button>`}
      </div>
      ${acting.error && html`<${Failed} error=${acting.error} />`}
      <ul class="items">
        ${items.map(
          ({ fact, newer, cause }) => html`
            <li key=${fact.id} class="item">
              <div class="told">
                <p dir="auto"><del><${MemoryLink} fact=${fact} /></del></p>
                ${newer && html`<p dir="auto"><ins><${MemoryLink} fact=${newer} /></ins></p>`}
                <${Why} cause=${cause} />
              </div>
              ${may("write") && html`<div class="actions"><${TakeBack} fact=${fact} done=${done} /></div>`}
            </li>
          `,
        )}
      </ul>
    </section>
  `;
}

function Unsure({ user, may, say }) {
  const [limit, setLimit] = useState(AT_FIRST);
  const loaded = useLoaded((signal) => inspection.toConfirm(user, limit, signal), [user, limit]);
  const done = (what) => {
    say(what);
    loaded.reload();
  };
  return html`
    <${Loaded} loaded=${loaded}>
      ${({ items }) =>
        items.length
          ? html`<ul class="items card">
                ${items.map(
                  (one) => html`<${Unsettled} key=${`${one.fact.id}/${one.newer?.id}`} ...${one} may=${may} done=${done} />`,
                )}
              </ul>
              <${Further} number=${items.length} limit=${limit} most=${MOST} more=${() => setLimit(MOST)}>
                Settle some of these to see the others.
              <//>`
          : html`<${Empty} title="Nothing is in doubt">No newer statement has perhaps changed a memory.<//>`}
    <//>
    <${Labels} user=${user} />
  `;
}

// What was accepted, rejected and taken back, as a file to train a judge with.
function Labels({ user }) {
  const saving = useAction();
  const save = () =>
    saving.run(async () => {
      const { items } = await inspection.labels(user);
      const lines = items.map((one) => `${JSON.stringify(one)}\n`).join("");
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([lines], { type: "application/jsonl" }));
      link.download = `labels-${user}.jsonl`;
      link.click();
      URL.revokeObjectURL(link.href);
    });
  return html`
    <p class="muted">
      Answers are kept. <button type="button" class="quiet" disabled=${saving.busy} onClick=${save}>Save them as labels</button>
    </p>
    ${saving.error && html`<${Failed} error=${saving.error} />`}
  `;
}
