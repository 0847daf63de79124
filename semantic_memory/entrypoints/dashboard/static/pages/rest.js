import { html, useState } from "../vendor/htm-preact-3.1.1.js";
import { api } from "../api.js";
import { useLoaded } from "../loading.js";
import { Empty, Loaded } from "../parts.js";

// The routes of the service, as its OpenAPI document describes them.
export function Rest() {
  const loaded = useLoaded(async (signal) => routesOf(await api.description(signal)), []);
  const [sought, setSought] = useState("");
  const wanted = sought.toLowerCase();
  return html`
    <h1 tabindex="-1">REST routes</h1>
    <p class="muted">
      Requests and answers are JSON; a key goes into the header <code>Authorization: Bearer KEY</code>.
      ${" "}<a href="/openapi.json">/openapi.json</a> describes every field.
    </p>
    <${Loaded} loaded=${loaded}>
      ${(groups) => {
        const found = groups
          .map(({ tag, routes }) => ({ tag, routes: routes.filter((one) => one.text.includes(wanted)) }))
          .filter(({ routes }) => routes.length);
        return html`
          <input type="search" aria-label="Find a route" placeholder="memories, forget, keys" value=${sought} onInput=${(event) => setSought(event.target.value)} />
          ${!found.length && html`<${Empty} title="No route">None has this in its path or description.<//>`}
          ${found.map(
            ({ tag, routes }) => html`
              <section key=${tag} aria-label=${tag}>
                <h2>${tag}</h2>
                <div class="card">
                  <ul class="items">
                    ${routes.map((one) => html`<${Route} key=${one.method + one.path} ...${one} />`)}
                  </ul>
                </div>
              </section>
            `,
          )}
        `;
      }}
    <//>
  `;
}

const Route = ({ method, path, description, parameters, fields, example }) => html`
  <li class="item">
    <details>
      <summary><code><b>${method}</b> ${path}</code> <span class="wide-only">${description.replaceAll("`", "").split(/[.;:\n]/)[0]}</span></summary>
      <p class="said">${description.replaceAll("`", "")}</p>
      <dl class="fields">
        ${[...parameters, ...fields].map(
          ({ name, about, required }) => html`<div key=${name}>
            <dt><code>${name}</code></dt>
            <dd>${about}${required && html` <span class="badge">needed</span>`}</dd>
          </div>`,
        )}
      </dl>
      ${example && html`<pre class="receipt" tabindex="0" aria-label=${`Example of ${method} ${path}`}>${JSON.stringify(example, null, 1)}</pre>`}
    </details>
  </li>
`;

function routesOf({ paths, components }) {
  const groups = new Map();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { tags = ["other"], description = "", parameters = [], requestBody }] of Object.entries(methods)) {
      const schema = resolved(requestBody?.content?.["application/json"]?.schema, components);
      const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => ({
        name,
        about: field.description ?? "",
        required: (schema.required ?? []).includes(name),
      }));
      const named = parameters.map((one) => ({ name: one.name, about: one.description ?? one.schema?.description ?? "", required: one.required }));
      const route = { method: method.toUpperCase(), path, description, parameters: named, fields, example: schema.examples?.[0] };
      const routes = groups.get(tags[0]) ?? [];
      groups.set(tags[0], [...routes, { ...route, text: `${method} ${path} ${description}`.toLowerCase() }]);
    }
  }
  return [...groups].map(([tag, routes]) => ({ tag, routes }));
}

const resolved = (schema, components) =>
  schema?.$ref ? components.schemas[schema.$ref.split("/").pop()] : (schema ?? {});
