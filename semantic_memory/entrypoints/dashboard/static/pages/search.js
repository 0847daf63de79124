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
  NoUser,
  Tags,
  When,
  endOf,
  plural,
  startOf,
} from "../parts.js";
import { go, href } from "../routing.js";
import { Score } from "../score.js";

// A query in text form stands for all filters; otherwise the fields of the form do.
const filtersOf = ({ where, categories, since, until, as_of }) =>
  where || {
    categories: categories ? categories.split(",") : null,
    since: startOf(since),
    until: startOf(until),
    as_of: endOf(as_of),
  };

export function Search({ route, user }) {
  const { q, k = "10", where, categories, since, until, as_of } = route.params;
  const asked = user && q;
  const loaded = useLoaded(
    asked &&
      (async (signal) => {
        const body = { user_id: user, query: q, k: Number(k), filters: filtersOf(route.params) };
        const [hits, ranking] = await Promise.all([api.search(body, signal), api.ranking(signal)]);
        return { hits: hits.items, ranking };
      }),
    [user, q, k, where, categories, since, until, as_of],
  );
  return html`
    <h1 tabindex="-1">Search</h1>
    <${SearchForm} key=${JSON.stringify(route.params)} params=${route.params} user=${user} />
    <p class="summary" aria-live="polite">
      ${asked && !loaded.loading && loaded.value &&
      `${plural(loaded.value.hits.length, "memory", "memories")} in ${Math.round(loaded.milliseconds)} ms`}
    </p>
    ${!user && html`<${NoUser} />`}
    ${user && !q && html`<${Empty} title="Ask something">
      Each memory found is shown with what its score is made of.
    <//>`}
    ${asked &&
    html`<${Loaded} loaded=${loaded} what="Searching">
      ${({ hits, ranking }) => html`
        <${Hits} hits=${hits} ranking=${ranking} />
        <p class="muted">Something missing? <a href=${href("why-not", { user, q })}>Ask why</a></p>
      `}
    <//>`}
  `;
}

function Hits({ hits, ranking }) {
  if (!hits.length) {
    return html`<${Empty} title="Nothing found">
      This user has no memory that passes these filters.
    <//>`;
  }
  return html`
    <ol class="hits">
      ${hits.map(
        (hit) => html`
          <li key=${hit.fact.id} class="card hit">
            <div class="headline">
              <h2><${MemoryLink} fact=${hit.fact} /></h2>
              <span class="figure" title="score"><span class="hidden">score </span>${hit.score.toFixed(3)}</span>
            </div>
            <p class="meta">
              <${Category} name=${hit.fact.category} />
              <${When} at=${hit.fact.created_at} dayOnly />
              ${hit.fact.source.speaker && html`<span>${hit.fact.source.speaker}</span>`}
              <${Tags} tags=${hit.fact.tags} />
            </p>
            <${Score} hit=${hit} ranking=${ranking} />
          </li>
        `,
      )}
    </ol>
  `;
}

function SearchForm({ params, user }) {
  const [form, setForm] = useState({ k: "10", ...params });
  const set = (name) => (event) => setForm({ ...form, [name]: event.target.value });
  const chosen = new Set(form.categories ? form.categories.split(",") : []);
  const toggle = (name) => {
    if (!chosen.delete(name)) chosen.add(name);
    const categories = CATEGORIES.filter((one) => chosen.has(one)).join(",");
    setForm({ ...form, categories });
  };
  const narrowed = form.where || form.categories || form.since || form.until || form.as_of;
  return html`
    <form
      class="asking"
      onSubmit=${(event) => {
        event.preventDefault();
        go(href("search", { ...form, user }));
      }}
    >
      <div class="row">
        <label class="hidden" for="query">Query</label>
        <input
          id="query"
          class="big"
          type="search"
          required
          autocomplete="off"
          placeholder="What do you want to know?"
          value=${form.q ?? ""}
          onInput=${set("q")}
        />
        <button type="submit" class="primary" disabled=${!user}>Search</button>
      </div>
      <details open=${Boolean(narrowed)}>
        <summary>Filters</summary>
        <div class="filters">
          <${Field} label="Memories (k)">
            <input type="number" min="1" max="100" value=${form.k} onInput=${set("k")} />
          <//>
          <${Field} label="Conditions">
            <input
              type="search"
              value=${form.where ?? ""}
              placeholder="tag:work -draft"
              title=${'Instead of the other fields, like tag:work.* -draft when:"last week"'}
              autocomplete="off"
              onInput=${set("where")}
            />
          <//>
          <${Field} label="Said from">
            <input type="date" value=${form.since ?? ""} onInput=${set("since")} />
          <//>
          <${Field} label="Said before">
            <input type="date" value=${form.until ?? ""} onInput=${set("until")} />
          <//>
          <${Field} label="As believed on">
            <input type="date" value=${form.as_of ?? ""} onInput=${set("as_of")} />
          <//>
        </div>
        <fieldset class="choices">
          <legend>Categories</legend>
          ${CATEGORIES.map(
            (name) => html`
              <label key=${name} class="choice">
                <input type="checkbox" checked=${chosen.has(name)} onChange=${() => toggle(name)} />
                <${Category} name=${name} />
              </label>
            `,
          )}
        </fieldset>
      </details>
    </form>
  `;
}
