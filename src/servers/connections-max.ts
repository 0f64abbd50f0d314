import type { Server } from 'node:net';

/**
 * Lets a listener have so many connections; more are closed at once. Where it is a worker's, Node.js would by itself
 * offer one too many to the other workers in turn, for ever when all of them have as many as they may; the types do not
 * know that it need not.
 */
export function setConnectionsMax(server: Server, connectionsMax: number): void {
  Object.assign(server, { maxConnections: connectionsMax, dropMaxConnection: true });
}
