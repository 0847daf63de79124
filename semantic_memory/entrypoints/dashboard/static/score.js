// A hit's score, drawn in what it is made of:
//
//   match = base / total + context + speaker + voice + time - asks - outdated
//   base  = dense * max(cosine, 0) + (1 - dense) * BM25
//   score = match * (1 - w + w * relevance) + newer

import { html } from "./vendor/htm-preact-3.1.1.js";

const LENT = [
  ["context", "context", "lent by the neighbouring messages and the session"],
  ["speaker", "speaker", "said by someone whom the query names"],
  ["voice", "voice", "said by the user, where the query speaks of I and my"],
  ["time", "time", "said at the time that the query speaks of"],
];

// What each part adds to the match; they sum up to it.
export function contributions(parts, ranking) {
  const { weights, total } = ranking;
  const dense = (weights.dense * Math.max(parts.dense, 0)) / total;
  const lexical = ((1 - weights.dense) * parts.lexical) / total;
  return [
    { name: "dense", label: "meaning", value: dense, about: `cosine ${parts.dense.toFixed(3)}` },
    { name: "lexical", label: "words", value: lexical, about: `BM25 ${parts.lexical.toFixed(3)}` },
    ...LENT.map(([name, label, about]) => ({ name, label, about, value: parts[name] })),
    { name: "asks", label: "is a question", value: -parts.asks, about: "a question is rarely an answer" },
    { name: "asks", label: "no longer so", value: -parts.outdated, about: "a fact drawn from it was superseded" },
  ];
}

const shown = (value) => (value < 0 ? "−" : "") + Math.abs(value).toFixed(3);

// `scale` is the value that fills the whole width, the same for all hits of a page.
export function Score({ hit, ranking, scale }) {
  const { parts, score } = hit;
  const all = contributions(parts, ranking);
  const given = all.filter(({ value }) => value > 0);
  const weight = ranking.weights.relevance;
  const taken = parts.asks + parts.outdated;
  let from = 0;
  return html`
    <div class="score">
      <svg class="stack" viewBox="0 0 1000 14" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width="1000" height="14" rx="3" />
        ${given.map(({ name, value }) => {
          const x = (1000 * from) / scale;
          from += value;
          return html`<rect class=${`part-${name}`} key=${name} x=${x} width=${(1000 * value) / scale} height="14" />`;
        })}
        ${taken > 0 &&
        html`<rect class="part-asks" x=${(1000 * (from - taken)) / scale} width=${(1000 * taken) / scale} height="14" />`}
        <rect class="mark" x=${Math.min(996, (1000 * score) / scale - 2)} width="4" height="14" />
      </svg>
      <ul class="parts" aria-label="What the score is made of">
        ${all
          .filter(({ value }) => Math.abs(value) >= 0.0005)
          .map(
            ({ name, label, value, about }) => html`
              <li key=${label} title=${about}>
                <span class=${`dot part-${name}`} aria-hidden="true"></span>${label}${" "}
                <b>${shown(value)}</b>
              </li>
            `,
          )}
        <li title=${`1 − w + w × relevance, with relevance ${shown(parts.relevance)}`}>
          relevance <b>× ${shown(1 - weight + weight * parts.relevance)}</b>
        </li>
        ${parts.newer > 0 &&
        html`<li title="over an older memory that gives another figure for the same">
          newer <b class="newer">+ ${shown(parts.newer)}</b>
        </li>`}
      </ul>
      <details>
        <summary>How ${score.toFixed(3)} comes about</summary>
        <div class="sums">
          <table>
            <caption class="hidden">What adds to the match</caption>
            <thead><tr><th scope="col">Part</th><th scope="col">Adds</th><th scope="col">From</th></tr></thead>
            <tbody>
              ${all.map(
                ({ name, label, value, about }) => html`
                  <tr key=${label}><th scope="row">${label}</th><td>${shown(value)}</td><td>${about}</td></tr>
                `,
              )}
              <tr class="sum"><th scope="row">match</th><td>${shown(parts.match)}</td><td>the sum, never below 0</td></tr>
            </tbody>
          </table>
          <table>
            <caption class="hidden">What relevance is made of</caption>
            <thead><tr><th scope="col">Factor</th><th scope="col">Is</th></tr></thead>
            <tbody>
              <tr><th scope="row">importance</th><td>${shown(parts.importance)}</td></tr>
              <tr><th scope="row">confidence</th><td>${shown(parts.confidence)}</td></tr>
              <tr><th scope="row">retention</th><td>${shown(parts.retention)}</td></tr>
              <tr><th scope="row">recency</th><td>${shown(parts.recency)}</td></tr>
              <tr class="sum"><th scope="row">relevance</th><td>${shown(parts.relevance)}</td></tr>
            </tbody>
          </table>
        </div>
        <p class="formula">
          score = match × (1 − w + w × relevance) + newer = ${shown(parts.match)} ×
          (${shown(1 - weight)} + ${shown(weight)} × ${shown(parts.relevance)}) + ${shown(parts.newer)} =${" "}
          <b>${shown(score)}</b>
        </p>
      </details>
    </div>
  `;
}
