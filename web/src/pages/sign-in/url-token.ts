import { useEffect, useState } from 'react';

/** The URL fragment, removed at once to keep it out of the history. */
function takeToken(): string {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('token') ?? '';
  if (token !== '') window.history.replaceState(window.history.state, '', window.location.pathname);
  return token;
}

/**
 * Token in the URL fragment, which is never sent to a server. Also works for a link opened while the page is
 * already open.
 */
export function useUrlToken(): string {
  const [token, setToken] = useState(takeToken);
  useEffect(() => {
    const take = (): void => {
      const next = takeToken();
      if (next !== '') setToken(next);
    };
    window.addEventListener('hashchange', take);
    return () => window.removeEventListener('hashchange', take);
  }, []);
  return token;
}
