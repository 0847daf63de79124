// The frame around every page: who may look, whose memory, which page.

import { html, render, useCallback, useEffect, useRef, useState } from "./vendor/htm-preact-3.1.1.js";
import { api, apiKey, whenRefused } from "./api.js";
import { Failed, Loading } from "./parts.js";
import { go, href, useRoute } from "./routing.js";
import { Icon } from "./icons.js";
import { useLoaded } from "./loading.js";
import { Login } from "./pages/login.js";
import { Jobs } from "./pages/jobs.js";
import { MapPage } from "./pages/map.js";
import { Memories } from "./pages/memories.js";
import { Memory } from "./pages/memory.js";
import { Metrics } from "./pages/metrics.js";
import { Profile } from "./pages/profile.js";
import { Prompt } from "./pages/prompt.js";
import { Search } from "./pages/search.js";
import { Sessions } from "./pages/sessions.js";

const PAGES = {
  search: { title: "Search", component: Search },
  memories: { title: "Memories", component: Memories },
  map: { title: "Map", component: MapPage },
  sessions: { title: "Sessions", component: Sessions },
  prompt: { title: "Prompt", component: Prompt },
  profile: { title: "Profile", component: Profile },
  jobs: { title: "Jobs", component: Jobs },
  metrics: { title: "Metrics", component: Metrics },
  memory: { title: "Memory", component: Memory, within: "memories" },
};
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
  return html`
    <nav aria-label="Pages">
      <ul>
        ${Object.entries(PAGES)
          .filter(([name, page]) => !page.within && !hidden.includes(name))
          .map(
            ([name, page]) => html`
              <li key=${name}>
                <a href=${href(name, { user })} aria-current=${current === name ? "page" : undefined}>
                  <${Icon} name=${name} />${page.title}
                </a>
              </li>
            `,
          )}
      </ul>
    </nav>
  `;
}

function Frame({ caller, users, leave }) {
  const route = useRoute();
  const main = useRef();
  const shown = useRef();
  const page = PAGES[route.page] ?? PAGES.search;
  const only = users.length === 1 ? users[0] : undefined;
  const user = route.params.user ?? sessionStorage.getItem(USER) ?? only;

  useEffect(() => {
    if (user) sessionStorage.setItem(USER, user);
  }, [user]);
  useEffect(() => {
    document.title = `${page.title} · semantic-memory`;
    const place = `${route.page}/${route.id ?? ""}`;
    // Another page begins at its heading; the first one leaves the focus where it is.
    if (shown.current !== undefined && shown.current !== place) {
      scrollTo(0, 0);
      main.current.querySelector("h1")?.focus();
    }
    shown.current = place;
  }, [route.page, route.id]);

  const choose = (chosen) => {
    const stays = !["memory"].includes(route.page);
    go(href(stays ? route.page : "memories", { user: chosen }));
  };
  return html`
    <a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault();
      main.current.focus();
    }}>Skip to the page</a>
    <header class="top">
      <a class="brand" href=${href("search", { user })}>
        <img src="icon.svg" alt="" width="26" height="26" /><span>semantic-memory</span>
      </a>
      <${UserChoice} user=${user} users=${users} choose=${choose} />
      <div class="aside">
        <${Theme} />
        ${apiKey.get() && html`<button type="button" class="quiet" onClick=${leave}>Log out</button>`}
      </div>
    </header>
    <${Navigation} current=${page.within ?? route.page} user=${user} />
    <main id="main" ref=${main} tabindex="-1">
      <${page.component}
        key=${`${route.page}/${route.id ?? ""}/${user}`}
        route=${route}
        user=${user}
        may=${(right) => caller.rights.includes(right)}
        caller=${caller}
      />
    </main>
  `;
}

function App() {
  const { caller, users, problem, ask } = useCaller();
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
  if (caller === null) return html`<${Login} enter=${ask} />`;
  return html`<main class="alone"><h1 class="hidden">semantic-memory</h1><${Loading} /></main>`;
}

render(html`<${App} />`, document.getElementById("app"));
