import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { setConnectionsMax } from '../connections-max.ts';
import type { HttpOptions } from './options.ts';
import type { HttpUpgrade } from './routes.ts';

/** Timeout checks per shortest timeout. */
const TIMEOUT_CHECKS = 4;

export const checkIntervalMs = ({ headersTimeoutMs, requestTimeoutMs }: HttpOptions): number =>
  Math.ceil(Math.min(headersTimeoutMs, requestTimeoutMs) / TIMEOUT_CHECKS);

/** Creates the node:http server with the limits of the options; it does not listen yet. */
export function createListener(options: HttpOptions, upgrades: readonly HttpUpgrade[]): Server {
  const { headersMaxBytes, headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, ownTimeMaxMs } = options;
  const server = createServer({
    maxHeaderSize: headersMaxBytes,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    // node:http has one timeout for all requests; OpenRequests enforces the shorter one.
    requestTimeout: Math.max(requestTimeoutMs, ownTimeMaxMs),
    keepAliveTimeout: keepAliveTimeoutMs,
    // Refused by decode.ts, with a body.
    requireHostHeader: false,
    // Unsupported upgrades are ignored (RFC 9110 §7.8).
    shouldUpgradeCallback: ({ method, headers }) =>
      method === 'GET' && upgrades.some(({ protocol }) => protocol === headers.upgrade?.toLowerCase()),
    connectionsCheckingInterval: checkIntervalMs(options),
  });
  server.timeout = options.idleTimeoutMs;
  setConnectionsMax(server, options.connectionsMax);
  // By default node:http drops headers beyond 2,000 silently; their bytes are limited already.
  server.maxHeadersCount = 0;
  return server;
}

/** Replaces the connection listener of node:http. @returns the original. */
export function interceptConnections(
  server: Server,
  onConnection: (socket: Socket) => void,
): (socket: Socket) => void {
  const [original] = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', onConnection);
  return (socket) => original?.call(server, socket);
}
