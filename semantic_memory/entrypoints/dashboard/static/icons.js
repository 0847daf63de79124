// Line drawings beside the names of pages.

import { html } from "./vendor/htm-preact-3.1.1.js";

const PATHS = {
  overview: "M2.500 7.500 8 3l5.500 4.500M4 6.500v6.500h8V6.500",
  beliefs: "M4 3v10M4 5.500h6.500M4 10.500h9M10.500 4v3M13 9v3",
  "why-not": "M5.500 6a2.500 2.500 0 1 1 3.500 2.300c-.700.300-1 .800-1 1.700M8 12.500v.01",
  traces: "M2.500 4h6M5 8h6M7.500 12h6",
  more: "M3.500 8v.01M8 8v.01M12.500 8v.01",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.700 10.700 14 14",
  memories: "M2.500 3.500h11M2.500 8h11M2.500 12.500h11",
  map: "M4 11.500v.01M8 4.500v.01M12.500 9v.01M6.500 8v.01M11 12.500v.01M2 14h12M2 14V2",
  sessions: "M2.500 3h11v7.500h-6L4.500 13v-2.500h-2Z",
  prompt: "M2.500 3h11v10h-11ZM5 6.500 7 8 5 9.500M8.500 10h2.500",
  profile: "M8 8a2.750 2.750 0 1 0 0-5.500A2.750 2.750 0 0 0 8 8ZM2.750 13.500a5.250 4 0 0 1 10.500 0",
  jobs: "M13 5.500A5.500 5.500 0 0 0 3 6M3 2.500V6h3.500M3 10.500A5.500 5.500 0 0 0 13 10M13 13.500V10H9.500",
  keys: "M5.500 13a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5ZM7.300 8.700 13 3M11 5l2 2M9.500 6.500l1.500 1.500",
  metrics: "M2 12.500 6 7.500l3 2.500 5-6.500",
};

export const Icon = ({ name }) => html`
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${PATHS[name]} /></svg>
`;
