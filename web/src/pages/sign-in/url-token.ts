import { useEffect, useState } from 'react';

/** What stands behind the `#`, which is taken out of the address at once, so that no history keeps it. */
function takeToken(): string {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('token') ?? '';
  if (token !== '') window.history.replaceState(window.history.state, '', window.location.pathname);
  return token;
}

/**
 * The token behind the `#` of a link: it is sent to nobody by following the link. Empty where there is none. A link that
 * is opened where its page is open already loads nothing, and is taken too.
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
