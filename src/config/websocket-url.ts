/** What stands before an explicit port: scheme, user part, host. */
const EXPLICIT_PORT = /^([a-z]+:\/\/(?:[^/?#]*@)?(?:\[[^\]]*\]|[^:/?#]*)):(\d{1,5})(?=[/?#]|$)/i;
const PORT_MAX = 65_535;

/**
 * Where the PubSub of a node is by convention: the same host and path over ws or wss, and the next port where the
 * URL names one. Source: `makeWebsocketUrl` of @solana/web3.js.
 * @returns null when there is no next port.
 */
export function websocketUrlOf(url: string): string | null {
  const [whole, before, port] = EXPLICIT_PORT.exec(url) ?? [];
  const next = Number(port) + 1;
  if (next > PORT_MAX) return null;
  const moved = whole === undefined ? url : `${before}:${next}${url.slice(whole.length)}`;
  return moved.replace(/^http/i, 'ws');
}
