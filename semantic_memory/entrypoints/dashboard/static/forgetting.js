// The dialog that forgets: what would go, then what went.

import { html, useState } from "./vendor/htm-preact-3.1.1.js";
import { api } from "./api.js";
import { useAction, useLoaded } from "./loading.js";
import { Dialog, Failed, Loaded, plural } from "./parts.js";

const together = (answers) => ({
  number: answers.reduce((sum, one) => sum + one.forgotten, 0),
  memories: answers.flatMap((one) => one.memories),
  sentences: answers.flatMap((one) => one.sentences),
  warnings: [...new Set(answers.map((one) => one.warning).filter(Boolean))],
  proofs: answers.map((one) => one.proof).filter(Boolean),
});

async function inTurn(requests, send) {
  const answers = [];
  for (const one of requests) answers.push(await send(one));
  return together(answers);
}

// Shows what would go, then what went, with a receipt where the key may have one.
export function Forgetting({ requests, title, user, may, close, done }) {
  const shown = useLoaded(
    (signal) => inTurn(requests, (one) => api.forget({ user_id: user, ...one, dry_run: true }, signal)),
    [],
  );
  const acting = useAction();
  const [gone, setGone] = useState(null);
  const forget = () =>
    acting.run(async () => {
      const proof = may("admin");
      setGone(await inTurn(requests, (one) => api.forget({ user_id: user, ...one, proof, force: true })));
    });
  if (gone) return html`<${Gone} ...${gone} done=${done} />`;
  return html`
    <${Dialog} title=${title} onClose=${close}>
      <${Loaded} loaded=${shown} what="Looking">
        ${({ number, memories, sentences, warnings }) => html`
          <p>
            ${number + sentences.length
              ? `${plural(number, "memory", "memories")} and ${plural(sentences.length, "sentence")} of messages would go, for good.`
              : "Nothing that is remembered is about this."}
          </p>
          ${warnings.map((one) => html`<p key=${one} class="refused">${one}</p>`)}
          <ul>
            ${memories.slice(0, 10).map((fact) => html`<li key=${fact.id} dir="auto">${fact.content}</li>`)}
            ${sentences.slice(0, 10).map((one, place) => html`<li key=${place} dir="auto">${one}</li>`)}
          </ul>
        `}
      <//>
      ${acting.error && html`<${Failed} error=${acting.error} />`}
      <div class="actions">
        <button type="button" onClick=${close}>Cancel</button>
        <button
          type="button"
          class="bad"
          disabled=${acting.busy || !shown.value || !(shown.value.number + shown.value.sentences.length)}
          onClick=${forget}
        >${acting.busy ? "Forgetting…" : "Forget"}</button>
      </div>
    <//>
  `;
}

function Gone({ number, sentences, proofs, done }) {
  const finish = () => done("Forgotten, for good.");
  const found = proofs.filter((one) => !one.receipt).flatMap((one) => one.found.map((trace) => trace.file));
  const receipts = proofs.map((one) => one.receipt).filter(Boolean);
  const text = JSON.stringify(receipts.length === 1 ? receipts[0] : receipts, null, 1);
  return html`
    <${Dialog} title="Forgotten" onClose=${finish}>
      <p>${plural(number, "memory", "memories")} and ${plural(sentences.length, "sentence")} are gone for good.</p>
      ${found.length > 0 && html`<p class="refused">Some texts were found again in ${[...new Set(found)].join(", ")}.</p>`}
      ${receipts.length > 0 &&
      html`<p>No file holds them any more: ${plural(proofs.at(-1).files, "file")} were searched. This receipt proves it:</p>
        <pre class="receipt" tabindex="0" aria-label="Receipt">${text}</pre>`}
      <div class="actions">
        ${receipts.length > 0 && html`<button type="button" onClick=${() => navigator.clipboard.writeText(text)}>Copy the receipt</button>`}
        <button type="button" class="primary" onClick=${finish}>Done</button>
      </div>
    <//>
  `;
}
