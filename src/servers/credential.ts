import type { IncomingMessage } from 'node:http';

const BEARER = /^bearer +([^\s]+) *$/i;
const KEY_PARAMETER = 'api-key';

/**
 * API key of a request: `Authorization: Bearer`, else the query parameter `api-key`; null for none.
 */
export const credentialOf = ({ headers }: IncomingMessage, query: string): string | null =>
  credentialIn(headers.authorization, query);

export function credentialIn(authorization: string | undefined, query: string): string | null {
  const bearer = authorization === undefined ? null : BEARER.exec(authorization);
  if (bearer !== null) return bearer[1] as string;
  return query.includes(KEY_PARAMETER) ? new URLSearchParams(query).get(KEY_PARAMETER) : null;
}
