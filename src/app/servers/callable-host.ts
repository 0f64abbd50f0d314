/** Where this machine reaches what listens at a host: one that stands for all of its addresses is no place to call. */
export function callableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
