/** Path and query of a request target, without scheme and authority of an absolute one (RFC 9112 §3.2.2). */
export function splitUrl(url: string): { path: string; query: string } {
  const start = url.startsWith('/') ? 0 : Math.max(0, url.indexOf('/', url.indexOf('://') + 3));
  const mark = url.indexOf('?', start);
  return mark === -1
    ? { path: url.slice(start), query: '' }
    : { path: url.slice(start, mark), query: url.slice(mark + 1) };
}
