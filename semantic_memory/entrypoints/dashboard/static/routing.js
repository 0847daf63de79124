// Pages are named by the part of the address behind `#`: #/memory/ID?user=maya.

import { useEffect, useState } from "./vendor/htm-preact-3.1.1.js";

const read = () => {
  const [path, ...rest] = location.hash.replace(/^#\/?/, "").split("?");
  const [page, id] = path.split("/");
  return {
    page: page || "overview",
    id: id === undefined ? undefined : decodeURIComponent(id),
    params: Object.fromEntries(new URLSearchParams(rest.join("?"))),
  };
};

export function href(page, params = {}, id) {
  const given = Object.entries(params).filter(
    ([, value]) => value !== undefined && value !== null && value !== "" && value !== false,
  );
  const query = new URLSearchParams(given).toString();
  const path = id === undefined ? page : `${page}/${encodeURIComponent(id)}`;
  return `#/${path}${query && `?${query}`}`;
}

export function go(target, { replace = false } = {}) {
  if (target === location.hash) return;
  if (replace) location.replace(target);
  else location.hash = target;
}

export function useRoute() {
  const [route, setRoute] = useState(read);
  useEffect(() => {
    const follow = () => setRoute(read());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}
