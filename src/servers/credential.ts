import type { IncomingMessage } from 'node:http';

const BEARER = /^bearer +([^\s]+) *$/i;
const KEY_PARAMETER = 'api-key';

/**
 * The API key of a request: that of `Authorization: Bearer` (the scheme in any case), else that of the query
 * parameter `api-key`; the header wins. null when there is neither.
 */
export function credentialOf(request: IncomingMessage, query: string): string | null {
  const header = request.headers.authorization;
  const bearer = header === undefined ? null : BEARER.exec(header);
  if (bearer !== null) return bearer[1] as string;
  return query.includes(KEY_PARAMETER) ? new URLSearchParams(query).get(KEY_PARAMETER) : null;
}
