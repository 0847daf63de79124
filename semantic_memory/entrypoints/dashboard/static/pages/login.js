import { html, useEffect, useRef, useState } from "../vendor/htm-preact-3.1.1.js";
import { api, apiKey } from "../api.js";
import { useAction } from "../loading.js";
import { Field } from "../parts.js";

export function Login({ enter }) {
  const [key, setKey] = useState("");
  const field = useRef();
  const trying = useAction();
  useEffect(() => {
    document.title = "Log in · semantic-memory";
    field.current.focus();
  }, []);
  const submit = (event) => {
    event.preventDefault();
    trying.run(async () => {
      apiKey.set(key.trim());
      try {
        await api.caller();
      } catch (error) {
        apiKey.clear();
        throw error;
      }
      await enter();
    });
  };
  const said = trying.error?.status === 401 ? "This key isn't known." : trying.error?.message;
  return html`
    <main class="alone">
      <form class="card login" onSubmit=${submit}>
        <img src="icon.svg" alt="" width="40" height="40" />
        <h1>semantic-memory</h1>
        <p class="muted">
          This service asks for an API key. It is kept for this tab only, until you log out or close
          it.
        </p>
        <${Field} label="API key" wide>
          <input
            ref=${field}
            type="password"
            autocomplete="off"
            required
            value=${key}
            aria-invalid=${Boolean(said)}
            aria-describedby="refused"
            onInput=${(event) => setKey(event.target.value)}
          />
        <//>
        <p id="refused" class="refused" role="alert">${said}</p>
        <button type="submit" class="primary" disabled=${trying.busy}>Log in</button>
        <p class="muted small">
          <code>semantic-memory keys create NAME --user USER</code> makes one.
        </p>
      </form>
    </main>
  `;
}
