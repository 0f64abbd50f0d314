import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Logger } from '../../base/log.ts';
import { outboxDefaults } from '../../streams/outbox.ts';
import type { OpenLocalNode } from '../genesis/open.ts';
import { PubsubConnection } from './connection.ts';
import { followLedger } from './notifier.ts';
import { Topics } from './subscriptions.ts';

export type PubsubServerOptions = Readonly<{
  /** Address to listen on; loopback by default. */
  host?: string;
  /** Port to listen on; 0 picks a free one. */
  port: number;
  log: Logger;
  /** Sockets open at once; further ones are closed unread. */
  connectionsMax?: number;
  /** Subscriptions of all connections; Agave's `--rpc-pubsub-max-active-subscriptions`. */
  subscriptionsMax?: number;
  /** Bytes of one message from a client. */
  messageMaxBytes?: number;
  /** Messages of one client that were read and not answered yet. */
  unansweredMax?: number;
  /** Bytes that may wait for a client that reads slowly. */
  queueMaxBytes?: number;
  /** How long a request to upgrade may take to arrive. */
  headersTimeoutMs?: number;
  /** How long `close` waits for clients to close. */
  closeTimeoutMs?: number;
}>;

export type PubsubServer = Readonly<{
  port: number;
  /** Takes no new connections and closes those that are open. */
  close(): Promise<void>;
}>;

/** WebSocket close code: the server goes away. */
const GOING_AWAY = 1001;
const UPGRADE_REQUIRED = 426;

async function close(
  server: Server,
  upgrades: WebSocketServer,
  connections: ReadonlySet<PubsubConnection>,
  timeoutMs: number,
): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  for (const connection of connections) connection.close(GOING_AWAY);
  const deadline = setTimeout(() => {
    for (const socket of upgrades.clients) socket.terminate();
  }, timeoutMs);
  await closed;
  clearTimeout(deadline);
}

/** Agave takes no subprotocol and no extension, and any path. */
const webSockets = (maxPayload: number): WebSocketServer =>
  new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload, handleProtocols: () => false });

/**
 * Serves the PubSub of an embedded ledger as Agave does, `blockSubscribe` and `voteSubscribe` included. Sources:
 * Agave rpc/src/rpc_pubsub_service.rs; reference solana-json-rpc.md §3.
 * @throws when the port cannot be had.
 */
export async function startPubsubServer(
  node: OpenLocalNode,
  options: PubsubServerOptions,
): Promise<PubsubServer> {
  const { log, unansweredMax = 64, queueMaxBytes = outboxDefaults.queueMaxBytes } = options;
  const { notifier, stop } = followLedger(node, log);
  const topics = new Topics(notifier, options.subscriptionsMax ?? 1_000_000);
  const upgrades = webSockets(options.messageMaxBytes ?? 4_096);
  const connections = new Set<PubsubConnection>();
  const server = createServer({ headersTimeout: options.headersTimeoutMs ?? 10_000 });
  server.maxConnections = options.connectionsMax ?? 4_096;
  server.on('request', (_request, response) => {
    response.writeHead(UPGRADE_REQUIRED, { connection: 'close', upgrade: 'websocket' });
    response.end('This port takes WebSocket connections\n');
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgrades.handleUpgrade(request, socket, head, (client) => {
      client.on('error', (error) => log.debug({ err: error }, 'a WebSocket failed'));
      const limits = { unansweredMax, queueMaxBytes, log };
      const connection = new PubsubConnection(client, socket, { node, topics }, limits);
      connections.add(connection);
      client.on('close', () => connections.delete(connection));
    });
  });
  try {
    server.listen(options.port, options.host ?? '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    stop();
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close: () => {
      stop();
      return close(server, upgrades, connections, options.closeTimeoutMs ?? 2_000);
    },
  };
}
