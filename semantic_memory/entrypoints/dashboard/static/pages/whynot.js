import { html, useState } from "../vendor/htm-preact-3.1.1.js";
import { inspection } from "../inspection.js";
import { useLoaded } from "../loading.js";
import { Category, Empty, Field, Loaded, MemoryLink, NoUser, Status, plural } from "../parts.js";
import { go, href } from "../routing.js";
import { Why } from "../settling.js";

export function WhyNot({ route, user }) {
  const { q, text, id, budget } = route.params;
  const asked = user && q && (text || id);
  const loaded = useLoaded(
    asked &&
      ((signal) =>
        inspection.whyNot(
          { user_id: user, query: q, ...(id ? { memory_id: id } : { text }), ...(budget ? { budget: Number(budget) } : {}) },
          signal,
        )),
    [user, q, text, id, budget],
  );
  return html`
    <h1 tabindex="-1">Why not?</h1>
    <p class="muted">Ask why a memory wasn't found for a question, or wasn't in a prompt.</p>
    <${Form} key=${JSON.stringify(route.params)} params=${route.params} user=${user} />
    ${!user && html`<${NoUser} />`}
    ${asked && html`<${Loaded} loaded=${loaded} what="Looking">
      ${(value) => html`<${Answer} absence=${value} params=${route.params} user=${user} />`}
    <//>`}
    ${user && !asked && html`<${Empty} title="Which memory is missing?">
      Type the question, and the memory that you had expected in your own words.
    <//>`}
  `;
}

function Form({ params, user }) {
  const [form, setForm] = useState({ within: params.budget ? "prompt" : "search", budget: "2000", ...params });
  const set = (name) => (event) => setForm({ ...form, [name]: event.target.value });
  return html`
    <form
      class="asking"
      onSubmit=${(event) => {
        event.preventDefault();
        const { q, text, within, budget } = form;
        // Words that were typed anew ask anew; a memory that was chosen stays chosen.
        const id = text === params.text ? params.id : undefined;
        go(href("why-not", { user, q, text, id, budget: within === "prompt" ? budget : undefined }));
      }}
    >
      <${Field} label="Question" wide>
        <input class="big" type="search" required autocomplete="off" dir="auto" value=${form.q ?? ""} onInput=${set("q")} placeholder="Where does she live?" />
      <//>
      <${Field} label="Expected memory" wide>
        <input class="big" type="search" required=${!params.id} autocomplete="off" dir="auto" value=${form.text ?? ""} onInput=${set("text")} placeholder="lives in Lisbon" />
      <//>
      <div class="filters">
        <${Field} label="Expected in">
          <select value=${form.within} onChange=${set("within")}>
            <option value="search">a search</option>
            <option value="prompt">a prompt</option>
          </select>
        <//>
        ${form.within === "prompt" &&
        html`<${Field} label="Budget in tokens"><input type="number" min="1" max="100000" value=${form.budget} onInput=${set("budget")} /><//>`}
        <div class="actions"><button type="submit" class="primary" disabled=${!user}>Why not?</button></div>
      </div>
    </form>
  `;
}

const OTHERS = {
  agents: "it belongs to another agent",
  not_agents: "it belongs to an agent that is left out",
  runs: "it belongs to another run",
  not_runs: "it belongs to a run that is left out",
};

// Title and explanation of each reason, in the words of a person.
const REASONS = {
  came: () => ["It is there", "The answer holds this memory."],
  unknown: () => ["Nothing says that", "No memory of this user says it: it was never said, or never kept."],
  forgotten: () => ["It was forgotten", "It was forgotten for good, and is in no answer any more."],
  scope: ({ fields }) => ["It belongs to somebody else", `The question was asked for one agent or run only: ${fields.map((name) => OTHERS[name]).join(", ")}.`],
  quarantined: () => ["It was set aside as unsafe", "It reads like an instruction to a model, so no answer shows it until somebody says that it is safe."],
  archived: ({ by }) => ["It was put away", by ? "It was merged into another memory, which says the same." : "It faded, as nobody said it again for long."],
  superseded: () => ["It no longer holds", "A newer statement ended it."],
  expired: () => ["It has expired", "It was kept for a time only, which is over."],
  "not believed then": () => ["It wasn't believed then", "The question asks for a time at which it wasn't believed."],
  filtered: ({ fields }) => ["A filter leaves it out", `It doesn't pass: ${fields.join(", ").replaceAll("_", " ")}.`],
  told: () => ["Another line says it", "The answer holds the same in other words: its message, or a fact that was drawn from it."],
  "neither arm": () => ["Nothing connects it with the question", "It shares no word with the question, and isn't near it in meaning."],
  "below rank": ({ place, asked_for }) => [
    "Others matched better",
    place === null || place === undefined ? "It came after all those that were looked at." : `It is number ${place}; ${plural(asked_for, "memory", "memories")} were asked for.`,
  ],
  weak: () => ["It matched too little", "It was found, but matches too little to be worth its tokens beside the others."],
  "other topic": () => ["It is about something else", "It was found, but shares nothing with the question or with the better memories."],
  repeats: () => ["It repeats another line", "It was found, but a line of the prompt says it already."],
  budget: () => ["There was no room left", "It was found and worth its tokens, but the budget was spent."],
};

function Answer({ absence, params, user }) {
  const { reason, memory, by, nearest, candidates } = absence;
  const [title, text] = REASONS[reason](absence);
  const others = candidates.filter((one) => one.id !== memory?.id);
  return html`
    <section class=${`card verdict ${reason === "came" ? "good" : ""}`} aria-labelledby="verdict">
      <h2 id="verdict">${title}</h2>
      ${memory &&
      html`<blockquote dir="auto">
        <${MemoryLink} fact=${memory} />
        <p class="meta"><${Category} name=${memory.category} /> <${Status} name=${memory.status} /></p>
      </blockquote>`}
      <p>${text}</p>
      ${by && html`<p dir="auto"><span class="muted">In its place: </span><${MemoryLink} fact=${by} /></p>`}
      ${reason === "superseded" && html`<${Why} cause=${memory.ended_by} />`}
      <${Figures} absence=${absence} />
      ${nearest && reason !== "came" &&
      html`<p dir="auto"><span class="muted">The nearest that did come (${nearest.score.toFixed(3)}): </span><${MemoryLink} fact=${nearest.fact} /></p>`}
    </section>
    ${others.length > 0 &&
    html`<section aria-labelledby="meant">
      <h2 id="meant">${memory ? "Or did you mean" : "The most alike that are kept"}</h2>
      <ul class="items card">
        ${others.map(
          (one) => html`<li key=${one.id} class="item">
            <div class="told">
              <p dir="auto"><a href=${href("why-not", { ...params, user, id: one.id })}>${one.content}</a></p>
              <p class="meta"><${Category} name=${one.category} /> <${Status} name=${one.status} /></p>
            </div>
          </li>`,
        )}
      </ul>
    </section>`}
    <section aria-labelledby="came">
      <h2 id="came">What came instead</h2>
      ${absence.answer.length
        ? html`<ol class="facts">
            ${absence.answer.slice(0, 20).map((hit) => html`<li key=${hit.fact.id} dir="auto"><${MemoryLink} fact=${hit.fact} /> <span class="muted">${hit.score.toFixed(3)}</span></li>`)}
          </ol>`
        : html`<p class="muted">Nothing.</p>`}
    </section>
  `;
}

function Figures({ absence }) {
  const { place, place_by_meaning, place_by_words, ranked, score, needed } = absence;
  if (place === null || place === undefined) return null;
  const short = needed === null || score >= needed ? "" : ` The last one that came has ${needed.toFixed(3)}.`;
  return html`<p class="muted">
    Score ${score.toFixed(3)}: number ${place} of ${ranked.toLocaleString()}; by meaning number ${place_by_meaning},
    ${place_by_words ? ` by words number ${place_by_words}` : " and no word in common"}.${short}
  </p>`;
}
