import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Per-connection HTTP state, stored on the socket. */

const openResponseSet = Symbol('responses under way');
/** The first bytes arrived while the fast path answered the request before them. */
const pipelined = Symbol('behind an answer');
/** A request was refused as malformed; nothing behind it is trustworthy. */
const untrusted = Symbol('spoiled');
type Connection = Duplex & {
  [openResponseSet]?: Set<ServerResponse>;
  [pipelined]?: boolean;
  [untrusted]?: boolean;
};

/** Open responses in the order of their requests, to add to and delete from. */
export function openResponses(socket: Duplex): Set<ServerResponse> {
  const connection = socket as Connection;
  connection[openResponseSet] ??= new Set();
  return connection[openResponseSet];
}

export const responsesOf = (socket: Duplex): readonly ServerResponse[] => [
  ...((socket as Connection)[openResponseSet] ?? []),
];

export const hasOpenResponses = (socket: Duplex): boolean =>
  ((socket as Connection)[openResponseSet]?.size ?? 0) > 0;

/** Marks whether the first bytes arrived while the fast path answered the request before them. */
export function setPipelined(socket: Duplex, value: boolean): void {
  (socket as Connection)[pipelined] = value;
}

/** Whether node:http has read nothing but bytes pipelined behind a request of the fast path. */
export function isPipelined(socket: Duplex): boolean {
  const connection = socket as Connection;
  return connection[openResponseSet] === undefined && connection[pipelined] === true;
}

/** Marks a connection as untrusted: requests behind a malformed one are not answered. */
export function markUntrusted(socket: Duplex): void {
  (socket as Connection)[untrusted] = true;
}

export const isUntrusted = (socket: Duplex): boolean => (socket as Connection)[untrusted] === true;

/** Closes a connection after the responses to its complete requests. @returns whether there are any. */
export function closeAfterResponses(socket: Duplex): boolean {
  const last = responsesOf(socket).findLast(({ req }) => req.complete);
  if (last === undefined || socket.destroyed) return false;
  if (!last.headersSent) last.setHeader('connection', 'close');
  last.once('finish', () => (socket as Socket).destroySoon());
  return true;
}
