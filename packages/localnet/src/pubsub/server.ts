import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Logger } from '../../../../src/base/log.ts';
import type { AccountLookup } from '../../../../src/solana/parsed/account/parsed-account.ts';
import type { Slot } from '../../../../src/solana/units.ts';
import { LedgerNotifier } from '../../../../src/streams/ledger-notifier.ts';
import { outboxDefaults } from '../../../../src/streams/outbox.ts';
import type { OpenLocalNode } from '../genesis/open.ts';
import type { Bank } from '../node.ts';
import { mintsOf } from '../rpc/account-view.ts';
import { PubsubConnection } from './connection.ts';
import { SubscriptionRegistry } from './subscriptions.ts';

/** Oldest readable state that contains the slot, because notifications are sent for the tip of each commitment. */
function bankWith(node: OpenLocalNode, slot: Slot): Bank {
  for (const commitment of ['finalized', 'confirmed'] as const) {
    const bank = node.bank(commitment);
    if (bank.slot >= slot) return bank;
  }
  return node.bank('processed');
}

/** Mint lookups are cached per slot. */
function lookupOf(node: OpenLocalNode): (slot: Slot) => AccountLookup {
  let last: Readonly<{ bank: Bank; lookup: AccountLookup }> | null = null;
  return (slot) => {
    const bank = bankWith(node, slot);
    if (last?.bank !== bank) last = { bank, lookup: mintsOf(bank) };
    return last.lookup;
  };
}

/** Connects ledger events to subscriptions. Notification errors are logged and do not stop the ledger. */
export function followLedger(
  node: OpenLocalNode,
  log: Logger,
): Readonly<{ notifier: LedgerNotifier; stop: () => void }> {
  const notifier = new LedgerNotifier({
    lookup: lookupOf(node),
    statusOf: (signature) => node.recentStatus(signature),
    // New subscriptions also get the open slot and slots that are not rooted.
    retainUnsubscribed: true,
    onEvicted: (slot, failed) => log.warn({ slot: Number(slot), failed }, 'ledger notification queue full'),
  });
  const stop = node.follow((event) => {
    try {
      notifier.emit(event);
    } catch (error) {
      log.error({ err: error, event: event.kind }, 'ledger event notification failed');
    }
  });
  return { notifier, stop };
}

export type PubsubServerOptions = Readonly<{
  /** Listening address. Default: loopback. */
  host?: string;
  /** 0 picks a free port. */
  port: number;
  log: Logger;
  /** Maximum connections; further ones are closed at once. */
  connectionsMax?: number;
  /** Maximum subscriptions of all connections; Agave's `--rpc-pubsub-max-active-subscriptions`. */
  subscriptionsMax?: number;
  /** Maximum bytes of a client message. */
  messageMaxBytes?: number;
  /** Maximum unanswered messages per client. */
  unansweredMax?: number;
  /** Maximum bytes in the send queue of a client. */
  queueMaxBytes?: number;
  /** Milliseconds for the upgrade request. */
  headersTimeoutMs?: number;
  /** Milliseconds that `close` waits for clients. */
  closeTimeoutMs?: number;
}>;

export type PubsubServer = Readonly<{
  port: number;
  /** Closes all connections. */
  close(): Promise<void>;
}>;

/** WebSocket close code: going away. */
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

/** Agave accepts any path but no subprotocol and no extension. */
const webSockets = (maxPayload: number): WebSocketServer =>
  new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload, handleProtocols: () => false });

/**
 * PubSub server of an embedded ledger, equivalent to Agave with `blockSubscribe` and `voteSubscribe`.
 * Sources: Agave rpc/src/rpc_pubsub_service.rs; reference solana-json-rpc.md §3.
 * @throws Error if the port is not available.
 */
export async function startPubsubServer(
  node: OpenLocalNode,
  options: PubsubServerOptions,
): Promise<PubsubServer> {
  const { log, unansweredMax = 64, queueMaxBytes = outboxDefaults.queueMaxBytes } = options;
  const { notifier, stop } = followLedger(node, log);
  const topics = new SubscriptionRegistry(notifier, options.subscriptionsMax ?? 1_000_000);
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
      client.on('error', (error) => log.debug({ err: error }, 'WebSocket failed'));
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
