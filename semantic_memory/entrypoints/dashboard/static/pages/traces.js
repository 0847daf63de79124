import { html, useState } from "../vendor/htm-preact-3.1.1.js";
import { api } from "../api.js";
import { inspection } from "../inspection.js";
import { useLoaded } from "../loading.js";
import { Category, Empty, Further, LEFT_OUT, Loaded, MemoryLink, NoUser, Status, When, plural } from "../parts.js";
import { href } from "../routing.js";
import { Score } from "../score.js";

const STEPS = {
  question: "reading the question",
  words: "looking up words",
  embedding: "embedding the question",
  ranking: "ranking by meaning and words",
  ordering: "putting newer statements first",
  profile: "profile and history",
  related: "what stands around",
  packing: "packing",
};
const MOST = 200; // that the service lists
const milliseconds = (value) => `${value < 10 ? value.toFixed(2) : Math.round(value)} ms`;
const total = (steps) => Object.values(steps).reduce((sum, one) => sum + one, 0);

export function Traces({ route, user }) {
  if (!user) return html`<h1 tabindex="-1">Traces</h1><${NoUser} />`;
  return route.id === undefined ? html`<${List} user=${user} />` : html`<${One} id=${route.id} user=${user} />`;
}

function List({ user }) {
  const [limit, setLimit] = useState(50);
  const loaded = useLoaded((signal) => inspection.traces(user, limit, signal), [user, limit]);
  return html`
    <h1 tabindex="-1">Traces</h1>
    <p class="muted">What the latest searches and prompts were made of. They hold ids and figures; the settings say whether questions too.</p>
    <${Loaded} loaded=${loaded}>
      ${({ items }) =>
        items.length
          ? html`
              <div class="card listing">
                <table>
                  <caption class="hidden">Searches and prompts, the latest first</caption>
                  <thead>
                    <tr>
                      <th scope="col">When</th>
                      <th scope="col">What</th>
                      <th scope="col">Question</th>
                      <th scope="col" class="right wide-only">Found</th>
                      <th scope="col" class="right wide-only">Took</th>
                    </tr>
                  </thead>
                  <tbody>
                    ${items.map(
                      (one) => html`
                        <tr key=${one.id}>
                          <td class="when"><a href=${href("traces", { user }, one.id)}><${When} at=${one.at} /></a></td>
                          <td>${one.kind === "search" ? "search" : "prompt"}</td>
                          <td dir="auto">${one.query ?? html`<span class="muted">not kept</span>`}</td>
                          <td class="right wide-only">${one.found}</td>
                          <td class="right wide-only">${milliseconds(total(one.steps_ms))}</td>
                        </tr>
                      `,
                    )}
                  </tbody>
                </table>
              </div>
              <${Further} number=${items.length} limit=${limit} most=${MOST} more=${() => setLimit(MOST)}>
                Older ones are reached from the memories that they showed.
              <//>
            `
          : html`<${Empty} title="No traces">Nothing was asked about this user in the last days, or no traces are kept.<//>`}
    <//>
  `;
}

function One({ id, user }) {
  const loaded = useLoaded(
    async (signal) => {
      const [shown, ranking] = await Promise.all([inspection.trace(id, user, signal), api.ranking(signal)]);
      return { ...shown, ranking };
    },
    [id, user],
  );
  return html`
    <p class="crumbs"><a href=${href("traces", { user })}>Traces</a> / <span>${id}</span></p>
    <h1 tabindex="-1">${loaded.value?.trace.query ?? "Trace"}</h1>
    <${Loaded} loaded=${loaded}>
      ${({ trace, facts, ranking }) => html`<${Told} trace=${trace} facts=${new Map(facts.map((one) => [one.id, one]))} ranking=${ranking} user=${user} />`}
    <//>
  `;
}

const Named = ({ fact }) =>
  fact ? html`<${MemoryLink} fact=${fact} /> <${Status} name=${fact.status} />` : html`<span class="muted">a memory that was forgotten since</span>`;

function Told({ trace, facts, ranking, user }) {
  const { candidates, left_out, shown, steps_ms, query } = trace;
  const longest = Math.max(...Object.values(steps_ms), 0.001);
  const why = (one) => href("why-not", { user, q: query, id: one, budget: trace.kind === "context" ? trace.asked_for : undefined });
  const recalled = new Set(candidates.map((one) => one.id));
  const rest = shown.filter((one) => !recalled.has(one));
  return html`
    <p class="meta">
      <span>${trace.kind === "search" ? `search for ${trace.asked_for}` : `prompt of at most ${plural(trace.asked_for, "token")}`}</span>
      <span><${When} at=${trace.at} /></span>
      ${trace.caller && html`<span>by ${trace.caller}</span>`}
      ${trace.session_id && html`<a href=${href("sessions", { user }, trace.session_id)}>${trace.session_id}</a>`}
      ${trace.narrowed.length > 0 && html`<span>narrowed by ${trace.narrowed.join(", ").replaceAll("_", " ")}</span>`}
      ${query && html`<a href=${href("search", { user, q: query, as_of: trace.at.slice(0, 10) })}>ask again as of that day</a>`}
    </p>
    ${trace.kind === "context" && html`<p>${plural(trace.tokens, "token")} used, ${plural(shown.length, "memory", "memories")} shown, ${trace.omitted} without room.</p>`}
    <section aria-labelledby="steps">
      <h2 id="steps">Steps, ${milliseconds(total(steps_ms))}</h2>
      <ul class="bars card">
        ${Object.entries(steps_ms).map(
          ([step, took]) => html`<li key=${step}>
            <span>${STEPS[step] ?? step}</span>
            <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="level" width=${Math.max(0.5, (100 * took) / longest)} height="6" /></svg>
            <span class="number">${milliseconds(took)}</span>
          </li>`,
        )}
      </ul>
    </section>
    <section aria-labelledby="candidates">
      <h2 id="candidates">The best ${candidates.length} of ${plural(trace.found, "candidate")}</h2>
      <ol class="hits">
        ${candidates.map((one) => {
          const fact = facts.get(one.id);
          return html`<li key=${one.id} class="card hit">
            <div class="headline">
              <h3 dir="auto"><${Named} fact=${fact} /></h3>
              ${trace.kind === "context" && html`<span class=${one.in_block ? "badge good" : "badge"}>${one.in_block ? "in the prompt" : "left out"}</span>`}
            </div>
            ${fact && html`<p class="meta"><${Category} name=${fact.category} /><${When} at=${fact.created_at} dayOnly /></p>`}
            <${Score} hit=${one} ranking=${ranking} />
          </li>`;
        })}
      </ol>
    </section>
    ${rest.length > 0 &&
    html`<section aria-labelledby="rest">
      <h2 id="rest">Also in the prompt</h2>
      <p class="muted">Profile, history, what is always shown, and newer statements beside the candidates.</p>
      <ul class="plain">${rest.map((one) => html`<li key=${one} dir="auto"><${Named} fact=${facts.get(one)} /></li>`)}</ul>
    </section>`}
    ${left_out.length > 0 &&
    html`<section aria-labelledby="left">
      <h2 id="left">Left out of the prompt</h2>
      <ul class="items card">
        ${left_out.map(
          ({ id, reason }) => html`<li key=${id} class="item">
            <div class="told"><p dir="auto"><${Named} fact=${facts.get(id)} /></p><p class="meta"><span>${LEFT_OUT[reason]}</span></p></div>
            ${query && html`<div class="actions"><a href=${why(id)}>Why not?</a></div>`}
          </li>`,
        )}
      </ul>
    </section>`}
  `;
}
