import type { Server } from 'node:net';

/**
 * Limits the connections of a server; further ones are closed at once. In a cluster, Node.js would otherwise pass excess
 * connections on to other workers, forever if all are full. `dropMaxConnection` is missing in the types.
 */
export function setConnectionsMax(server: Server, connectionsMax: number): void {
  Object.assign(server, { maxConnections: connectionsMax, dropMaxConnection: true });
}
