import { html, useState } from "../vendor/htm-preact-3.1.1.js";
import { api } from "../api.js";
import { inspection } from "../inspection.js";
import { useAction, useLoaded } from "../loading.js";
import { Empty, Failed, Field, Loaded, NoUser, When, plural } from "../parts.js";
import { href } from "../routing.js";

const FIELDS = [
  ["work_context", "Work"],
  ["personal_context", "Person"],
  ["top_of_mind", "Top of mind"],
  ["name", "Name"],
  ["allergies", "Allergies"],
  ["diet", "Diet"],
  ["health", "Health"],
  ["instructions", "Instructions"],
  ["home", "Home"],
  ["family", "Family"],
  ["work", "Employment"],
  ["deadlines", "Deadlines"],
  ["languages", "Languages"],
  ["goals", "Goals"],
  ["about", "About"],
];
const HISTORY = [
  ["recent_months", "Recent months"],
  ["earlier_context", "Earlier"],
  ["long_term_background", "Long ago"],
];

export function Profile({ user, may }) {
  const [said, setSaid] = useState("");
  const loaded = useLoaded(user && ((signal) => api.profile(user, signal)), [user]);
  const missing = loaded.error?.status === 404 || loaded.error?.status === 501;
  return html`
    <h1 tabindex="-1">Profile</h1>
    <p class="summary" role="status">${said}</p>
    ${!user && html`<${NoUser} />`}
    ${user && (missing ? html`<${Empty} title="No profile">This service keeps none.<//>` : html`
      <${Loaded} loaded=${loaded}>
        ${(value) => html`<${Panels} ...${value} user=${user} may=${may} done=${(what) => {
          setSaid(what);
          loaded.reload();
        }} />`}
      <//>
    `)}
  `;
}

function Panels({ profile, history, user, may, done }) {
  const told = FIELDS.some(([name]) => profile[name]) || HISTORY.some(([name]) => history[name]?.length);
  return html`
    ${!told && html`<${Empty} title="Nothing yet">A profile grows out of conversations.<//>`}
    <div class="gallery">
      ${FIELDS.map(
        ([name, title]) => html`<${Slot} key=${name} name=${name} title=${title} field=${profile[name]} user=${user} may=${may} done=${done} />`,
      )}
    </div>
    ${HISTORY.filter(([name]) => history[name]?.length).map(
      ([name, title]) => html`
        <section key=${name} aria-label=${title}>
          <h2>${title}</h2>
          <ol class="history">
            ${history[name].map(
              (line) => html`<li key=${line.at + line.text}><p>${line.text}</p><p class="meta"><${When} at=${line.at} dayOnly /></p></li>`,
            )}
          </ol>
        </section>
      `,
    )}
  `;
}

const ORIGINS = { derived: "from what was said", model: "written by a model", user: "written by hand" };

// One field of the profile: its text, where it came from, and what it said before.
function Slot({ name, title, field, user, may, done }) {
  const [editing, setEditing] = useState(null);
  const [past, setPast] = useState(false);
  const writing = useAction();
  const write = (text, said) =>
    writing.run(async () => {
      await inspection.writeProfile(user, { [name]: text });
      setEditing(null);
      done(said);
    });
  return html`
    <section class="card" aria-label=${title}>
      <h2>${title}</h2>
      ${editing === null
        ? html`
            ${field ? html`<p dir="auto">${field.text}</p>` : html`<p class="muted">Not known yet.</p>`}
            ${field &&
            html`<p class="meta">
              <${When} at=${field.updated_at} dayOnly /> <span>${ORIGINS[field.origin]}</span>
              <${Origins} field=${field} user=${user} />
            </p>`}
          `
        : html`<form
            class="edit"
            onSubmit=${(event) => {
              event.preventDefault();
              write(editing, `${title} saved.`);
            }}
          >
            <${Field} label=${`Text of ${title.toLowerCase()}`} wide>
              <textarea rows="3" required value=${editing} onInput=${(event) => setEditing(event.target.value)}></textarea>
            <//>
            <div class="actions">
              <button type="submit" class="primary" disabled=${writing.busy}>Save</button>
              <button type="button" onClick=${() => setEditing(null)}>Cancel</button>
            </div>
          </form>`}
      ${writing.error && html`<${Failed} error=${writing.error} />`}
      ${editing === null &&
      html`<div class="actions">
        ${may("write") && html`<button type="button" class="quiet" aria-label=${`Edit ${title}`} onClick=${() => setEditing(field?.text ?? "")}>Edit</button>`}
        ${may("write") && field && field.origin !== "user" &&
        html`<button type="button" class="quiet" aria-label=${`Keep as it is: ${title}`} disabled=${writing.busy} onClick=${() => write(field.text, `${title} stays as it is, until somebody edits it.`)}>Keep as it is</button>`}
        <button type="button" class="quiet" aria-label=${`Earlier texts of ${title}`} aria-expanded=${past} onClick=${() => setPast(!past)}>Earlier</button>
      </div>`}
      ${past && html`<${Earlier} name=${name} user=${user} />`}
    </section>
  `;
}

const MOST_SOURCES = 5;

function Origins({ field, user }) {
  const facts = (field.fact_ids ?? []).slice(0, MOST_SOURCES);
  if (!facts.length) return html`<span>from ${plural(field.message_ids?.length ?? 0, "message")}</span>`;
  return facts.map((id, place) => html`<a key=${id} href=${href("memory", { user }, id)}>source ${place + 1}</a>`);
}

function Earlier({ name, user }) {
  const loaded = useLoaded((signal) => inspection.profileHistory(user, name, signal), [user, name]);
  return html`
    <${Loaded} loaded=${loaded}>
      ${({ items }) =>
        items.length
          ? html`<ol class="history">
              ${items.map(
                (line) => html`<li key=${line.id}>
                  <p dir="auto">${line.text}</p>
                  <p class="meta">
                    <span>from <${When} at=${line.valid_from} dayOnly /></span>
                    ${line.valid_to && html`<span>to <${When} at=${line.valid_to} dayOnly /></span>`}
                    <span>${ORIGINS[line.origin]}</span>
                  </p>
                </li>`,
              )}
            </ol>`
          : html`<p class="muted">It has had no text.</p>`}
    <//>
  `;
}
