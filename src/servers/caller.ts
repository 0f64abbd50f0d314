import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Network } from '../protocol/call.ts';
import { type Failure, networkNotServed } from '../protocol/errors.ts';
import type { Caller } from '../protocol/request-handler.ts';
import type { TrustedProxies } from './client-address.ts';

const BEARER = /^bearer +([^\s]+) *$/i;
const KEY_PARAMETER = 'api-key';

/** API key of a request: `Authorization: Bearer`, else the query parameter `api-key`; null for none. */
export const credentialOf = ({ headers }: IncomingMessage, query: string): string | null =>
  credentialIn(headers.authorization, query);

export function credentialIn(authorization: string | undefined, query: string): string | null {
  const bearer = authorization === undefined ? null : BEARER.exec(authorization);
  if (bearer !== null) return bearer[1] as string;
  return query.includes(KEY_PARAMETER) ? new URLSearchParams(query).get(KEY_PARAMETER) : null;
}

const PARAMETER = 'network';

/** The query parameter `network`; null when it is absent. */
export const networkIn = (query: string): string | null =>
  query.includes(PARAMETER) ? new URLSearchParams(query).get(PARAMETER) : null;

/** The failure for a network that is not served; null for a served one or none. */
export const networkRejection = (
  named: string | null | undefined,
  served: readonly Network[],
): Failure | null =>
  named == null || served.some((network) => network === named) ? null : networkNotServed(named, served);

/** Header that names a session for monotonic reads. Lower case. */
export const SESSION_HEADER = 'x-solway-session';

/** Longer names are replaced by their hash. */
const NAME_LENGTH_MAX = 64;

/** The session named by the header; null for none. Repeated headers are joined. */
export function sessionOf(header: string | readonly string[] | null | undefined): string | null {
  if (header == null) return null;
  const name = (typeof header === 'string' ? header : header.join(', ')).trim();
  if (name === '') return null;
  return name.length <= NAME_LENGTH_MAX ? name : hash('sha256', name, 'base64url');
}

/** The W3C traceparent header, unparsed; null for none. */
export function traceparentOf(headers: NodeJS.Dict<string | string[]>): string | null {
  const { traceparent } = headers;
  return typeof traceparent === 'string' ? traceparent : null;
}

export function callerOf(
  request: IncomingMessage,
  socket: Socket,
  query: string,
  proxies: TrustedProxies,
): Caller {
  const { headers } = request;
  const client = proxies.clientOf(socket, headers);
  const traceparent = traceparentOf(headers);
  const session = sessionOf(headers[SESSION_HEADER]);
  return {
    credential: credentialOf(request, query),
    client,
    traceparent,
    session,
    network: networkIn(query),
  };
}
