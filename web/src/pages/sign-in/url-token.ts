import { useEffect, useState } from 'react';

function takeToken(staysInUrl: boolean): string {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('token') ?? '';
  if (token !== '' && !staysInUrl)
    window.history.replaceState(window.history.state, '', window.location.pathname);
  return token;
}

/**
 * Token in the URL fragment, which is never sent to a server. Also works for a link opened while the page is
 * already open. A token that works once is removed from the URL, to keep it out of the history.
 */
export function useUrlToken({ staysInUrl = false } = {}): string {
  const [token, setToken] = useState(() => takeToken(staysInUrl));
  useEffect(() => {
    const take = (): void => {
      const next = takeToken(staysInUrl);
      if (next !== '') setToken(next);
    };
    window.addEventListener('hashchange', take);
    return () => window.removeEventListener('hashchange', take);
  }, [staysInUrl]);
  return token;
}
