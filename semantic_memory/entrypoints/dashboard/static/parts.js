// What several pages are made of.

import { html, useEffect, useRef } from "./vendor/htm-preact-3.1.1.js";
import { href } from "./routing.js";

// The categories that the store takes, which the service tells with the caller.
export const CATEGORIES = [];
export const declare = (names) => CATEGORIES.splice(0, CATEGORIES.length, ...names);
export const factCategories = () => CATEGORIES.filter((name) => name !== "conversation");

const dayAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

export const When = ({ at, dayOnly = false }) =>
  at
    ? html`<time datetime=${at} title=${at}>${(dayOnly ? day : dayAndTime).format(new Date(at))}</time>`
    : html`<span class="muted">–</span>`;

export const Category = ({ name }) =>
  html`<span class=${`category cat-${name}`}><span class="dot" aria-hidden="true"></span>${name}</span>`;

// The statuses as a person would say them.
export const STATUSES = {
  active: "believed",
  superseded: "ended",
  archived: "faded or merged",
  quarantined: "set aside as unsafe",
  forgotten: "forgotten",
};

export const Status = ({ name }) =>
  name === "active" ? null : html`<span class=${`badge status-${name}`}>${STATUSES[name]}</span>`;

export const Review = ({ name }) => (name ? html`<span class="badge">${name}</span>` : null);

export const Tags = ({ tags }) => tags.map((tag) => html`<span class="tag" key=${tag}>${tag}</span>`);

export const memoryHref = (fact) => href("memory", { user: fact.user_id }, fact.id);

export const MemoryLink = ({ fact, ...rest }) =>
  html`<a href=${memoryHref(fact)} ...${rest}>${fact.content}</a>`;

export const Loading = ({ what = "Loading" }) =>
  html`<p class="loading" role="status"><span class="spinner" aria-hidden="true"></span>${what}…</p>`;

export const Failed = ({ error, retry }) => html`
  <div class="notice bad" role="alert">
    <strong>${error.title ?? "Something went wrong"}</strong>
    <p>${error.message}</p>
    ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
  </div>
`;

export const Empty = ({ title, children }) => html`
  <div class="empty"><strong>${title}</strong><p>${children}</p></div>
`;

export const NoUser = () => html`
  <${Empty} title="Whose memory?">Enter a user id at the top of the page.<//>
`;

// Shows `loaded` once it is there; the last value stays visible while another is fetched.
export const Loaded = ({ loaded, what, children }) => {
  if (loaded.error) return html`<${Failed} error=${loaded.error} retry=${loaded.reload} />`;
  if (loaded.value === undefined) return loaded.loading ? html`<${Loading} what=${what} />` : null;
  return html`<div class=${loaded.loading ? "stale" : ""} aria-busy=${loaded.loading}>
    ${children(loaded.value)}
  </div>`;
};

export const Field = ({ label, children, wide = false }) => html`
  <label class=${wide ? "field wide" : "field"}><span>${label}</span>${children}</label>
`;

export const Meter = ({ value, label }) => html`
  <span class="meter">
    <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width="100" height="6" rx="3" /><rect
        class="level"
        width=${100 * value}
        height="6"
        rx="3"
      />
    </svg>
    <span class="number"><span class="hidden">${label} </span>${value.toFixed(2)}</span>
  </span>
`;

// A modal question; Escape and the first button leave it.
export const Dialog = ({ title, children, onClose }) => {
  const ref = useRef();
  useEffect(() => {
    const dialog = ref.current;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return html`
    <dialog ref=${ref} aria-labelledby="dialog-title" onCancel=${(event) => {
      event.preventDefault();
      onClose();
    }}>
      <h2 id="dialog-title">${title}</h2>
      ${children}
    </dialog>
  `;
};

export const plural = (number, one, many = `${one}s`) =>
  `${number.toLocaleString()} ${number === 1 ? one : many}`;

// Below a list of the latest: more of them, as far as the service gives them, and then that it ends.
export const Further = ({ number, limit, most, more, children }) => {
  if (number < limit) return null;
  return html`<p class="muted">
    The latest ${number.toLocaleString()} are shown.
    ${" "}${limit < most ? html`<button type="button" class="quiet" onClick=${more}>Show more</button>` : children}
  </p>`;
};

export const duration = (seconds) =>
  seconds < 90 ? plural(Math.max(1, Math.round(seconds)), "second") : plural(Math.round(seconds / 60), "minute");

// A day as a date field has it, at its beginning or its end in the reader's time zone.
export const startOf = (date) => (date ? new Date(`${date}T00:00`).toISOString() : undefined);
export const endOf = (date) => (date ? new Date(`${date}T23:59:59.999`).toISOString() : undefined);

export const rounded = (value) => value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 2 : 0 });

export const bytes = (value) => {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const place = value >= 1 ? Math.min(4, Math.floor(Math.log10(value) / 3)) : 0;
  return `${rounded(value / 1000 ** place)} ${units[place]}`;
};

// Why a memory that was found isn't in a prompt.
export const LEFT_OUT = {
  budget: "no room was left",
  repeats: "another line says it",
  weak: "not worth its tokens",
  "other topic": "about something else",
  superseded: "no longer holds",
};
