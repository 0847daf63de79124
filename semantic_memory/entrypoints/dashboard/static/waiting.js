// How far the reading of what was said is, live: on the overview and beside the jobs.

import { html, useEffect, useRef } from "./vendor/htm-preact-3.1.1.js";
import { inspection } from "./inspection.js";
import { useAction, useLoaded } from "./loading.js";
import { duration, Failed, plural } from "./parts.js";
import { href } from "./routing.js";

const BUSY_MS = 1500;
const IDLE_MS = 6000; // until an ingest that begins is seen
const SHOWN = 5;

// Adds up what was read since something waited: sessions that are done drop out of the backlog.
function advanced(course, backlog, now) {
  const { left, messages, sessions, unembedded } = backlog;
  const fresh = !course || course.left + course.unembedded === 0;
  const seen = new Map(fresh ? [] : course.seen);
  for (const one of sessions) seen.set(`${one.user_id}/${one.session_id}`, one.messages);
  const total = Math.max(messages, [...seen.values()].reduce((sum, one) => sum + one, 0));
  const most = Math.max(unembedded, fresh ? 0 : course.most);
  const next = { seen, total, left, unembedded, most, read: total - left, made: most - unembedded };
  const first = fresh ? { at: now, read: next.read, made: next.made } : course.first;
  const seconds = (now - first.at) / 1000;
  const rest = (undone, done) => (undone && done > 0 ? (undone * seconds) / done : undone ? null : 0);
  const parts = [rest(left, next.read - first.read), rest(unembedded, next.made - first.made)];
  const seconds_left = parts.includes(null) ? null : parts[0] + parts[1];
  return { ...next, first, seconds_left };
}

export function Waiting({ may, title = "Waiting", heading = "h3", children }) {
  const loaded = useLoaded((signal) => inspection.backlog(signal), []);
  const course = useRef(null);
  const last = useRef(null);
  const reading = useAction();
  const backlog = loaded.value;
  if (backlog && backlog !== last.current) {
    course.current = advanced(course.current, backlog, performance.now());
    last.current = backlog;
  }
  const busy = Boolean(backlog && backlog.left + backlog.unembedded > 0);
  useEffect(() => {
    if (loaded.loading || loaded.error) return undefined;
    let soon;
    const again = () => {
      if (document.hidden) soon = setTimeout(again, IDLE_MS);
      else loaded.reload();
    };
    soon = setTimeout(again, busy ? BUSY_MS : IDLE_MS);
    return () => clearTimeout(soon);
  }, [backlog, loaded.loading, loaded.error]);
  const read = () =>
    reading.run(async () => {
      await inspection.flush();
      loaded.reload();
    });
  const { total, read: done, most, made, seconds_left } = course.current ?? {};
  return html`
    <section class="card waiting" aria-label=${title}>
      <${heading}>${title}<//>
      ${loaded.error && !backlog && html`<${Failed} error=${loaded.error} retry=${loaded.reload} />`}
      ${backlog && !busy && html`<p>Nothing. Everything said so far has been read.</p>`}
      ${busy &&
      html`
        ${backlog.left > 0 &&
        html`<label class="progress">
          <span>${done.toLocaleString()} of ${plural(total, "message")} read</span>
          <progress max=${total} value=${done}></progress>
        </label>`}
        ${backlog.unembedded > 0 &&
        html`<label class="progress">
          <span>${plural(backlog.unembedded, "memory", "memories")} to index</span>
          <progress max=${most} value=${made}></progress>
        </label>`}
        <p class="muted">${seconds_left === null ? "" : `About ${duration(seconds_left)} left.`}</p>
        ${backlog.sessions.length > 0 && html`<${Sessions} ...${backlog} />`}
        ${may("write") &&
        html`<div><button type="button" disabled=${reading.busy} onClick=${read}>${reading.busy ? "Reading…" : "Read now"}</button></div>`}
      `}
      ${reading.error && html`<${Failed} error=${reading.error} />`}
      ${children}
    </section>
  `;
}

const Sessions = ({ sessions, waiting }) => html`
  <ul class="plain small">
    ${sessions.slice(0, SHOWN).map(
      ({ user_id, session_id, messages, left }) => html`<li key=${`${user_id}/${session_id}`}>
        <a href=${href("sessions", { user: user_id }, session_id)}>${session_id}</a> of ${user_id}:
        ${" "}${(messages - left).toLocaleString()} of ${messages.toLocaleString()}
      </li>`,
    )}
    ${waiting > SHOWN && html`<li class="muted">and ${plural(waiting - SHOWN, "other conversation")}</li>`}
  </ul>
`;
