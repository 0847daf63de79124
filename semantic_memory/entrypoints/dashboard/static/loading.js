// What is fetched for a page, and where that stands.

import { useCallback, useEffect, useState } from "./vendor/htm-preact-3.1.1.js";

// `fetcher(signal)` is run when `inputs` change; null as fetcher fetches nothing.
export function useLoaded(fetcher, inputs) {
  const [state, setState] = useState({ loading: Boolean(fetcher) });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (!fetcher) {
      setState({ loading: false });
      return undefined;
    }
    const ending = new AbortController();
    const started = performance.now();
    setState((before) => ({ ...before, loading: true, error: undefined }));
    fetcher(ending.signal).then(
      (value) => {
        const milliseconds = performance.now() - started;
        if (!ending.signal.aborted) setState({ value, milliseconds, loading: false });
      },
      (error) => {
        if (!ending.signal.aborted) setState({ error, loading: false });
      },
    );
    return () => ending.abort();
  }, [...inputs, turn]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  return { ...state, reload };
}

// Something that is done once at a time, on request.
export function useAction() {
  const [state, setState] = useState({ busy: false });
  const run = async (action) => {
    setState({ busy: true });
    try {
      const value = await action();
      setState({ busy: false });
      return value;
    } catch (error) {
      setState({ busy: false, error });
      return undefined;
    }
  };
  return { ...state, run };
}
