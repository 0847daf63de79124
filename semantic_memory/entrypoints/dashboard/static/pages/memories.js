import { Component, html, useCallback, useEffect, useRef, useState } from "../vendor/htm-preact-3.1.1.js";
import { api } from "../api.js";
import { Forgetting } from "../forgetting.js";
import { inspection } from "../inspection.js";
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
  STATUSES,
  Status,
  Tags,
  When,
  plural,
  startOf,
} from "../parts.js";
import { go, href } from "../routing.js";

const FILTERS = ["q", "category", "status", "tag", "since", "until", "min_confidence", "sort"];
const SORTS = {
  time: "newest first",
  relevance: "most relevant first",
  confidence: "most certain first",
  importance: "most important first",
};
const SIZE = 50;
const MOST = 1000; // memories in one response
const ROW_PX = 45; // of a row that was never shown, about
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

const page = (given, user, limit, cursor, signal) =>
  api.memories(
    {
      ...given,
      user_id: user,
      category: chosenCategories(given.category),
      since: startOf(given.since),
      until: startOf(given.until),
      limit,
      cursor,
    },
    signal,
  );

// Pages are added below as the reader comes to the end, so that long lists scroll.
function List({ given, user, may }) {
  const [cursors, setCursors] = useState([undefined]);
  const [pages, setPages] = useState([]);
  const [chosen, setChosen] = useState(new Map());
  const [said, setSaid] = useState("");
  const [turn, setTurn] = useState(0);
  const fetching = useAction();
  const cursor = cursors[cursors.length - 1];
  const loaded = useLoaded((signal) => page(given, user, SIZE, cursor, signal), [cursors.length, turn]);
  const place = cursors.length - 1;
  useEffect(() => {
    if (loaded.value && !loaded.loading) setPages((before) => [...before.slice(0, place), loaded.value]);
  }, [loaded.value, loaded.loading]);
  const facts = pages.flatMap((page) => page.items);
  const next = pages.at(-1)?.next;
  const waits = loaded.loading || pages.length <= place;
  const done = (what) => {
    setSaid(what);
    setChosen(new Map());
    setPages([]);
    setCursors([undefined]);
    setTurn(turn + 1);
  };
  const toggle = useCallback(
    (fact) =>
      setChosen((before) => {
        const now = new Map(before);
        if (!now.delete(fact.id)) now.set(fact.id, fact);
        return now;
      }),
    [],
  );
  const choose = (all) => setChosen(new Map(all.map((one) => [one.id, one])));
  const every = () => choose(chosen.size === facts.length ? [] : facts);
  // Fetches what isn't shown yet, so that all of it can be chosen.
  const rest = () =>
    fetching.run(async () => {
      const found = [];
      for (let from = next; from; ) {
        const one = await page(given, user, MOST, from);
        for (let at = 0; at < one.items.length; at += SIZE) found.push({ items: one.items.slice(at, at + SIZE) });
        from = one.next;
      }
      setPages([...pages.slice(0, -1), { items: pages.at(-1).items }, ...found]);
      choose([...facts, ...found.flatMap((one) => one.items)]);
    });
  return html`
    <div class="headline">
      <p class="summary" role="status">
        ${said} ${facts.length > 0 && `${plural(facts.length, "memory", "memories")}${next ? " so far" : ""}, ${SORTS[given.sort ?? "time"]}`}
      </p>
      ${may("write") &&
      html`<div class="actions">
        <${Add} user=${user} done=${done} />
        <${ForgetSubject} user=${user} may=${may} done=${done} />
      </div>`}
    </div>
    ${next && !waits && chosen.size > 0 && chosen.size === facts.length &&
    html`<p>
      The ${plural(facts.length, "memory", "memories")} shown so far are chosen.
      ${" "}<button type="button" disabled=${fetching.busy} onClick=${rest}>${fetching.busy ? "Fetching…" : "Choose every one that matches"}</button>
    </p>`}
    ${fetching.error && html`<${Failed} error=${fetching.error} />`}
    ${chosen.size > 0 && may("write") && html`<${Together} chosen=${[...chosen.values()]} user=${user} may=${may} done=${done} />`}
    <${Loaded} loaded=${{ ...loaded, value: pages.length ? pages : loaded.loading ? undefined : loaded.value }}>
      ${() => html`
        ${facts.length
          ? html`<${Table} pages=${pages} number=${facts.length} chosen=${chosen} toggle=${toggle} every=${every} may=${may} />`
          : html`<${Empty} title="No memories">
              ${Object.values(given).some(Boolean) ? "None of this user's memories passes these filters." : "No fact is known about this user yet."}
            <//>`}
        ${next &&
        html`<${More} busy=${waits || fetching.busy} more=${() => setCursors([...cursors, next])} />`}
      `}
    <//>
  `;
}

// Comes to the end of the list by itself when that is scrolled to. It stays while more is fetched,
// so that neither the place of the page nor the focus is lost.
function More({ busy, more }) {
  const button = useRef();
  useEffect(() => {
    if (busy) return undefined;
    const observer = new IntersectionObserver(([seen]) => seen.isIntersecting && more());
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [busy, more]);
  return html`<div class="pager"><button type="button" ref=${button} aria-disabled=${busy} onClick=${() => busy || more()}>Show more</button></div>`;
}

// What is said in the place of a forgotten memory's text.
const forgotten = ({ at, reason, by, was_pinned, states }) =>
  [
    `${was_pinned ? "Forgotten while pinned" : "Forgotten"} on ${at.slice(0, 10)}${by ? ` by ${by}` : ""}`,
    `${states} ${states === 1 ? "state" : "states"}`,
    ...(reason ? [reason] : []),
  ].join(" · ");

const scopeOf = ({ agent_id, run_id }) => [agent_id && `agent ${agent_id}`, run_id && `run ${run_id}`].filter(Boolean).join(", ");

function Table({ pages, number, chosen, toggle, every, may }) {
  const selects = may("write") && !pages[0].items[0].tombstone;
  return html`
    <div class="card listing">
      <table>
        <caption class="hidden">Memories</caption>
        <thead>
          <tr>
            ${selects && html`<th scope="col" class="pick"><input type="checkbox" aria-label="Choose all" checked=${chosen.size === number} onChange=${every} /></th>`}
            <th scope="col">Memory</th>
            <th scope="col" class="wide-only">Category</th>
            <th scope="col" class="wide-only">Confidence</th>
            <th scope="col" class="wide-only">Trust</th>
            <th scope="col">Said</th>
          </tr>
        </thead>
        ${pages.map((one, place) => html`<${Stretch} key=${place} facts=${one.items} chosen=${chosen} toggle=${toggle} selects=${selects} first=${place === 0} />`)}
      </table>
    </div>
  `;
}

const NEAR = "2000px 0px"; // of the window: rows further away are left out

// A page of rows. While it is far from the window its room is kept, so that 10,000 rows scroll.
class Stretch extends Component {
  constructor(props) {
    super(props);
    this.state = { near: props.first };
    this.body = { current: null };
  }

  componentDidMount() {
    this.observer = new IntersectionObserver(
      ([seen]) => {
        const near = seen.isIntersecting;
        if (near === this.state.near) return;
        if (!near) this.height = this.body.current.offsetHeight;
        this.setState({ near });
      },
      { rootMargin: NEAR },
    );
    this.observer.observe(this.body.current);
  }

  componentWillUnmount() {
    this.observer.disconnect();
  }

  shouldComponentUpdate({ facts, chosen, selects }, { near }) {
    const { props, state } = this;
    if (near !== state.near || facts !== props.facts || selects !== props.selects) return true;
    return near && facts.some(({ id }) => chosen.has(id) !== props.chosen.has(id));
  }

  render({ facts, chosen, toggle, selects }, { near }) {
    if (!near) {
      const height = this.height ?? ROW_PX * facts.length;
      return html`<tbody ref=${this.body} class="gap"><tr style=${{ height: `${height}px` }}><td colspan="6"></td></tr></tbody>`;
    }
    return html`<tbody ref=${this.body}>
      ${facts.map((fact) => html`<${Row} key=${fact.id} fact=${fact} chosen=${chosen.has(fact.id)} toggle=${toggle} selects=${selects} />`)}
    </tbody>`;
  }
}

const Row = ({ fact, chosen, toggle, selects }) => html`
  <tr>
    ${selects &&
    html`<td class="pick"><input type="checkbox" aria-label=${`Choose “${fact.content.slice(0, 60)}”`} checked=${chosen} onChange=${() => toggle(fact)} /></td>`}
    <td class="content" dir="auto">
      <${MemoryLink} fact=${fact.tombstone ? { ...fact, content: forgotten(fact.tombstone) } : fact} />
      <span class="meta"><span class="narrow-only"><${Category} name=${fact.category} /></span><${Status} name=${fact.status} /><${Review} name=${fact.review} />${scopeOf(fact) && html`<span>${scopeOf(fact)}</span>`}<${Tags} tags=${fact.tags} /></span>
    </td>
    <td class="of wide-only"><${Category} name=${fact.category} /></td>
    <td class="wide-only"><${Meter} value=${fact.confidence} label="" /></td>
    <td class="wide-only">${fact.trust}</td>
    <td class="when"><${When} at=${fact.created_at} dayOnly /></td>
  </tr>
`;

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
        <button type="button" class="bad" onClick=${() => setForgetting(true)}>Forget…</button>
      </div>
      ${acting.error && html`<${Failed} error=${acting.error} />`}
      ${forgetting && html`<${Forgetting} requests=${requestsFor(chosen)} title=${`Forget ${plural(chosen.length, "memory", "memories")}?`} user=${user} may=${may} close=${() => setForgetting(false)} done=${done} />`}
    </div>
  `;
}

const STATUSES_LEFT = ["active", "superseded", "quarantined", "archived"];

// The requests that forget these memories, of as many as one takes.
const requestsFor = (chosen) => {
  const ids = chosen.map((one) => one.id);
  const parts = [];
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    parts.push({ filters: { ids: ids.slice(at, at + AT_ONCE), statuses: STATUSES_LEFT } });
  }
  return parts;
};

// Adds one memory by hand.
function Add({ user, done }) {
  const [open, setOpen] = useState(false);
  const [content, setContent] = useState("");
  const [category, setCategory] = useState("personal");
  const saving = useAction();
  const close = () => setOpen(false);
  const submit = (event) => {
    event.preventDefault();
    saving.run(async () => {
      await inspection.add({ user_id: user, content: content.trim(), category });
      close();
      setContent("");
      done("Added.");
    });
  };
  return html`
    <button type="button" onClick=${() => setOpen(true)}>Add a memory…</button>
    ${open &&
    html`<${Dialog} title="Add a memory" onClose=${close}>
      <form onSubmit=${submit}>
        <${Field} label=${`A statement about ${user}`}>
          <textarea required rows="3" value=${content} onInput=${(event) => setContent(event.target.value)}></textarea>
        <//>
        <${Field} label="Its category">
          <select value=${category} onChange=${(event) => setCategory(event.target.value)}>
            ${factCategories().map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
          </select>
        <//>
        ${saving.error && html`<${Failed} error=${saving.error} />`}
        <div class="actions">
          <button type="button" onClick=${close}>Cancel</button>
          <button type="submit" class="primary" disabled=${saving.busy || !content.trim()}>Add</button>
        </div>
      </form>
    <//>`}
  `;
}

// Asks for a subject, and forgets what is about it.
function ForgetSubject({ user, may, done }) {
  const [asking, setAsking] = useState(false);
  const [subject, setSubject] = useState("");
  const [given, setGiven] = useState(null);
  const close = () => {
    setAsking(false);
    setGiven(null);
  };
  const submit = (event) => {
    event.preventDefault();
    setGiven(subject.trim());
  };
  return html`
    <button type="button" onClick=${() => setAsking(true)}>Forget a subject…</button>
    ${asking &&
    !given &&
    html`<${Dialog} title="Forget a subject" onClose=${close}>
      <form onSubmit=${submit}>
        <${Field} label="A person, a thing or a topic">
          <input required autocomplete="off" value=${subject} onInput=${(event) => setSubject(event.target.value)} />
        <//>
        <p class="muted">What is about it is shown first.</p>
        <div class="actions">
          <button type="button" onClick=${close}>Cancel</button>
          <button type="submit" class="primary" disabled=${!subject.trim()}>Show</button>
        </div>
      </form>
    <//>`}
    ${given &&
    html`<${Forgetting}
      requests=${[{ query: given }]}
      title=${`Forget “${given}”?`}
      user=${user}
      may=${may}
      close=${close}
      done=${(what) => {
        close();
        done(what);
      }}
    />`}
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
