import { html, useEffect } from "../vendor/htm-preact-3.1.1.js";
import { api } from "../api.js";
import { Chart } from "../charts.js";
import { useLoaded } from "../loading.js";
import { Empty, Loaded, bytes, rounded } from "../parts.js";

const number = rounded;
const milliseconds = (value) => `${number(value)} ms`;
const perSecond = (value) => `${number(value)}/s`;
const count = (value) => number(value);

const CHARTS = [
  { title: "Requests a second", lines: ["requests_per_second"], format: perSecond },
  { title: "Time to answer", lines: ["p50_ms", "p95_ms"], names: ["half below", "95 of 100 below"], format: milliseconds },
  { title: "Server errors a second", lines: ["errors_per_second"], format: perSecond },
  { title: "Active memories", lines: ["memories"], format: count },
  { title: "Memories waiting for vectors", lines: ["waiting"], format: count },
  { title: "Sessions active in the last 5 minutes", lines: ["sessions"], format: count },
  { title: "Memory of the process", lines: ["rss_bytes"], format: bytes },
  { title: "Size of the store", lines: ["store_bytes"], format: bytes },
];

const MOST = 960; // samples: four hours
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

export function Metrics() {
  const loaded = useLoaded((signal) => api.samples(MOST, signal), []);
  const seconds = loaded.value?.seconds ?? 15;
  useEffect(() => {
    const again = setInterval(loaded.reload, 1000 * seconds);
    return () => clearInterval(again);
  }, [seconds]);
  return html`
    <h1 tabindex="-1">Metrics</h1>
    <${Loaded} loaded=${{ ...loaded, loading: loaded.loading && !loaded.value }}>
      ${({ items }) =>
        items.length < 2
          ? html`<${Empty} title="Nothing yet">
              The service samples its figures every ${seconds} seconds while it runs.
            <//>`
          : html`
              <p class="muted">
                Sampled every ${seconds} s since ${clock.format(new Date(items[0].at))}, for at most four hours.
                Prometheus finds more at <a href="/metrics">/metrics</a>.
              </p>
              <div class="gallery">
                ${CHARTS.map((chart) => html`<${Figure} key=${chart.title} ...${chart} samples=${items} />`)}
              </div>
            `}
    <//>
  `;
}

function Figure({ title, lines, names, format, short = format, samples }) {
  const series = lines.map((key) => samples.map((sample) => [Date.parse(sample.at), sample[key]]));
  const [from, to] = [series[0][0][0], series[0][series[0].length - 1][0]];
  const told = series.map((points, place) => {
    const values = points.map(([, value]) => value).filter((value) => value !== null);
    const name = names ? `${names[place]} ` : "";
    if (!values.length) return `${name}none`;
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const range = least === most ? "throughout" : `now, ${format(least)} to ${format(most)}`;
    return `${name}${format(values[values.length - 1])} ${range}`;
  });
  return html`
    <figure class="card">
      <figcaption><h2>${title}</h2></figcaption>
      <${Chart}
        lines=${series.map((points, place) => ({ name: lines[place], points }))}
        format=${short}
        formatX=${(at) => clock.format(new Date(at))}
        xTicks=${[[from, "start"], [to, "end"]]}
        label=${`${title}: ${told.join("; ")}`}
      />
      ${told.map(
        (text, place) => html`
          <p key=${place} class="muted small">${names && html`<span class=${`key key-${place}`} aria-hidden="true"></span>`}${text}</p>
        `,
      )}
    </figure>
  `;
}
