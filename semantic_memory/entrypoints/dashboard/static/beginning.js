// What an empty store shows: three ways to begin, and some sample messages at one click.

import { html, useState } from "./vendor/htm-preact-3.1.1.js";
import { inspection } from "./inspection.js";
import { useAction } from "./loading.js";
import { Failed } from "./parts.js";
import { go, href } from "./routing.js";

const WAYS = [
  [
    "From Python",
    () => `from semantic_memory import SemanticMemory

with SemanticMemory.connect() as memory:
    memory.observe(
        [{"role": "user", "content": "I moved to Lisbon."}],
        user_id="maya", session_id="first",
    )`,
  ],
  [
    "Over HTTP",
    () => `curl ${location.origin}/v1/memories -H 'Content-Type: application/json' \\
  -d '{"user_id": "maya", "content": "Lives in Lisbon"}'`,
  ],
  ["From an agent that speaks MCP", () => "claude mcp add memory -- semantic-memory mcp --user maya"],
];
const SAMPLE = [
  ["user", "Hi! I'm Maya. I work as a translator and live in Porto with my partner Rui."],
  ["assistant", "Nice to meet you, Maya!"],
  ["user", "I'm allergic to peanuts, and I don't drink coffee after noon."],
  ["user", "The translation of the museum catalogue is due on 12 June."],
  ["user", "Please always answer me in short sentences."],
  ["assistant", "Noted."],
  ["user", "We moved to Lisbon last week, by the way. The flat is in Graça."],
];

export function Beginning({ may, done }) {
  const trying = useAction();
  const fill = () =>
    trying.run(async () => {
      const messages = SAMPLE.map(([role, content], place) => ({ id: `sample-${place}`, role, content }));
      await inspection.observe({ user_id: "sample", session_id: "first", messages });
      await inspection.flush();
      done();
      go(href("overview", { user: "sample" }));
    });
  return html`
    <section aria-labelledby="begin">
      <h2 id="begin">Nothing is remembered yet. Three ways to begin:</h2>
      <div class="groups">${WAYS.map(([title, text]) => html`<${Way} key=${title} title=${title} text=${text()} />`)}</div>
      ${may("write") &&
      html`<p>
        Or look around first:
        ${" "}<button type="button" class="primary" disabled=${trying.busy} onClick=${fill}>
          ${trying.busy ? "Reading…" : "Take in a sample conversation"}
        </button>
      </p>`}
      ${trying.error && html`<${Failed} error=${trying.error} />`}
    </section>
  `;
}

function Way({ title, text }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return html`
    <div class="card">
      <div class="headline"><h3>${title}</h3><button type="button" onClick=${copy}>${copied ? "Copied" : "Copy"}</button></div>
      <pre tabindex="0">${text}</pre>
    </div>
  `;
}
