import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { setConnectionsMax } from '../connections-max.ts';
import type { HttpOptions } from './options.ts';
import type { HttpUpgrade } from './routes.ts';

/** How often requests are looked for that are overdue, as a share of the shortest timeout. */
const TIMEOUT_CHECKS = 4;

/** How often requests are looked for that are overdue. */
export const checkIntervalMs = ({ headersTimeoutMs, requestTimeoutMs }: HttpOptions): number =>
  Math.ceil(Math.min(headersTimeoutMs, requestTimeoutMs) / TIMEOUT_CHECKS);

/** node:http with the limits of the listener; it takes nothing and answers nothing yet. */
export function createListener(options: HttpOptions, upgrades: readonly HttpUpgrade[]): Server {
  const { headersMaxBytes, headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, ownTimeMaxMs } = options;
  const server = createServer({
    maxHeaderSize: headersMaxBytes,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    // It knows one time for all requests; what most of them have is looked after here.
    requestTimeout: Math.max(requestTimeoutMs, ownTimeMaxMs),
    keepAliveTimeout: keepAliveTimeoutMs,
    // Ours to refuse, with a body.
    requireHostHeader: false,
    // Whoever asks for another protocol is answered as if it had not asked (RFC 9110 §7.8).
    shouldUpgradeCallback: ({ method, headers }) =>
      method === 'GET' && upgrades.some(({ protocol }) => protocol === headers.upgrade?.toLowerCase()),
    connectionsCheckingInterval: checkIntervalMs(options),
  });
  server.timeout = options.idleTimeoutMs;
  setConnectionsMax(server, options.connectionsMax);
  // By itself it leaves out headers beyond so many without a word; their bytes are bounded already.
  server.maxHeadersCount = 0;
  return server;
}

/** Puts `enter` before what node:http does with a connection. @returns what it does. */
export function interceptConnections(
  server: Server,
  onConnection: (socket: Socket) => void,
): (socket: Socket) => void {
  const [original] = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', onConnection);
  return (socket) => original?.call(server, socket);
}
