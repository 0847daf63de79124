import { html, useState } from "../vendor/htm-preact-3.1.1.js";
import { api } from "../api.js";
import { useAction } from "../loading.js";
import { Empty, Failed, Loaded, When, plural } from "../parts.js";
import { Running, useRuns } from "../running.js";
import { Waiting } from "../waiting.js";

const JOBS = {
  usage: "counts what prompts were made of",
  relevance: "works out how relevant each memory is by now",
  expiry: "archives what has run out",
  dedup: "merges what says the same",
  conflicts: "supersedes what no longer holds",
  decay: "fades what isn't confirmed, archives what is below the floor",
  rollup: "brings profiles and histories up to date",
  compact: "erases what was forgotten",
};

export function Jobs({ user, may, caller }) {
  const everyone = caller.users.includes("*");
  const [scope, setScope] = useState("");
  const [result, setResult] = useState(null);
  const running = useAction();
  const history = useRuns(may("admin") && everyone, running.busy);
  if (!may("admin")) {
    return html`
      <h1 tabindex="-1">Jobs</h1>
      <${Empty} title="Not with this key">Running upkeep needs a key with the right to admin.<//>
    `;
  }
  const target = everyone ? scope : user;
  const run = (job, dry_run) =>
    running.run(async () => {
      setResult(null);
      const { items } = await api.maintain({ jobs: [job], user_id: target || null, dry_run });
      setResult(items[0]);
      if (!dry_run) history.reload();
    });
  return html`
    <h1 tabindex="-1">Jobs</h1>
    <${Waiting} may=${may} title="Reading what was said" heading="h2" />
    <h2>Upkeep</h2>
    <p class="muted">They run by themselves on a schedule. A dry run changes nothing and tells what it would do.</p>
    ${everyone && user &&
    html`<fieldset class="choices">
      <legend>For</legend>
      <label class="choice"><input type="radio" name="scope" checked=${!scope} onChange=${() => setScope("")} /> every user</label>
      <label class="choice"><input type="radio" name="scope" checked=${scope === user} onChange=${() => setScope(user)} /> ${user} only</label>
    </fieldset>`}
    <ul class="jobs card">
      ${Object.entries(JOBS).map(
        ([job, about]) => html`
          <li key=${job} class="job">
            <span><b>${job}</b> <span class="muted">${about}</span></span>
            <span class="actions">
              <button type="button" aria-label=${`Dry run: ${job}`} disabled=${running.busy} onClick=${() => run(job, true)}>Dry run</button>
              <button type="button" aria-label=${`Run now: ${job}`} disabled=${running.busy} onClick=${() => run(job, false)}>Run now</button>
            </span>
          </li>
        `,
      )}
    </ul>
    ${history.running.length > 0 &&
    html`<section class="card" aria-label="Under way">
      <h2>Under way</h2>
      ${history.running.map((run) => html`<${Running} key=${run.job} run=${run} />`)}
    </section>`}
    <div aria-live="polite">
      ${running.busy && !history.running.length && html`<p class="loading"><span class="spinner" aria-hidden="true"></span>Running…</p>`}
      ${running.error && html`<${Failed} error=${running.error} />`}
      ${result && html`<${Result} run=${result} />`}
    </div>
    ${everyone &&
    html`<section aria-labelledby="runs">
      <h2 id="runs">Past runs</h2>
      <${Loaded} loaded=${history}>${({ items }) => html`<${Runs} runs=${items.filter((one) => !one.running)} />`}<//>
    </section>`}
  `;
}

const countsOf = (counts) =>
  Object.entries(counts).map(([kind, number]) => `${number} ${kind.replace("_", " ")}`).join(", ");

function Result({ run }) {
  const what = countsOf(run.counts) || "nothing to do";
  return html`
    <div class=${run.error ? "notice bad" : "card"}>
      <h2>${run.dry_run ? "Dry run of" : "Ran"} ${run.job}: ${run.error ?? what}</h2>
      <p class="meta">${plural(run.users, "user")} looked at, ${run.seconds.toFixed(2)} s</p>
      ${run.planned.length > 0 &&
      html`<ol class="planned" aria-label="What it would do">
        ${run.planned.map((line, place) => html`<li key=${place}>${line}</li>`)}
      </ol>`}
    </div>
  `;
}

function Runs({ runs }) {
  if (!runs.length) return html`<${Empty} title="No runs yet">Runs that did something are listed here.<//>`;
  return html`
    <div class="card listing">
      <table>
        <caption class="hidden">Past runs, the latest first</caption>
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col">Did</th>
            <th scope="col" class="right wide-only">Users</th>
            <th scope="col" class="right wide-only">Seconds</th>
            <th scope="col">Started</th>
          </tr>
        </thead>
        <tbody>
          ${runs.map(
            (run) => html`
              <tr key=${run.job + run.started_at}>
                <td>${run.job}</td>
                <td>${run.error ?? (countsOf(run.counts) || "nothing")}</td>
                <td class="right wide-only">${run.users}</td>
                <td class="right wide-only">${run.seconds.toFixed(2)}</td>
                <td><${When} at=${run.started_at} /></td>
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `;
}
