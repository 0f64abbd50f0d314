import { ByteBudget } from '../../base/cache/byte-budget.ts';
import type { Network } from '../../protocol/call.ts';
import { envelopeLimits } from '../../protocol/request-envelope.ts';
import { outboxDefaults } from '../../streams/outbox.ts';
import { noProxies } from '../client-address.ts';
import { rpcServerOptions } from '../rpc/options.ts';

export const webSocketOptions = {
  path: '/v1/ws',
  /** Network of calls and subscriptions; a query naming another is rejected. */
  network: 'mainnet-beta' as Network,
  /** Connections of all keys; above it, a handshake gets OVERLOADED. */
  connectionsMax: 10_000,
  callsInFlightMax: 64,
  callsWaitingMax: 1_000,
  callsWaitingMaxBytes: 2 * 1024 * 1024,
  /** Calls of all connections; above it, a call gets OVERLOADED. */
  allCallsInFlightMax: 5_000,
  batchConcurrency: rpcServerOptions.batchConcurrency,
  responseBudget: new ByteBudget(() => rpcServerOptions.responsesMaxBytes),
  batchResponsesMaxBytes: rpcServerOptions.batchResponsesMaxBytes,
  ...outboxDefaults,
  /** Unsent data of all clients. Above it, closing connections and then the largest queues are dropped. */
  queuesMaxBytes: 512 * 1024 * 1024,
  pingIntervalMs: 30_000,
  pongTimeoutMs: 30_000,
  idleTimeoutMs: 600_000,
  closeTimeoutMs: 5_000,
  checkIntervalMs: 1_000,
  envelope: envelopeLimits,
  proxies: noProxies,
};

export type WebSocketOptions = Readonly<typeof webSocketOptions>;
