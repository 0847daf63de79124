// The jobs under way, live: on the overview and on the page of jobs.

import { html, useEffect } from "./vendor/htm-preact-3.1.1.js";
import { api } from "./api.js";
import { useLoaded } from "./loading.js";
import { duration, plural } from "./parts.js";

const BUSY_MS = 1000;
const IDLE_MS = 6000; // until a job that begins is seen

// The latest runs, asked for again and again; sooner while one is under way, or `busy`.
export function useRuns(wanted, busy = false) {
  const loaded = useLoaded(wanted && ((signal) => api.runs(signal)), [wanted, busy]);
  const runs = loaded.value?.items ?? [];
  const running = runs.filter((one) => one.running);
  useEffect(() => {
    if (!wanted || loaded.loading || loaded.error) return undefined;
    let soon;
    const again = () => {
      if (document.hidden) soon = setTimeout(again, IDLE_MS);
      else loaded.reload();
    };
    soon = setTimeout(again, busy || running.length ? BUSY_MS : IDLE_MS);
    return () => clearTimeout(soon);
  }, [loaded.value, loaded.loading, loaded.error, busy]);
  return { ...loaded, running };
}

const left = ({ seconds_left }) => (seconds_left === null ? "" : `, about ${duration(seconds_left)} left`);

export function Running({ run }) {
  const { users, total } = run;
  const share = total ? Math.min(100, Math.floor((100 * users) / total)) : null;
  return html`
    <label class="progress">
      <span>
        ${run.dry_run ? "Dry run of " : ""}<b>${run.job}</b>:${" "}
        ${share === null ? "beginning" : `${share} %, ${users.toLocaleString()} of ${plural(total, "user")}${left(run)}`}
      </span>
      ${share === null ? html`<progress></progress>` : html`<progress max=${total} value=${users}></progress>`}
    </label>
  `;
}
