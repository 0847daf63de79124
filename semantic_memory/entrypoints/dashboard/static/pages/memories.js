import { html, useState } from "../vendor/htm-preact-3.1.1.js";
import { api } from "../api.js";
import { useLoaded } from "../loading.js";
import {
  CATEGORIES,
  Category,
  Empty,
  Field,
  Loaded,
  MemoryLink,
  Meter,
  NoUser,
  Review,
  Status,
  Tags,
  When,
  plural,
  startOf,
} from "../parts.js";
import { go, href } from "../routing.js";

const FILTERS = ["q", "category", "status", "tag", "since", "until", "min_confidence"];
const STATUSES = ["active", "superseded", "archived", "quarantined", "forgotten"];
const SIZE = 25;
const FACTS = CATEGORIES.filter((name) => name !== "conversation");
const CHOICES = { "": FACTS, all: [] };

export function Memories({ route, user }) {
  const { params } = route;
  // Cursors of the pages turned so far, so that one can turn back.
  const cursors = params.cursors ? params.cursors.split(",") : [];
  const given = Object.fromEntries(FILTERS.map((name) => [name, params[name]]));
  const loaded = useLoaded(
    user &&
      ((signal) =>
        api.memories(
          {
            ...given,
            user_id: user,
            category: CHOICES[given.category ?? ""] ?? given.category,
            since: startOf(given.since),
            until: startOf(given.until),
            limit: SIZE,
            cursor: cursors[cursors.length - 1],
          },
          signal,
        )),
    [user, JSON.stringify(params)],
  );
  const page = (all) => href("memories", { user, ...given, cursors: all.join(",") });
  return html`
    <h1 tabindex="-1">Memories</h1>
    <${Narrowing} key=${JSON.stringify(params)} params=${params} user=${user} />
    ${!user && html`<${NoUser} />`}
    <p class="summary" aria-live="polite">
      ${loaded.value && !loaded.loading &&
      `Page ${cursors.length + 1}: ${plural(loaded.value.items.length, "memory", "memories")}, newest first`}
    </p>
    ${user &&
    html`<${Loaded} loaded=${loaded}>
      ${({ items, next }) => html`
        ${items.length
          ? html`<${Table} facts=${items} />`
          : html`<${Empty} title="No memories">None of this user's memories passes these filters.<//>`}
        <div class="pager">
          ${cursors.length ? html`<a class="button" href=${page(cursors.slice(0, -1))}>← Newer</a>` : html`<span></span>`}
          ${next && html`<a class="button" href=${page([...cursors, next])}>Older →</a>`}
        </div>
      `}
    <//>`}
  `;
}

// What is said in the place of a forgotten memory's text.
const forgotten = ({ at, reason, by, was_pinned, states }) =>
  [
    `${was_pinned ? "Forgotten while pinned" : "Forgotten"} on ${at.slice(0, 10)}${by ? ` by ${by}` : ""}`,
    `${states} ${states === 1 ? "state" : "states"}`,
    ...(reason ? [reason] : []),
  ].join(" · ");

function Table({ facts }) {
  return html`
    <div class="card listing">
      <table>
        <caption class="hidden">Memories, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Memory</th>
            <th scope="col" class="wide-only">Category</th>
            <th scope="col" class="wide-only">Confidence</th>
            <th scope="col" class="wide-only">Trust</th>
            <th scope="col">Said</th>
          </tr>
        </thead>
        <tbody>
          ${facts.map(
            (fact) => html`
              <tr key=${fact.id}>
                <td class="content">
                  <${MemoryLink} fact=${fact.tombstone ? { ...fact, content: forgotten(fact.tombstone) } : fact} />
                  <span class="meta"><${Status} name=${fact.status} /><${Review} name=${fact.review} /><${Tags} tags=${fact.tags} /></span>
                </td>
                <td class="of wide-only"><${Category} name=${fact.category} /></td>
                <td class="wide-only"><${Meter} value=${fact.confidence} label="" /></td>
                <td class="wide-only">${fact.trust}</td>
                <td class="when"><${When} at=${fact.created_at} dayOnly /></td>
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `;
}

function Narrowing({ params, user }) {
  const [form, setForm] = useState(params);
  const known = useLoaded(user && ((signal) => api.tags(user, signal)), [user]);
  const apply = (changes) => {
    const wanted = { ...form, ...changes };
    setForm(wanted);
    const given = Object.fromEntries(FILTERS.map((name) => [name, wanted[name]]));
    go(href("memories", { user, ...given }));
  };
  const now = (name) => (event) => apply({ [name]: event.target.value });
  const typed = (name) => (event) => setForm({ ...form, [name]: event.target.value });
  return html`
    <form
      class="filters"
      aria-label="Filters"
      onSubmit=${(event) => {
        event.preventDefault();
        apply({});
      }}
    >
      <${Field} label="Conditions">
        <input
          type="search"
          value=${form.q ?? ""}
          placeholder="tag:work.* -draft when:&quot;last week&quot;"
          autocomplete="off"
          onInput=${typed("q")}
        />
      <//>
      <${Field} label="Category">
        <select value=${form.category ?? ""} onChange=${now("category")}>
          <option value="">facts</option>
          <option value="all">facts and messages</option>
          ${CATEGORIES.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
        </select>
      <//>
      <${Field} label="Status">
        <select value=${form.status ?? "active"} onChange=${now("status")}>
          ${STATUSES.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
        </select>
      <//>
      <${Field} label="Tag">
        <input value=${form.tag ?? ""} placeholder="work.code" list="tags" autocomplete="off" onInput=${typed("tag")} />
        <datalist id="tags">
          ${(known.value?.items ?? []).map(
            ({ tag, memories }) => html`<option key=${tag} value=${tag}>${plural(memories, "memory", "memories")}</option>`,
          )}
        </datalist>
      <//>
      <${Field} label="Said from">
        <input type="date" value=${form.since ?? ""} onChange=${typed("since")} />
      <//>
      <${Field} label="Said before">
        <input type="date" value=${form.until ?? ""} onChange=${typed("until")} />
      <//>
      <${Field} label="Confidence from">
        <input type="number" min="0" max="1" step="0.05" placeholder="0" value=${form.min_confidence ?? ""} onInput=${typed("min_confidence")} />
      <//>
      <div class="actions">
        <button type="submit" disabled=${!user}>Apply</button>
        <a href=${href("memories", { user })}>Clear</a>
      </div>
    </form>
  `;
}
