import type { IncomingMessage } from 'node:http';

const BEARER = /^bearer +([^\s]+) *$/i;
const KEY_PARAMETER = 'api-key';

/**
 * The API key of a request: that of `Authorization: Bearer` (the scheme in any case), else that of the query
 * parameter `api-key`; the header wins. null when there is neither.
 */
export const credentialOf = ({ headers }: IncomingMessage, query: string): string | null =>
  credentialIn(headers.authorization, query);

/** The same of what stands in the header, undefined when it is not there. */
export function credentialIn(authorization: string | undefined, query: string): string | null {
  const bearer = authorization === undefined ? null : BEARER.exec(authorization);
  if (bearer !== null) return bearer[1] as string;
  return query.includes(KEY_PARAMETER) ? new URLSearchParams(query).get(KEY_PARAMETER) : null;
}
