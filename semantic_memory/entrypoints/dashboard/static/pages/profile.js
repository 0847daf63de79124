import { html } from "../vendor/htm-preact-3.1.1.js";
import { api } from "../api.js";
import { useLoaded } from "../loading.js";
import { Empty, Loaded, NoUser, When, plural } from "../parts.js";

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

export function Profile({ user }) {
  const loaded = useLoaded(user && ((signal) => api.profile(user, signal)), [user]);
  const missing = loaded.error?.status === 404 || loaded.error?.status === 501;
  return html`
    <h1 tabindex="-1">Profile</h1>
    ${!user && html`<${NoUser} />`}
    ${user && (missing ? html`<${Empty} title="No profile">This service keeps none.<//>` : html`
      <${Loaded} loaded=${loaded}>${(value) => html`<${Panels} ...${value} />`}<//>
    `)}
  `;
}

function Panels({ profile, history }) {
  const told = FIELDS.some(([name]) => profile[name]) || HISTORY.some(([name]) => history[name]?.length);
  if (!told) {
    return html`<${Empty} title="Nothing yet">A profile grows out of conversations.<//>`;
  }
  return html`
    <div class="gallery">
      ${FIELDS.map(
        ([name, title]) => html`
          <section key=${name} class="card" aria-label=${title}>
            <h2>${title}</h2>
            ${profile[name]
              ? html`
                  <p>${profile[name].text}</p>
                  <p class="meta">
                    <${When} at=${profile[name].updated_at} dayOnly />
                    <span>from ${plural(profile[name].message_ids.length, "message")}</span>
                  </p>
                `
              : html`<p class="muted">Not known yet.</p>`}
          </section>
        `,
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
