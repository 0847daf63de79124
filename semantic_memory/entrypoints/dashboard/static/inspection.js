// What the pages ask about the memory itself: what changed, why not, traces; and what settles it.

import { api, send } from "./api.js";

const from = (path, params, signal) => send("GET", path, { params, signal });

export const inspection = {
  activity: (days, signal) => from("/v1/inspection/activity", { days }, signal),
  backlog: (signal) => from("/v1/inspection/backlog", {}, signal),
  webhook: (signal) => from("/v1/inspection/webhook", {}, signal),
  removeDead: (id) => send("DELETE", `/v1/inspection/webhook/dead/${id}`),
  changes: (user_id, days, limit, signal) =>
    from("/v1/inspection/changes", { user_id, days, limit }, signal),
  timelines: (params, signal) => from("/v1/inspection/timelines", params, signal),
  whyNot: (body, signal) => send("POST", "/v1/inspection/why-not", { body, signal }),
  traces: (user_id, limit, signal) => from("/v1/inspection/traces", { user_id, limit }, signal),
  trace: (id, user_id, signal) =>
    from(`/v1/inspection/traces/${encodeURIComponent(id)}`, { user_id }, signal),
  retired: (user_id, limit, signal) => from("/v1/history/retired", { user_id, limit }, signal),
  undo: (body) => send("POST", "/v1/history/undo", { body }),
  toConfirm: (user_id, limit, signal) => from("/v1/history/to-confirm", { user_id, limit }, signal),
  labels: (user_id) => from("/v1/history/labels", { user_id }),
  audit: (user_id, memory_id, limit, signal) =>
    from("/v1/history/audit", { user_id, memory_id, limit }, signal),
  stats: (signal) => from("/v1/admin/stats", {}, signal),
  check: (signal) => from("/v1/admin/check", {}, signal),
  flush: () => send("POST", "/v1/flush"),
  observe: (body) => send("POST", "/v1/messages", { body }),
  add: (body) => send("POST", "/v1/memories", { body }),
  writeProfile: (user_id, body) => send("PATCH", "/v1/profile", { params: { user_id }, body }),
  profileHistory: (user_id, field, signal) =>
    from("/v1/profile/history", { user_id, field }, signal),
};

// Whoever ended a memory by hand left nothing for `undo`, which takes decisions back.
export const takeBack = (fact) =>
  fact.ended_by && fact.ended_by.decided_by !== "caller"
    ? inspection.undo({ user_id: fact.user_id, decision: fact.id })
    : api.restore(fact.id, fact.user_id, "");

const EDITED = ["content", "category", "confidence", "importance", "tags"];

// Gives a memory the values that it had before its version `version`.
export async function revert(fact, version) {
  const states = (await api.history(fact.id, fact.user_id)).items;
  const before = states.filter((one) => one.version < version).pop();
  if (!before) return;
  const values = EDITED.filter(
    (name) => JSON.stringify(before.fact[name]) !== JSON.stringify(fact[name]),
  ).map((name) => [name, before.fact[name]]);
  await api.update(fact.id, fact.user_id, { ...Object.fromEntries(values), reason: "taken back" });
}
