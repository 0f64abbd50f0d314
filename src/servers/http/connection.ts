import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** What is known of a connection in HTTP beside what node:http knows, and kept on it. */

/** The responses under way on a connection, in the order of their requests. */
const openResponseSet = Symbol('responses under way');
/** Whether the first bytes of a connection came while a door in front answered what stood before them. */
const pipelined = Symbol('behind an answer');
/** A request on it was refused for what it is: whatever is read behind it may be anything. */
const untrusted = Symbol('spoiled');
type Connection = Duplex & {
  [openResponseSet]?: Set<ServerResponse>;
  [pipelined]?: boolean;
  [untrusted]?: boolean;
};

/** The responses under way, to add to and to take from. A connection that was asked for them counts as one in use. */
export function openResponses(socket: Duplex): Set<ServerResponse> {
  const connection = socket as Connection;
  connection[openResponseSet] ??= new Set();
  return connection[openResponseSet];
}

/** The same to look at. */
export const responsesOf = (socket: Duplex): readonly ServerResponse[] => [
  ...((socket as Connection)[openResponseSet] ?? []),
];

/** Whether an answer is still to come on it. */
export const hasOpenResponses = (socket: Duplex): boolean =>
  ((socket as Connection)[openResponseSet]?.size ?? 0) > 0;

/** Says that its first bytes came while a door in front answered what stood before them, or after. */
export function setPipelined(socket: Duplex, value: boolean): void {
  (socket as Connection)[pipelined] = value;
}

/** Whether nothing was asked of it yet but what came while a door in front answered what stood before it. */
export function isPipelined(socket: Duplex): boolean {
  const connection = socket as Connection;
  return connection[openResponseSet] === undefined && connection[pipelined] === true;
}

/** Says that a request on it was refused for what it is: what is read behind it is nothing to answer. */
export function markUntrusted(socket: Duplex): void {
  (socket as Connection)[untrusted] = true;
}

/** Whether `spoil` was said of it. */
export const isUntrusted = (socket: Duplex): boolean => (socket as Connection)[untrusted] === true;

/** Closes a connection once its whole requests are answered. @returns whether there are any. */
export function closeAfterResponses(socket: Duplex): boolean {
  const last = responsesOf(socket).findLast(({ req }) => req.complete);
  if (last === undefined || socket.destroyed) return false;
  if (!last.headersSent) last.setHeader('connection', 'close');
  last.once('finish', () => (socket as Socket).destroySoon());
  return true;
}
