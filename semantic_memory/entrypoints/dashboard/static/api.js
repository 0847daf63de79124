// The service's REST API. What goes wrong is thrown as a Problem.

const KEY = "semantic-memory.key";

export class Problem extends Error {
  constructor(status, title, detail) {
    super(detail || title);
    this.status = status;
    this.title = title;
  }
}

export const apiKey = {
  get: () => sessionStorage.getItem(KEY),
  set: (key) => sessionStorage.setItem(KEY, key),
  clear: () => sessionStorage.removeItem(KEY),
};

// Called with the problem whenever the service asks for a key.
let onRefused = () => {};
export const whenRefused = (listener) => {
  onRefused = listener;
};

const query = (params) => {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") given.append(name, one);
    }
  }
  const text = given.toString();
  return text && `?${text}`;
};

export async function send(method, path, { params, body, signal } = {}) {
  const headers = {};
  const key = apiKey.get();
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path + query(params), {
      method,
      headers,
      signal,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The service can't be reached", "Is it running? Try again in a moment.");
  }
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  const answer = text && isJson ? JSON.parse(text) : null;
  if (response.ok) return answer;
  const problem = new Problem(
    response.status,
    answer?.title ?? `The service answered ${response.status}`,
    answer?.detail ?? "",
  );
  if (problem.status === 401) onRefused(problem);
  throw problem;
}

const memory = (id) => `/v1/memories/${encodeURIComponent(id)}`;
const past = (verb, id) => `/v1/history/${verb}/${encodeURIComponent(id)}`;

export const api = {
  caller: (signal) => send("GET", "/v1/caller", { signal }),
  ranking: (signal) => send("GET", "/v1/ranking", { signal }),
  users: (signal) => send("GET", "/v1/admin/users", { signal }),
  search: (body, signal) => send("POST", "/v1/search", { body, signal }),
  context: (body, signal) => send("POST", "/v1/context", { body, signal }),
  memories: (params, signal) => send("GET", "/v1/memories", { params, signal }),
  memory: (id, user_id, signal) =>
    send("GET", past("explain", id), { params: { user_id }, signal }),
  history: (id, user_id, signal) =>
    send("GET", past("versions", id), { params: { user_id }, signal }),
  update: (id, user_id, body) => send("PATCH", memory(id), { params: { user_id }, body }),
  remove: (id, user_id, reason) => send("DELETE", memory(id), { params: { user_id, reason } }),
  restore: (id, user_id, reason) =>
    send("POST", past("restore", id), { params: { user_id }, body: { reason } }),
  settleLink: (answer, older, newer, user_id, reason) =>
    send("POST", `/v1/history/${answer}`, { body: { user_id, older, newer, reason } }),
  tags: (user_id, signal) => send("GET", "/v1/profile/tags", { params: { user_id }, signal }),
  requests: (user_id, signal) => send("GET", "/v1/history/requests", { params: { user_id }, signal }),
  settle: (body) => send("POST", "/v1/history/settle", { body }),
  forget: (body, signal) => send("POST", "/v1/forget", { body, signal }),
  layout: (params, signal) => send("GET", "/v1/profile/layout", { params, signal }),
  sessions: (user_id, signal) => send("GET", "/v1/sessions", { params: { user_id }, signal }),
  configure: (body) => send("PATCH", "/v1/sessions", { body }),
  messages: (user_id, session_id, signal) =>
    send("GET", "/v1/sessions/messages", { params: { user_id, session_id }, signal }),
  profile: (user_id, signal) => send("GET", "/v1/profile", { params: { user_id }, signal }),
  runs: (signal) => send("GET", "/v1/jobs/runs", { signal }),
  maintain: (body) => send("POST", "/v1/jobs/run", { body }),
  description: (signal) => send("GET", "/openapi.json", { signal }),
  keys: (signal) => send("GET", "/v1/keys", { signal }),
  makeKey: (body) => send("POST", "/v1/keys", { body }),
  revokeKey: (id) => send("DELETE", `/v1/keys/${encodeURIComponent(id)}`),
  samples: (limit, signal) => send("GET", "/v1/samples", { params: { limit }, signal }),
};
