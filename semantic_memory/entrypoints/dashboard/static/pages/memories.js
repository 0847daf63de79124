import { html, useEffect, useRef, useState } from "../vendor/htm-preact-3.1.1.js";
import { api } from "../api.js";
import { useAction, useLoaded } from "../loading.js";
import {
  CATEGORIES,
  Category,
  Dialog,
  Empty,
  factCategories,
  Failed,
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

const FILTERS = ["q", "category", "status", "tag", "since", "until", "min_confidence", "sort"];
const STATUSES = {
  active: "believed",
  superseded: "ended",
  archived: "faded or merged",
  quarantined: "set aside as unsafe",
  forgotten: "forgotten",
};
const SORTS = {
  time: "newest first",
  relevance: "most relevant first",
  confidence: "most certain first",
  importance: "most important first",
};
const SIZE = 50;
const PINNED = "pinned";
const chosenCategories = (name) => (name === "all" ? [] : name || factCategories());

export function Memories({ route, user, may }) {
  const { params } = route;
  const given = Object.fromEntries(FILTERS.map((name) => [name, params[name]]));
  return html`
    <h1 tabindex="-1">Memories</h1>
    <${Narrowing} key=${JSON.stringify(given)} params=${params} user=${user} />
    ${!user && html`<${NoUser} />`}
    ${user && html`<${List} key=${JSON.stringify(given)} given=${given} user=${user} may=${may} />`}
  `;
}

// Pages are added below as the reader comes to the end, so that long lists scroll.
function List({ given, user, may }) {
  const [cursors, setCursors] = useState([undefined]);
  const [pages, setPages] = useState([]);
  const [chosen, setChosen] = useState(new Map());
  const [said, setSaid] = useState("");
  const [turn, setTurn] = useState(0);
  const cursor = cursors[cursors.length - 1];
  const loaded = useLoaded(
    (signal) =>
      api.memories(
        {
          ...given,
          user_id: user,
          category: chosenCategories(given.category),
          since: startOf(given.since),
          until: startOf(given.until),
          limit: SIZE,
          cursor,
        },
        signal,
      ),
    [cursors.length, turn],
  );
  const place = cursors.length - 1;
  useEffect(() => {
    if (loaded.value && !loaded.loading) setPages((before) => [...before.slice(0, place), loaded.value]);
  }, [loaded.value, loaded.loading]);
  const facts = pages.flatMap((page) => page.items);
  const next = pages[place]?.next;
  const done = (what) => {
    setSaid(what);
    setChosen(new Map());
    setPages([]);
    setCursors([undefined]);
    setTurn(turn + 1);
  };
  const toggle = (fact) => {
    const now = new Map(chosen);
    if (!now.delete(fact.id)) now.set(fact.id, fact);
    setChosen(now);
  };
  const every = () => setChosen(chosen.size === facts.length ? new Map() : new Map(facts.map((one) => [one.id, one])));
  return html`
    <p class="summary" role="status">
      ${said} ${facts.length > 0 && `${plural(facts.length, "memory", "memories")}${next ? " so far" : ""}, ${SORTS[given.sort ?? "time"]}`}
    </p>
    ${chosen.size > 0 && may("write") && html`<${Together} chosen=${[...chosen.values()]} user=${user} may=${may} done=${done} />`}
    <${Loaded} loaded=${{ ...loaded, value: pages.length ? pages : loaded.loading ? undefined : loaded.value }}>
      ${() => html`
        ${facts.length
          ? html`<${Table} facts=${facts} chosen=${chosen} toggle=${toggle} every=${every} may=${may} />`
          : html`<${Empty} title="No memories">None of this user's memories passes these filters.<//>`}
        ${next &&
        html`<${More} busy=${loaded.loading} more=${() => setCursors([...cursors, next])} />`}
      `}
    <//>
  `;
}

// Comes to the end of the list by itself when that is scrolled to.
function More({ busy, more }) {
  const button = useRef();
  useEffect(() => {
    if (busy) return undefined;
    const observer = new IntersectionObserver(([seen]) => seen.isIntersecting && more());
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [busy, more]);
  return html`<div class="pager"><button type="button" ref=${button} disabled=${busy} onClick=${more}>Show more</button></div>`;
}

// What is said in the place of a forgotten memory's text.
const forgotten = ({ at, reason, by, was_pinned, states }) =>
  [
    `${was_pinned ? "Forgotten while pinned" : "Forgotten"} on ${at.slice(0, 10)}${by ? ` by ${by}` : ""}`,
    `${states} ${states === 1 ? "state" : "states"}`,
    ...(reason ? [reason] : []),
  ].join(" · ");

const scopeOf = ({ agent_id, run_id }) => [agent_id && `agent ${agent_id}`, run_id && `run ${run_id}`].filter(Boolean).join(", ");

function Table({ facts, chosen, toggle, every, may }) {
  const selects = may("write") && !facts[0].tombstone;
  return html`
    <div class="card listing">
      <table>
        <caption class="hidden">Memories</caption>
        <thead>
          <tr>
            ${selects && html`<th scope="col" class="pick"><input type="checkbox" aria-label="Choose all" checked=${chosen.size === facts.length} onChange=${every} /></th>`}
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
                ${selects &&
                html`<td class="pick"><input type="checkbox" aria-label=${`Choose “${fact.content.slice(0, 60)}”`} checked=${chosen.has(fact.id)} onChange=${() => toggle(fact)} /></td>`}
                <td class="content" dir="auto">
                  <${MemoryLink} fact=${fact.tombstone ? { ...fact, content: forgotten(fact.tombstone) } : fact} />
                  <span class="meta"><span class="narrow-only"><${Category} name=${fact.category} /></span><${Status} name=${fact.status} /><${Review} name=${fact.review} />${scopeOf(fact) && html`<span>${scopeOf(fact)}</span>`}<${Tags} tags=${fact.tags} /></span>
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

const AT_ONCE = 100; // ids that one request takes

// What can be done with all the chosen memories.
function Together({ chosen, user, may, done }) {
  const acting = useAction();
  const [forgetting, setForgetting] = useState(false);
  const each = (act, said, facts = chosen) =>
    acting.run(async () => {
      for (const fact of facts) await act(fact);
      done(`${plural(facts.length, "memory", "memories")} ${said}.`);
    });
  const pin = (fact) => api.update(fact.id, user, { tags: [...fact.tags, PINNED] });
  const unpin = (fact) => api.update(fact.id, user, { tags: fact.tags.filter((tag) => tag !== PINNED) });
  const believed = chosen.filter((one) => one.status === "active");
  const pinned = believed.filter((one) => one.tags.includes(PINNED));
  const loose = believed.filter((one) => !one.tags.includes(PINNED));
  const ended = chosen.filter((one) => one.status !== "active" && one.status !== "forgotten");
  const save = () => {
    const link = document.createElement("a");
    const lines = chosen.map((one) => `${JSON.stringify(one)}\n`).join("");
    link.href = URL.createObjectURL(new Blob([lines], { type: "application/jsonl" }));
    link.download = `memories-${user}.jsonl`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return html`
    <div class="card together" role="group" aria-label="With the chosen memories">
      <b>${plural(chosen.length, "memory", "memories")} chosen</b>
      <div class="actions">
        ${loose.length > 0 && html`<button type="button" disabled=${acting.busy} onClick=${() => each(pin, "pinned", loose)}>Pin</button>`}
        ${pinned.length > 0 && html`<button type="button" disabled=${acting.busy} onClick=${() => each(unpin, "unpinned", pinned)}>Unpin</button>`}
        ${ended.length > 0 &&
        html`<button type="button" disabled=${acting.busy} onClick=${() => each((fact) => api.restore(fact.id, user, ""), "believed again", ended)}>Believe again</button>`}
        ${believed.length > 0 &&
        html`<select aria-label="Move to a category" value="" disabled=${acting.busy} onChange=${(event) => {
          const category = event.target.value;
          if (category) each((fact) => api.update(fact.id, user, { category }), `moved to ${category}`, believed);
        }}>
          <option value="">Move to…</option>
          ${factCategories().map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
        </select>`}
        <button type="button" onClick=${save}>Save to a file</button>
        <button type="button" class="bad" disabled=${chosen.length > AT_ONCE} onClick=${() => setForgetting(true)}>Forget…</button>
      </div>
      ${acting.error && html`<${Failed} error=${acting.error} />`}
      ${forgetting && html`<${Forgetting} chosen=${chosen} user=${user} may=${may} close=${() => setForgetting(false)} done=${done} />`}
    </div>
  `;
}

// Shows what would go, then what went, with a receipt where the key may have one.
function Forgetting({ chosen, user, may, close, done }) {
  const filters = {
    ids: chosen.map((one) => one.id),
    statuses: ["active", "superseded", "quarantined", "archived"],
  };
  const shown = useLoaded((signal) => api.forget({ user_id: user, filters, dry_run: true }, signal), []);
  const acting = useAction();
  const [gone, setGone] = useState(null);
  const forget = () =>
    acting.run(async () => {
      const proof = may("admin");
      setGone(await api.forget({ user_id: user, filters, proof, force: true }));
    });
  if (gone) {
    const receipt = gone.proof?.receipt;
    return html`
      <${Dialog} title="Forgotten" onClose=${() => done("Forgotten, for good.")}>
        <p>${plural(gone.forgotten, "memory", "memories")} and ${plural(gone.sentences.length, "sentence")} are gone for good.</p>
        ${gone.proof && !receipt && html`<p class="refused">Some texts were found again in ${gone.proof.found.map((one) => one.file).join(", ")}.</p>`}
        ${receipt &&
        html`<p>No file holds them any more: ${plural(gone.proof.files, "file")} were searched. This receipt proves it:</p>
          <pre class="receipt" tabindex="0" aria-label="Receipt">${JSON.stringify(receipt, null, 1)}</pre>`}
        <div class="actions">
          ${receipt && html`<button type="button" onClick=${() => navigator.clipboard.writeText(JSON.stringify(receipt))}>Copy the receipt</button>`}
          <button type="button" class="primary" onClick=${() => done("Forgotten, for good.")}>Done</button>
        </div>
      <//>
    `;
  }
  return html`
    <${Dialog} title=${`Forget ${plural(chosen.length, "memory", "memories")}?`} onClose=${close}>
      <${Loaded} loaded=${shown} what="Looking">
        ${({ forgotten: number, memories, sentences, warning }) => html`
          <p>${plural(number, "memory", "memories")} and ${plural(sentences.length, "sentence")} of messages would go, for good.</p>
          ${warning && html`<p class="refused">${warning}</p>`}
          <ul>
            ${memories.slice(0, 10).map((fact) => html`<li key=${fact.id} dir="auto">${fact.content}</li>`)}
            ${sentences.slice(0, 10).map((one, place) => html`<li key=${place} dir="auto">${one}</li>`)}
          </ul>
        `}
      <//>
      ${acting.error && html`<${Failed} error=${acting.error} />`}
      <div class="actions">
        <button type="button" onClick=${close}>Cancel</button>
        <button type="button" class="bad" disabled=${acting.busy || !shown.value} onClick=${forget}>${acting.busy ? "Forgetting…" : "Forget"}</button>
      </div>
    <//>
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
          placeholder="tag:work -draft"
          title=${'Like tag:work.* -draft when:"last week"'}
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
          ${Object.entries(STATUSES).map(([name, title]) => html`<option key=${name} value=${name}>${title}</option>`)}
        </select>
      <//>
      <${Field} label="Order">
        <select value=${form.sort ?? "time"} onChange=${now("sort")}>
          ${Object.entries(SORTS).map(([name, title]) => html`<option key=${name} value=${name}>${title}</option>`)}
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
