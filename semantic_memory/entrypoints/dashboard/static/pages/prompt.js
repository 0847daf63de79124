import { html, useEffect, useState } from "../vendor/htm-preact-3.1.1.js";
import { api } from "../api.js";
import { useLoaded } from "../loading.js";
import { Category, Empty, LEFT_OUT, Loaded, MemoryLink, NoUser, plural } from "../parts.js";
import { go, href } from "../routing.js";

const MOST = 4000;

export function Prompt({ route, user }) {
  const { q, budget: asked = "600" } = route.params;
  const [query, setQuery] = useState(q ?? "");
  const [budget, setBudget] = useState(Number(asked));
  useEffect(() => setQuery(q ?? ""), [q]);
  // While the slider moves, nothing is asked.
  useEffect(() => {
    if (!q || String(budget) === asked) return undefined;
    const soon = setTimeout(() => go(href("prompt", { user, q, budget }), { replace: true }), 250);
    return () => clearTimeout(soon);
  }, [budget]);
  const loaded = useLoaded(
    user &&
      q &&
      (async (signal) => {
        const body = { user_id: user, query: q, budget: Number(asked) };
        return { context: await api.context(body, signal), budget: body.budget };
      }),
    [user, q, asked],
  );
  const set = (event) => setBudget(Math.min(100_000, Math.max(1, Number(event.target.value) || 1)));
  return html`
    <h1 tabindex="-1">Prompt</h1>
    <form
      class="asking"
      onSubmit=${(event) => {
        event.preventDefault();
        go(href("prompt", { user, q: query, budget }));
      }}
    >
      <div class="row">
        <label class="hidden" for="question">Question</label>
        <input
          id="question"
          class="big"
          type="search"
          required
          autocomplete="off"
          placeholder="What is the agent about to answer?"
          value=${query}
          onInput=${(event) => setQuery(event.target.value)}
        />
        <button type="submit" class="primary" disabled=${!user}>Pack</button>
      </div>
      <div class="budget">
        <label for="budget">Budget in tokens</label>
        <input id="budget" type="range" min="50" max=${MOST} step="10" value=${budget} onInput=${set} />
        <input type="number" min="1" max="100000" aria-label="Budget in tokens, exactly" value=${budget} onChange=${set} />
      </div>
    </form>
    ${!user && html`<${NoUser} />`}
    ${user && !q && html`<${Empty} title="See what a model would read">
      The memories that help with a question, packed into a budget of tokens.
    <//>`}
    ${user && q && html`<${Loaded} loaded=${loaded} what="Packing">
      ${(packed) => html`<${Packed} ...${packed} user=${user} query=${q} />`}
    <//>`}
  `;
}


function Packed({ context, budget, user, query }) {
  const [copied, setCopied] = useState(false);
  const used = `${context.tokens.toLocaleString()} of ${plural(budget, "token")} used`;
  const rest = context.omitted ? `, ${plural(context.omitted, "recalled memory", "recalled memories")} left out` : "";
  const copy = async () => {
    await navigator.clipboard.writeText(context.text);
    setCopied(true);
  };
  return html`
    <div class="tokens">
      <svg viewBox="0 0 1000 14" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width="1000" height="14" /><rect
          class="level"
          width=${Math.min(1000, (1000 * context.tokens) / budget)}
          height="14"
        />
      </svg>
      <p class="summary" aria-live="polite">${used}${rest}</p>
    </div>
    <div class="split">
      <section aria-labelledby="block">
        <div class="headline">
          <h2 id="block">The block</h2>
          <button type="button" onClick=${copy}>${copied ? "Copied" : "Copy"}</button>
        </div>
        ${context.text
          ? html`<pre class="block" tabindex="0" aria-label="The block as text">${context.text}</pre>`
          : html`<${Empty} title="An empty block">Nothing fits this budget, or nothing matches.<//>`}
      </section>
      <section aria-labelledby="holds">
        <h2 id="holds">What it holds</h2>
        <ol class="facts">
          ${context.facts.map(
            (fact) => html`<li key=${fact.id}><${MemoryLink} fact=${fact} /><${Category} name=${fact.category} /></li>`,
          )}
        </ol>
        ${context.left_out.length > 0 &&
        html`<details>
          <summary>The best that it leaves out (${context.left_out.length})</summary>
          <ul class="plain">
            ${context.left_out.map(
              ({ fact, reason }) => html`<li key=${fact.id} dir="auto">
                <${MemoryLink} fact=${fact} /> <span class="muted">${LEFT_OUT[reason]}</span>
              </li>`,
            )}
          </ul>
        </details>`}
        <p class="muted">
          Something missing? <a href=${href("why-not", { user, q: query, budget })}>Ask why</a>
        </p>
      </section>
    </div>
  `;
}
