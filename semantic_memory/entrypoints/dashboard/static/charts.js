// Line charts in SVG, drawn in the width that there is.

import { html, useLayoutEffect, useRef, useState } from "./vendor/htm-preact-3.1.1.js";

export function useWidth(initial = 320) {
  const ref = useRef();
  const [width, setWidth] = useState(initial);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width)));
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

// About `count` round numbers from 0 up to at least `most`.
export function ticks(most, count = 3) {
  const raw = most / count || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= raw);
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, place) => place * step);
}

const EDGE = { left: 58, right: 10, top: 10, bottom: 22 };

// `lines`: [{name, points: [[x, y or null]]}]; `marks`: [{x, label}]; `levels`: [{y, label}].
export function Chart({ lines, format, formatX, xTicks, height = 150, marks = [], levels = [], most, label }) {
  const [ref, width] = useWidth();
  const all = lines.flatMap(({ points }) => points);
  const xs = all.map(([x]) => x);
  const [first, last] = [Math.min(...xs), Math.max(...xs)];
  const top = most ?? Math.max(...all.map(([, y]) => y ?? 0), 0);
  const yTicks = ticks(top || 1);
  const highest = most ?? yTicks[yTicks.length - 1];
  const x = (value) =>
    EDGE.left + ((value - first) / (last - first || 1)) * (width - EDGE.left - EDGE.right);
  const y = (value) => height - EDGE.bottom - (value / highest) * (height - EDGE.top - EDGE.bottom);
  return html`
    <div class="chart" ref=${ref}>
      <svg width=${width} height=${height} role="img" aria-label=${label}>
        ${yTicks
          .filter((value) => value <= highest)
          .map(
            (value) => html`
              <g key=${value} class="grid">
                <line x1=${EDGE.left} x2=${width - EDGE.right} y1=${y(value)} y2=${y(value)} />
                <text x=${EDGE.left - 7} y=${y(value) + 4} text-anchor="end">${format(value)}</text>
              </g>
            `,
          )}
        ${xTicks.map(
          ([value, anchor]) => html`
            <text key=${value} class="axis" x=${x(value)} y=${height - 5} text-anchor=${anchor}>${formatX(value)}</text>
          `,
        )}
        ${levels.map(
          ({ y: value, label: text }) => html`
            <g key=${text} class="level">
              <line x1=${EDGE.left} x2=${width - EDGE.right} y1=${y(value)} y2=${y(value)} />
              <text x=${width - EDGE.right} y=${y(value) - 5} text-anchor="end">${text}</text>
            </g>
          `,
        )}
        ${lines.map(
          ({ name, points }, place) => html`
            <path key=${name} class=${`line line-${place}`} d=${pathOf(points, x, y)} />
          `,
        )}
        ${marks.map(({ x: value, y: at, label: text }) => {
          const right = x(value) < width - 130;
          return html`
            <g key=${text} class="mark">
              <line x1=${x(value)} x2=${x(value)} y1=${EDGE.top} y2=${height - EDGE.bottom} />
              <circle cx=${x(value)} cy=${y(at)} r="5" />
              <text x=${x(value) + (right ? 9 : -9)} y=${EDGE.top + 18} text-anchor=${right ? "start" : "end"}>${text}</text>
            </g>
          `;
        })}
      </svg>
    </div>
  `;
}

// A null ends a line; a point between two of them is drawn as a dot.
function pathOf(points, x, y) {
  let path = "";
  let pen = false;
  points.forEach(([at, value], place) => {
    if (value === null) {
      pen = false;
      return;
    }
    const here = `${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    const alone = !pen && (points[place + 1]?.[1] ?? null) === null;
    path += alone ? `M${here}h.01` : `${pen ? "L" : "M"}${here}`;
    pen = true;
  });
  return path;
}
