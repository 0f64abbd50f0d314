/**
 * The token behind the `#`: it is sent to nobody by following the link, and is taken out of the address at once, so
 * that no history keeps it.
 */
export function takeToken(): string {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('token') ?? '';
  if (token !== '') window.history.replaceState(window.history.state, '', window.location.pathname);
  return token;
}
