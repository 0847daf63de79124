// The frame around every page: who may look, whose memory, which page.

import { html, render, useCallback, useEffect, useLayoutEffect, useRef, useState } from "./vendor/htm-preact-3.1.1.js";
import { api, apiKey, whenRefused } from "./api.js";
import { declare, Dialog, Failed, Loading } from "./parts.js";
import { go, href, useRoute } from "./routing.js";
import { Icon } from "./icons.js";
import { useLoaded } from "./loading.js";

// A page's module is fetched when it is first opened.
const PAGES = {
  overview: { title: "Overview", load: async () => (await import("./pages/overview.js")).Overview, first: true },
  search: { title: "Search", load: async () => (await import("./pages/search.js")).Search, first: true },
  memories: { title: "Memories", load: async () => (await import("./pages/memories.js")).Memories, first: true },
  beliefs: { title: "Beliefs", load: async () => (await import("./pages/beliefs.js")).Beliefs, first: true },
  "why-not": { title: "Why not?", load: async () => (await import("./pages/whynot.js")).WhyNot },
  traces: { title: "Traces", load: async () => (await import("./pages/traces.js")).Traces },
  sessions: { title: "Sessions", load: async () => (await import("./pages/sessions.js")).Sessions },
  prompt: { title: "Prompt", load: async () => (await import("./pages/prompt.js")).Prompt },
  profile: { title: "Profile", load: async () => (await import("./pages/profile.js")).Profile },
  map: { title: "Map", load: async () => (await import("./pages/map.js")).MapPage },
  jobs: { title: "Jobs", load: async () => (await import("./pages/jobs.js")).Jobs },
  keys: { title: "Keys", load: async () => (await import("./pages/keys.js")).Keys },
  metrics: { title: "Metrics", load: async () => (await import("./pages/metrics.js")).Metrics },
  rest: { title: "REST routes", load: async () => (await import("./pages/rest.js")).Rest, within: "keys" },
  memory: { title: "Memory", load: async () => (await import("./pages/memory.js")).Memory, within: "memories" },
};
const FIRST = "overview";
const KEYS = "/ search · j, k next and previous · g then o, s, m, b, w, t: a page · ? these keys";
const BY_KEY = { o: "overview", s: "search", m: "memories", b: "beliefs", w: "why-not", t: "traces" };
const USER = "semantic-memory.user";
const THEMES = ["auto", "light", "dark"];

// Who is looking: undefined while that is asked, null if a key is needed.
function useCaller() {
  const [caller, setCaller] = useState(undefined);
  const [users, setUsers] = useState([]);
  const [problem, setProblem] = useState(null);
  const ask = useCallback(async () => {
    setProblem(null);
    try {
      const found = await api.caller();
      declare(found.categories);
      const own = found.users.filter((user) => !user.endsWith("*"));
      // Only who may run upkeep is told of users; others know whom they ask for.
      const listed = found.rights.includes("admin") ? (await api.users()).items : own;
      setUsers(listed);
      setCaller(found);
    } catch (error) {
      if (error.status !== 401) setProblem(error);
      setCaller(null);
    }
  }, []);
  useEffect(() => {
    whenRefused(() => setCaller(null));
    ask();
  }, []);
  return { caller, users, problem, ask };
}

function Theme() {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme ?? "auto");
  const choose = (chosen) => {
    setTheme(chosen);
    if (chosen === "auto") {
      delete document.documentElement.dataset.theme;
      localStorage.removeItem("semantic-memory.theme");
    } else {
      document.documentElement.dataset.theme = chosen;
      localStorage.setItem("semantic-memory.theme", chosen);
    }
  };
  return html`
    <fieldset class="theme">
      <legend class="hidden">Theme</legend>
      ${THEMES.map(
        (name) => html`
          <label key=${name}>
            <input
              type="radio"
              name="theme"
              class="hidden"
              checked=${theme === name}
              onChange=${() => choose(name)}
            /><span>${name}</span>
          </label>
        `,
      )}
    </fieldset>
  `;
}

function UserChoice({ user, users, choose }) {
  const [typed, setTyped] = useState(user ?? "");
  useEffect(() => setTyped(user ?? ""), [user]);
  return html`
    <form
      class="user"
      role="search"
      aria-label="Whose memory"
      onSubmit=${(event) => {
        event.preventDefault();
        choose(typed.trim());
      }}
    >
      <label for="user">User</label>
      <input
        id="user"
        list="users"
        autocomplete="off"
        spellcheck="false"
        placeholder="user id"
        value=${typed}
        onInput=${(event) => {
          setTyped(event.target.value);
          if (users.includes(event.target.value)) choose(event.target.value);
        }}
      />
      <datalist id="users">${users.map((one) => html`<option key=${one} value=${one} />`)}</datalist>
      <button type="submit">Open</button>
    </form>
  `;
}

function Navigation({ current, user }) {
  // Not every service keeps profiles.
  const profile = useLoaded(user && ((signal) => api.profile(user, signal)), [user]);
  const hidden = profile.value ? [] : ["profile"];
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [current]);
  return html`
    <nav aria-label="Pages" class=${open ? "open" : ""}>
      <ul>
        ${Object.entries(PAGES)
          .filter(([name, page]) => !page.within && !hidden.includes(name))
          .map(
            ([name, page]) => html`
              <li key=${name} class=${page.first ? "" : "further"}>
                <a href=${href(name, { user })} aria-current=${current === name ? "page" : undefined}>
                  <${Icon} name=${name} />${page.title}
                </a>
              </li>
            `,
          )}
        <li class="more">
          <button type="button" class="quiet" aria-expanded=${open} onClick=${() => setOpen(!open)}>
            <${Icon} name="more" />More
          </button>
        </li>
      </ul>
    </nav>
  `;
}

const loaded = new Map();
let wantsField = false;

// A page, once its module is there. `arrived` is called when it is shown.
function Page({ name, arrived, ...props }) {
  const [component, setComponent] = useState(() => loaded.get(name));
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    let wanted = true;
    PAGES[name].load().then(
      (found) => {
        loaded.set(name, found);
        if (wanted) setComponent(() => found);
      },
      () => wanted && setProblem(new Error("The service can't be reached. Is it running?")),
    );
    return () => {
      wanted = false;
    };
  }, [name]);
  useLayoutEffect(() => {
    if (component) arrived();
  }, [component]);
  if (problem) return html`<${Failed} error=${problem} retry=${() => location.reload()} />`;
  if (!component) return html`<h1 tabindex="-1">${PAGES[name].title}</h1><${Loading} />`;
  return html`<${component} ...${props} />`;
}

// Moves the focus to the next or previous memory of a page.
function step(by) {
  const links = [...document.querySelectorAll("main h2 a, main h3 a, main td.content a, main .told > p:first-child a")];
  if (!links.length) return;
  const place = links.indexOf(document.activeElement);
  const next = place < 0 ? (by > 0 ? 0 : links.length - 1) : place + by;
  links[Math.max(0, Math.min(links.length - 1, next))].focus();
}

function useKeys(user, help) {
  useEffect(() => {
    let before = "";
    const pressed = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.closest("input, textarea, select, dialog")) return;
      const page = before === "g" ? BY_KEY[event.key] : undefined;
      before = event.key;
      if (page) go(href(page, { user }));
      else if (event.key === "/") {
        const field = document.querySelector('main input[type="search"]');
        if (field) field.focus();
        else {
          wantsField = true; // once the page that is under way is there, or the search
          if (!document.querySelector("main .loading")) go(href("search", { user }));
        }
      } else if (event.key === "j") step(1);
      else if (event.key === "k") step(-1);
      else if (event.key === "?") help();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [user]);
}

function Frame({ caller, users, leave }) {
  const route = useRoute();
  const main = useRef();
  const shown = useRef();
  const name = PAGES[route.page] ? route.page : FIRST;
  const page = PAGES[name];
  const only = users.length === 1 ? users[0] : undefined;
  const user = route.params.user ?? sessionStorage.getItem(USER) ?? only;

  useEffect(() => {
    if (user) sessionStorage.setItem(USER, user);
  }, [user]);
  useEffect(() => {
    document.title = `${page.title} · semantic-memory`;
  }, [name]);
  const place = `${name}/${route.id ?? ""}`;
  // Another page begins at its heading; the first one leaves the focus where it is.
  const arrived = () => {
    if (shown.current !== undefined && shown.current !== place) {
      scrollTo(0, 0);
      main.current.querySelector("h1")?.focus();
    }
    shown.current = place;
    if (wantsField) main.current.querySelector('input[type="search"]')?.focus();
    wantsField = false;
  };
  const [helping, setHelping] = useState(false);
  useKeys(user, () => setHelping(true));

  const choose = (chosen) => {
    const stays = !["memory"].includes(name);
    go(href(stays ? name : "memories", { user: chosen }));
  };
  return html`
    <a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault();
      main.current.focus();
    }}>Skip to the page</a>
    <header class="top">
      <a class="brand" href=${href(FIRST, { user })}>
        <img src="icon.svg" alt="" width="26" height="26" /><span>semantic-memory</span>
      </a>
      <${UserChoice} user=${user} users=${users} choose=${choose} />
      <div class="aside">
        <${Theme} />
        ${apiKey.get() && html`<button type="button" class="quiet" onClick=${leave}>Log out</button>`}
      </div>
    </header>
    <${Navigation} current=${page.within ?? name} user=${user} />
    <main id="main" ref=${main} tabindex="-1">
      <${Page}
        key=${`${place}/${user}`}
        name=${name}
        arrived=${arrived}
        route=${route}
        user=${user}
        may=${(right) => caller.rights.includes(right)}
        caller=${caller}
      />
    </main>
    ${helping &&
    html`<${Dialog} title="Keys" onClose=${() => setHelping(false)}>
      <ul class="plain">${KEYS.split(" · ").map((one) => html`<li key=${one}>${one}</li>`)}</ul>
      <div class="actions"><button type="button" onClick=${() => setHelping(false)}>Close</button></div>
    <//>`}
  `;
}

function App() {
  const { caller, users, problem, ask } = useCaller();
  const refused = caller === null;
  const login = useLoaded(refused && (async () => (await import("./pages/login.js")).Login), [refused]);
  if (caller) {
    const leave = () => {
      apiKey.clear();
      sessionStorage.removeItem(USER);
      ask();
    };
    return html`<${Frame} caller=${caller} users=${users} leave=${leave} />`;
  }
  if (problem) {
    return html`<main class="alone"><h1>semantic-memory</h1><${Failed} error=${problem} retry=${ask} /></main>`;
  }
  if (refused && login.value) return html`<${login.value} enter=${ask} />`;
  return html`<main class="alone"><h1 class="hidden">semantic-memory</h1><${Loading} /></main>`;
}

render(html`<${App} />`, document.getElementById("app"));
