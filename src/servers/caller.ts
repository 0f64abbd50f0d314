import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Network } from '../protocol/call.ts';
import { type Failure, networkNotServed } from '../protocol/errors.ts';
import type { Caller } from '../protocol/request-handler.ts';
import type { TrustedProxies } from './client-address.ts';

const BEARER = /^bearer +([^\s]+) *$/i;

/** Returns the `Authorization: Bearer` token, else the query parameter `api-key`, else null. */
export const credentialOf = ({ headers }: IncomingMessage, query: string): string | null =>
  credentialIn(headers.authorization, query);

export function credentialIn(authorization: string | undefined, query: string): string | null {
  const bearer = authorization === undefined ? null : BEARER.exec(authorization);
  if (bearer !== null) return bearer[1] as string;
  return parameterIn(query, 'api-key');
}

const parameterIn = (query: string, name: string): string | null =>
  query.includes(name) ? new URLSearchParams(query).get(name) : null;

export const networkIn = (query: string): string | null => parameterIn(query, 'network');

/** Returns null if the named network is served, or if none is named. */
export const networkRejection = (
  named: string | null | undefined,
  served: readonly Network[],
): Failure | null =>
  named == null || served.some((network) => network === named) ? null : networkNotServed(named, served);

/** Lower-case name of the header that identifies a session for monotonic reads. */
export const SESSION_HEADER = 'x-solway-session';

const NAME_LENGTH_MAX = 64;

/** Returns the session name. Joins repeated headers and replaces a long name with its hash. */
export function sessionOf(header: string | readonly string[] | null | undefined): string | null {
  if (header == null) return null;
  const name = (typeof header === 'string' ? header : header.join(', ')).trim();
  if (name === '') return null;
  return name.length <= NAME_LENGTH_MAX ? name : hash('sha256', name, 'base64url');
}

/** The W3C traceparent header, unparsed. */
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
  return {
    credential: credentialOf(request, query),
    client: proxies.clientOf(socket, headers),
    traceparent: traceparentOf(headers),
    session: sessionOf(headers[SESSION_HEADER]),
    network: networkIn(query),
  };
}
