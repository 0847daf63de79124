// A hit's score, in what it is made of:
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

const FACTORS = ["importance", "confidence", "retention", "recency", "standing"];

const Part = ({ name, value }) => html`<b data-part=${name}>${shown(value)}</b>`;

// One bar from 0 to 1, in its parts; how they make the score is told on demand.
export function Score({ hit, ranking }) {
  const { parts, score } = hit;
  const all = contributions(parts, ranking).filter(({ value }) => Math.abs(value) >= 0.0005);
  const given = all.filter(({ value }) => value > 0);
  const sum = given.reduce((whole, { value }) => whole + value, 0) || 1;
  const weight = ranking.weights.relevance;
  let from = 0;
  return html`
    <div class="score">
      <svg class="stack" viewBox="0 0 1000 14" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width="1000" height="14" rx="3" />
        ${given.map(({ name, value }) => {
          const x = from;
          const width = (1000 * Math.max(0, Math.min(score, 1)) * value) / sum;
          from += width;
          return html`<rect class=${`part-${name}`} key=${name} x=${x} width=${width} height="14" />`;
        })}
      </svg>
      <details class="why-score">
        <summary>Why this score</summary>
        <p>
          ${all.map(
            ({ name, label, value, about }, place) => html`<span key=${label} title=${about}
              >${place ? (value < 0 ? ", less " : ", ") : ""}<span class=${`dot part-${name}`} aria-hidden="true"></span> ${label}${" "}
              <${Part} name="match" value=${Math.abs(value) * Math.sign(value)} /></span
            >`,
          )}
          ${" "}make a match of <${Part} name="whole" value=${parts.match} />.
          ${" "}Its worth is <${Part} name="relevance" value=${parts.relevance} />, from
          ${FACTORS.map((name, place) => html`<span key=${name}>${place ? "," : ""} ${name} <${Part} name="factor" value=${parts[name] ?? 1} /></span>`)};
          it counts for ${Math.round(100 * weight)} %, which leaves
          ${" "}<${Part} name="weighed" value=${parts.match * (1 - weight + weight * parts.relevance)} />.
          ${parts.newer > 0 && html`${" "}Being newer than another about the same adds <${Part} name="newer" value=${parts.newer} />.`}
          ${hit.changed && html`${" "}Something it says no longer holds.`}
        </p>
      </details>
    </div>
  `;
}
