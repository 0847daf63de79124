import { html, useEffect, useRef, useState } from "../vendor/htm-preact-3.1.1.js";
import { api } from "../api.js";
import { Chart } from "../charts.js";
import { Conversation, excerpts } from "../conversation.js";
import { useAction, useLoaded } from "../loading.js";
import {
  CATEGORIES,
  Category,
  Dialog,
  Failed,
  Field,
  Further,
  Loaded,
  MemoryLink,
  Meter,
  Review,
  Status,
  Tags,
  When,
  plural,
} from "../parts.js";
import { inspection } from "../inspection.js";
import { href } from "../routing.js";
import { Why } from "../settling.js";

const RESTORABLE = new Set(["superseded", "archived", "quarantined"]);
const DAY = 86_400_000;
const PROMPTS = 20; // at first
const MOST_PROMPTS = 1000; // that the service lists
const TRACES = 200; // among which those that showed a memory are sought

export function Memory({ route, user, may }) {
  const id = route.id;
  // The address says whose it is; a key for every user finds it without.
  const owner = route.params.user;
  const [said, setSaid] = useState("");
  const loaded = useLoaded(
    async (signal) => {
      const history = (await api.history(id, owner, signal)).items;
      const last = history[history.length - 1];
      if (last.fact.status === "forgotten") return { history, gone: last };
      return { history, ...(await api.memory(id, owner, signal)) };
    },
    [id, owner],
  );
  const done = (what) => {
    setSaid(what);
    loaded.reload();
  };
  const title = loaded.value?.gone ? "Deleted" : (loaded.value?.fact.content ?? "Memory");
  return html`
    <p class="crumbs"><a href=${href("memories", { user })}>Memories</a> / <span>${id}</span></p>
    <h1 tabindex="-1">${title}</h1>
    <p class="summary" aria-live="polite">${said}</p>
    <${Loaded} loaded=${loaded}>
      ${(value) =>
        value.gone
          ? html`<${Gone} last=${value.gone} history=${value.history} />`
          : html`<${Present} ...${value} may=${may} done=${done} />`}
    <//>
  `;
}

function Gone({ last, history }) {
  return html`
    <div class="notice">
      <p>
        This memory was deleted on <${When} at=${last.at} />${last.reason && html`: ${last.reason}`}. It
        is in no answer any more, and can't be restored.
      </p>
    </div>
    <${History} history=${history} />
  `;
}

function Present({
  fact,
  history,
  half_life_days,
  retention,
  replaced_by,
  replaced,
  perhaps_changed_by,
  may,
  done,
}) {
  const [editing, setEditing] = useState(false);
  return html`
    <article>
      <header class="memory-head">
        <p class="meta">
          <${Category} name=${fact.category} /> <${Status} name=${fact.status} />
          <${Review} name=${fact.review} />
          <span>said <${When} at=${fact.created_at} /></span>
          <${Tags} tags=${fact.tags} />
        </p>
        ${!editing && html`<${Actions} fact=${fact} may=${may} done=${done} edit=${() => setEditing(true)} />`}
      </header>
      ${editing &&
      html`<${Edit}
        fact=${fact}
        leave=${() => setEditing(false)}
        done=${(what) => {
          setEditing(false);
          done(what);
        }}
      />`}
      <${Lineage} fact=${fact} replaced=${replaced} replacedBy=${replaced_by} />
      <${Doubts} fact=${fact} newer=${perhaps_changed_by} may=${may} done=${done} />
      <div class="columns">
        <div class="column">
          <section aria-labelledby="sources">
            <h2 id="sources">Where it was said</h2>
            <${Sources} fact=${fact} />
          </section>
          <${History} history=${history} />
        </div>
        <div class="column">
          <section aria-labelledby="decay">
            <h2 id="decay">Retention</h2>
            <div class="card"><${Decay} fact=${fact} halfLife=${half_life_days} retention=${retention} /></div>
          </section>
          <section aria-labelledby="prompts">
            <h2 id="prompts">Prompts it was in</h2>
            <div class="card"><${Prompts} fact=${fact} /></div>
          </section>
          <section aria-labelledby="fields">
            <h2 id="fields">Fields</h2>
            <div class="card"><${Fields} fact=${fact} /></div>
          </section>
        </div>
      </div>
    </article>
  `;
}

function Actions({ fact, may, done, edit }) {
  const [asking, setAsking] = useState(null);
  const [reason, setReason] = useState("");
  const acting = useAction();
  const deleting = asking === "delete";
  const act = (event) => {
    event.preventDefault();
    acting.run(async () => {
      await (deleting ? api.remove : api.restore)(fact.id, fact.user_id, reason);
      setAsking(null);
      done(deleting ? "Deleted." : "Restored: it is believed again.");
    });
  };
  if (!may("write")) return html`<p class="muted small">This key may read, not change.</p>`;
  return html`
    <div class="actions">
      <button type="button" onClick=${edit}>Edit</button>
      ${RESTORABLE.has(fact.status) &&
      html`<button type="button" onClick=${() => setAsking("restore")}>Restore</button>`}
      <button type="button" class="bad" onClick=${() => setAsking("delete")}>Delete</button>
    </div>
    ${asking &&
    html`<${Dialog}
      title=${deleting ? "Delete this memory?" : "Believe this memory again?"}
      onClose=${() => setAsking(null)}
    >
      <blockquote>${fact.content}</blockquote>
      <p>
        ${deleting
          ? "It leaves every answer permanently: a deleted memory can't be restored."
          : "It comes back into answers, beside what replaced it."}
      </p>
      <form onSubmit=${act}>
        <${Field} label="Reason (kept in its history)" wide>
          <input maxlength="1000" value=${reason} onInput=${(event) => setReason(event.target.value)} />
        <//>
        ${acting.error && html`<${Failed} error=${acting.error} />`}
        <div class="actions">
          <button type="button" onClick=${() => setAsking(null)}>Cancel</button>
          <button type="submit" class=${deleting ? "bad" : "primary"} disabled=${acting.busy}>
            ${deleting ? "Delete" : "Restore"}
          </button>
        </div>
      </form>
    <//>`}
  `;
}

function Edit({ fact, leave, done }) {
  const [form, setForm] = useState({
    content: fact.content,
    category: fact.category,
    confidence: fact.confidence,
    importance: fact.importance,
    tags: fact.tags.join(", "),
    reason: "",
  });
  const first = useRef();
  useEffect(() => first.current.focus(), []);
  const saving = useAction();
  const set = (name) => (event) => setForm({ ...form, [name]: event.target.value });
  const save = (event) => {
    event.preventDefault();
    const wanted = {
      content: form.content,
      category: form.category,
      confidence: Number(form.confidence),
      importance: Number(form.importance),
      tags: form.tags.split(/[\s,]+/).filter(Boolean),
    };
    const changed = Object.entries(wanted).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(fact[name]),
    );
    saving.run(async () => {
      if (!changed.length) return leave();
      await api.update(fact.id, fact.user_id, { ...Object.fromEntries(changed), reason: form.reason });
      return done("Saved.");
    });
  };
  return html`
    <form class="card edit" aria-label="Edit this memory" onSubmit=${save}>
      <${Field} label="Content" wide>
        <textarea ref=${first} required rows="3" value=${form.content} onInput=${set("content")}></textarea>
      <//>
      <div class="filters">
        <${Field} label="Category">
          <select value=${form.category} onChange=${set("category")}>
            ${CATEGORIES.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
          </select>
        <//>
        <${Field} label="Confidence">
          <input type="number" min="0" max="1" step="any" required value=${form.confidence} onInput=${set("confidence")} />
        <//>
        <${Field} label="Importance">
          <input type="number" min="0" max="1" step="any" required value=${form.importance} onInput=${set("importance")} />
        <//>
        <${Field} label="Tags">
          <input value=${form.tags} placeholder="work.code, health" onInput=${set("tags")} />
        <//>
      </div>
      <${Field} label="Reason (kept in its history)" wide>
        <input maxlength="1000" value=${form.reason} onInput=${set("reason")} />
      <//>
      ${saving.error && html`<${Failed} error=${saving.error} />`}
      <div class="actions">
        <button type="submit" class="primary" disabled=${saving.busy}>Save</button>
        <button type="button" onClick=${leave}>Cancel</button>
      </div>
    </form>
  `;
}

function Lineage({ fact, replaced, replacedBy }) {
  if (!replaced.length && !replacedBy) return null;
  const how = fact.status === "archived" ? "was merged into" : "was replaced by";
  return html`
    <section class="lineage" aria-label="What replaced what">
      <ol>
        ${replaced.map(
          (one) => html`
            <li key=${one.id} class="past">
              <span class="how">${one.status === "archived" ? "took in" : "replaced"}</span>
              <${MemoryLink} fact=${one} />
              <small><${When} at=${one.valid_from} dayOnly /> – <${When} at=${one.valid_to} dayOnly /></small>
            </li>
          `,
        )}
        <li class="present" aria-current="true">
          <span class="how">this memory</span><span>${fact.content}</span>
          <small>from <${When} at=${fact.valid_from} dayOnly /></small>
        </li>
        ${replacedBy &&
        html`<li class="next">
          <span class="how">${how}</span><${MemoryLink} fact=${replacedBy} />
          <small>from <${When} at=${replacedBy.valid_from} dayOnly /></small>
          ${fact.ended_by && html`<${Why} cause=${fact.ended_by} />`}
        </li>`}
      </ol>
    </section>
  `;
}

function Doubts({ fact, newer, may, done }) {
  const acting = useAction();
  if (!newer.length || fact.status !== "active") return null;
  const causes = new Map(fact.perhaps_changed.map((cause) => [cause.newer, cause]));
  const settle = (answer, one, said) => () =>
    acting.run(async () => {
      await api.settleLink(answer, fact.id, one.id, fact.user_id, "");
      done(said);
    });
  return html`
    <section class="lineage" aria-labelledby="doubts">
      <h2 id="doubts">Perhaps changed</h2>
      ${acting.error && html`<${Failed} error=${acting.error} />`}
      <ol>
        ${newer.map(
          (one) => html`
            <li key=${one.id} class="next">
              <span class="how">perhaps changed by</span><${MemoryLink} fact=${one} />
              <small>said <${When} at=${one.created_at} dayOnly /></small>
              <${Why} cause=${causes.get(one.id)} />
              ${may("write") &&
              html`<div class="actions">
                <button
                  type="button"
                  disabled=${acting.busy}
                  onClick=${settle("accept", one, "Accepted: it has ended.")}
                >
                  It changed
                </button>
                <button
                  type="button"
                  disabled=${acting.busy}
                  onClick=${settle("reject", one, "Rejected: both stay, and are kept apart.")}
                >
                  Both hold
                </button>
              </div>`}
            </li>
          `,
        )}
      </ol>
    </section>
  `;
}

const days = (number) => (number < 1 ? "less than a day" : plural(Math.round(number), "day"));

function Decay({ fact, halfLife, retention }) {
  if (halfLife === null) {
    return html`<p>
      ${fact.tags.includes("pinned") ? "A pinned memory" : html`A memory of category <b>${fact.category}</b>`}${" "}
      never fades: its retention stays at <b>1</b>.
    </p>`;
  }
  const stated = Math.max(new Date(fact.created_at), new Date(fact.confirmed_at ?? fact.created_at));
  const age = retention < 1 && retention > 0.1
    ? -halfLife * Math.log2(retention) // by the service's clock
    : Math.max(0, (Date.now() - stated) / DAY);
  const end = Math.max(4 * halfLife, age * 1.15);
  const curve = Array.from({ length: 121 }, (_, place) => {
    const at = (end * place) / 120;
    return [at, Math.max(0.1, 2 ** (-at / halfLife))];
  });
  const text = `${days(age)} after it was last said, ${Math.round(100 * retention)} % is left. It halves every ${days(halfLife)} and stays at 10 % at least.`;
  return html`
    <${Chart}
      lines=${[{ name: "retention", points: curve }]}
      most=${1}
      height=${190}
      format=${(value) => value.toFixed(1)}
      formatX=${(value) => (value === 0 ? "last said" : `${Math.round(value)} d`)}
      xTicks=${[[0, "start"], [end / 2, "middle"], [end, "end"]]}
      marks=${[{ x: age, y: retention, label: `today ${retention.toFixed(2)}` }]}
      levels=${[]}
      label=${`Retention over time. ${text}`}
    />
    <p class="muted small">${text}</p>
  `;
}

function Body({ body }) {
  const { kind, ...parts } = body;
  const shown = Object.entries(parts).filter(([, value]) => value?.length);
  return html`
    <dl class="fields">
      ${shown.map(([name, value]) => html`
        <div key=${name}>
          <dt>${name}</dt>
          <dd>${Array.isArray(value) ? html`<ol>${value.map((one, place) => html`<li key=${place}>${one}</li>`)}</ol>` : value}</dd>
        </div>
      `)}
    </dl>
  `;
}

function Fields({ fact }) {
  const metadata = Object.keys(fact.metadata).length > 0;
  const row = (name, value) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`;
  return html`
    <dl class="fields">
      ${row("id", html`<code>${fact.id}</code>`)}
      ${row("user", fact.user_id)}
      ${fact.agent_id && row("agent", fact.agent_id)}
      ${fact.run_id && row("run", fact.run_id)}
      ${row("status", fact.status)}
      ${row("confidence", html`<${Meter} value=${fact.confidence} label="confidence" />`)}
      ${row("trust", fact.trust)}
      ${row("importance", html`<${Meter} value=${fact.importance} label="importance" />`)}
      ${fact.body && row(fact.body.kind, html`<${Body} body=${fact.body} />`)}
      ${fact.expires_at && row("expires", html`<${When} at=${fact.expires_at} />`)}
      ${row("said", html`<${When} at=${fact.created_at} />`)}
      ${row("recorded", html`<${When} at=${fact.recorded_at} />`)}
      ${row("valid from", html`<${When} at=${fact.valid_from} />`)}
      ${row("valid to", html`<${When} at=${fact.valid_to} />`)}
      ${row("confirmed", html`<${When} at=${fact.confirmed_at} />`)}
      ${row("last used", html`<${When} at=${fact.last_used_at} />`)}
      ${row("used", plural(fact.use_count, "time"))}
      ${row("extractor", fact.source.extractor)}
      ${row("speaker", fact.source.speaker ?? fact.source.role ?? "–")}
      ${row("version", fact.version)}
      ${fact.references.length > 0 && row("references", fact.references.map((one) => html`<code key=${one}>${one}</code> `))}
      ${metadata && row("metadata", html`<pre>${JSON.stringify(fact.metadata, null, 1)}</pre>`)}
    </dl>
  `;
}

const SHOWN_FOR = {
  recalled: "found for the question",
  core: "part of the core profile",
  profile: "part of the profile",
  history: "part of the history",
  important: "important enough to be always shown",
};

// The trace of a prompt, if it is still kept: both are written when the block is packed.
const traceOf = (traces, prompt, fact) =>
  traces.find(
    (one) => one.kind === "context" && one.shown.includes(fact.id) && Math.abs(new Date(one.at) - new Date(prompt.at)) < 2000,
  );

function Prompts({ fact }) {
  const [limit, setLimit] = useState(PROMPTS);
  const loaded = useLoaded((signal) => inspection.audit(fact.user_id, fact.id, limit, signal), [fact.id, limit]);
  const traces = useLoaded((signal) => inspection.traces(fact.user_id, TRACES, signal), [fact.id]);
  const missed = href("why-not", { user: fact.user_id, id: fact.id, text: fact.content.slice(0, 200) });
  return html`
    <${Loaded} loaded=${loaded}>
      ${({ items }) =>
        items.length
          ? html`<ul class="plain">
              ${items.map((one, place) => {
                const part = one.memories.find((memory) => memory.id === fact.id);
                const trace = traceOf(traces.value?.items ?? [], one, fact);
                return html`<li key=${place}>
                  ${trace
                    ? html`<a href=${href("traces", { user: fact.user_id }, trace.id)}><${When} at=${one.at} /></a>`
                    : html`<${When} at=${one.at} />`} ${SHOWN_FOR[part.reason]}${part.score === null || part.score === undefined ? "" : `, score ${part.score.toFixed(3)}`}
                  ${one.session_id && html` <a href=${href("sessions", { user: fact.user_id }, one.session_id)}>${one.session_id}</a>`}
                </li>`;
              })}
            </ul>
            <${Further} number=${items.length} limit=${limit} most=${MOST_PROMPTS} more=${() => setLimit(MOST_PROMPTS)} />`
          : html`<p class="muted">In none of the latest.</p>`}
    <//>
    <p><a href=${missed}>Why wasn't it found?</a></p>
  `;
}

function Sources({ fact }) {
  const bySession = new Map();
  for (const source of [fact.source, ...fact.corroborations]) {
    if (!source.session_id) continue;
    const ids = bySession.get(source.session_id) ?? [];
    bySession.set(source.session_id, [...ids, ...source.message_ids]);
  }
  if (!bySession.size) {
    return html`<p class="muted">
      In no conversation: it was added by <code>${fact.source.extractor}</code>.
    </p>`;
  }
  return [...bySession].map(
    ([session, ids]) => html`<${Excerpt} key=${session} fact=${fact} session=${session} ids=${ids} />`,
  );
}

function Excerpt({ fact, session, ids }) {
  const loaded = useLoaded(
    (signal) => api.messages(fact.user_id, session, signal),
    [fact.user_id, session],
  );
  const whole = href("sessions", { user: fact.user_id, message: ids[0] }, session);
  return html`
    <div class="card">
      <p class="meta">Session <b>${session}</b> <a href=${whole}>the whole conversation</a></p>
      <${Loaded} loaded=${loaded}>
        ${({ items }) => {
          const runs = excerpts(items, ids);
          if (!runs.length) return html`<p class="muted">Its messages have been forgotten.</p>`;
          return runs.map(
            (run) => html`<${Conversation} key=${run[0].id} messages=${run} marked=${new Set(ids)} />`,
          );
        }}
      <//>
    </div>
  `;
}

const COMPARED = ["content", "category", "confidence", "importance", "status", "tags", "valid_to", "superseded_by", "references", "metadata"];

const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));

function History({ history }) {
  return html`
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      <ol class="history">
        ${history
          .map((version, place) => ({ version, before: history[place - 1] }))
          .reverse()
          .map(({ version, before }) => {
            const changed = before
              ? COMPARED.filter((name) => shown(version.fact[name]) !== shown(before.fact[name]))
              : [];
            return html`
              <li key=${version.version}>
                <p class="meta">
                  <b>${version.action}</b> <${When} at=${version.at} />
                  <span>version ${version.version}</span>
                </p>
                ${version.reason && html`<p>${version.reason}</p>`}
                ${version.fact.status === "superseded" &&
                version.fact.ended_by &&
                html`<${Why} cause=${version.fact.ended_by} />`}
                ${!before && html`<p class="said">${version.fact.content}</p>`}
                ${changed.length > 0 &&
                html`<dl class="changes">
                  ${changed.map(
                    (name) => html`
                      <div key=${name}>
                        <dt>${name.replace("_", " ")}</dt>
                        <dd><del>${shown(before.fact[name]) ?? "–"}</del> <ins>${shown(version.fact[name]) ?? "–"}</ins></dd>
                      </div>
                    `,
                  )}
                </dl>`}
              </li>
            `;
          })}
      </ol>
    </section>
  `;
}
