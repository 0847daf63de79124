import { html, useMemo, useState } from "../vendor/htm-preact-3.1.1.js";
import { api } from "../api.js";
import { useWidth } from "../charts.js";
import { useLoaded } from "../loading.js";
import { CATEGORIES, Category, Empty, Loaded, NoUser, When, plural } from "../parts.js";
import { go, href } from "../routing.js";

const EDGE = 24;
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function MapPage({ route, user }) {
  const { behind, limit } = route.params;
  const loaded = useLoaded(user && ((signal) => api.layout({ user_id: user, behind, limit }, signal)), [user, behind, limit]);
  return html`
    <h1 tabindex="-1">Map</h1>
    ${!user && html`<${NoUser} />`}
    ${user &&
    html`<${Loaded} loaded=${loaded} what="Laying out">
      ${(layout) => html`
        <${Stretch} user=${user} behind=${behind} limit=${limit} earlier=${layout.earlier} />
        ${layout.points.length
          ? html`<${Map} layout=${layout} user=${user} />`
          : html`<${Empty} title="Nothing to show yet">Memories appear here once they are embedded.<//>`}
      `}
    <//>`}
  `;
}

// Which memories are on the map, if not all of them are, and the way to the others.
function Stretch({ user, behind, limit, earlier }) {
  if (!behind && !earlier) return null;
  return html`
    <p class="notice">
      ${behind ? "Older memories are on this map." : "Only the newest memories are on this map, messages last."}
      ${earlier && html`${" "}<a href=${href("map", { user, behind: earlier, limit })}>Earlier memories</a>`}
      ${behind && html`${" "}<a href=${href("map", { user, limit })}>The newest</a>`}
    </p>
  `;
}

function Map({ layout, user }) {
  const [off, setOff] = useState(new Set());
  const [here, setHere] = useState(null);
  const [ref, width] = useWidth(800);
  const height = Math.round(Math.min(Math.max(width * 0.6, 320), 540));
  const counts = useMemo(() => {
    const found = {};
    for (const { category } of layout.points) found[category] = (found[category] ?? 0) + 1;
    return found;
  }, [layout]);
  const places = useMemo(() => placesOf(layout.points, width, height), [layout, width, height]);
  const visible = useMemo(() => places.filter(({ point }) => !off.has(point.category)), [places, off]);
  const open = (point) => go(href("memory", { user }, point.id));
  const radius = visible.length > 500 ? 4 : 6;

  // Only the points themselves: pointing at one must not draw them all again.
  const dots = useMemo(
    () =>
      visible.map(
        (place) => html`
          <circle
            key=${place.point.id}
            class=${`cat-${place.point.category}`}
            cx=${place.x}
            cy=${place.y}
            r=${radius}
            onPointerEnter=${() => setHere(place)}
            onClick=${() => open(place.point)}
          />
        `,
      ),
    [visible, radius, user],
  );
  const toggle = (name) => {
    const next = new Set(off);
    if (!next.delete(name)) next.add(name);
    setOff(next);
    setHere(null);
  };
  const onKeyDown = (event) => {
    if (event.key === "Enter" && here) open(here.point);
    else if (WAYS[event.key]) setHere(here ? nearest(visible, here, WAYS[event.key]) : visible[0]);
    else if (event.key === "Home") setHere(visible[0]);
    else if (event.key === "Escape") setHere(null);
    else return;
    event.preventDefault();
  };
  const label = `Map of ${plural(visible.length, "memory", "memories")}. Arrow keys go from one to the next, Enter opens it.`;
  const shares = layout.explained.map((share) => `${Math.round(100 * share)} %`).join(" + ");
  return html`
    <p class="muted">
      What is near in meaning lies near. ${plural(layout.points.length, "memory", "memories")} on the two principal
      components of their vectors, which show ${shares} of the variance. Arrow keys move, Enter opens.
    </p>
    <fieldset class="choices legend">
      <legend>Categories</legend>
      ${CATEGORIES.filter((name) => counts[name]).map(
        (name) => html`
          <label key=${name} class="choice">
            <input type="checkbox" checked=${!off.has(name)} onChange=${() => toggle(name)} />
            <${Category} name=${name} /> <span class="muted small">${counts[name]}</span>
          </label>
        `,
      )}
    </fieldset>
    <div class="card map">
      <div class="pointed" id="pointed" aria-live="polite">
        ${here
          ? html`
              <p><a href=${href("memory", { user }, here.point.id)}>${here.point.text}</a></p>
              <p class="meta"><${Category} name=${here.point.category} /> <${When} at=${here.point.created_at} dayOnly /></p>
            `
          : html`<p class="muted">Point at a memory to read it.</p>`}
      </div>
      <div class="plane" ref=${ref} role="application" tabindex="0" aria-label=${label} onKeyDown=${onKeyDown}>
      <svg width=${width} height=${height} aria-hidden="true">
        <line class="axis-line" x1=${places.zero.x} x2=${places.zero.x} y1="0" y2=${height} />
        <line class="axis-line" x1="0" x2=${width} y1=${places.zero.y} y2=${places.zero.y} />
        ${dots}
        ${here && html`<circle class="here" cx=${here.x} cy=${here.y} r=${radius + 4} />`}
      </svg>
      </div>
    </div>
  `;
}

// Both axes share one scale, so that distances can be compared.
function placesOf(points, width, height) {
  const xs = points.map(({ x }) => x);
  const ys = points.map(({ y }) => y);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const across = (width - 2 * EDGE) / (right - left || 1);
  const down = (height - 2 * EDGE) / (high - low || 1);
  const scale = Math.min(across, down);
  const x = (value) => width / 2 + (value - (left + right) / 2) * scale;
  const y = (value) => height / 2 - (value - (low + high) / 2) * scale;
  const places = points.map((point) => ({ point, x: x(point.x), y: y(point.y) }));
  return Object.assign(places, { zero: { x: x(0), y: y(0) } });
}

// The nearest place that lies rather in the direction of `way` than beside it.
function nearest(places, from, [dx, dy]) {
  let best = from;
  let least = Infinity;
  for (const place of places) {
    const along = (place.x - from.x) * dx + (place.y - from.y) * dy;
    const beside = Math.abs((place.x - from.x) * dy) + Math.abs((place.y - from.y) * dx);
    if (place === from || along <= 0 || beside > 2 * along) continue;
    const distance = along + 2 * beside;
    if (distance < least) [best, least] = [place, distance];
  }
  return best;
}
