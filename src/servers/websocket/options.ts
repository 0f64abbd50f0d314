import { ByteBudget } from '../../base/cache/byte-budget.ts';
import type { Network } from '../../protocol/call.ts';
import { envelopeLimits } from '../../protocol/request-envelope.ts';
import { outboxDefaults } from '../../streams/outbox.ts';
import { noProxies } from '../client-address.ts';
import { rpcServerOptions } from '../rpc/options.ts';

export const webSocketOptions = {
  path: '/v1/ws',
  /** Network of calls and subscriptions; a connection whose query names another network is rejected. */
  network: 'mainnet-beta' as Network,
  /** Maximum number of connections across all keys; further handshakes get OVERLOADED. */
  connectionsMax: 10_000,
  callsInFlightMax: 64,
  callsWaitingMax: 1_000,
  callsWaitingMaxBytes: 2 * 1024 * 1024,
  /** Maximum number of calls in flight across all connections; further calls get OVERLOADED. */
  allCallsInFlightMax: 5_000,
  batchConcurrency: rpcServerOptions.batchConcurrency,
  responseBudget: new ByteBudget(() => rpcServerOptions.responsesMaxBytes),
  batchResponsesMaxBytes: rpcServerOptions.batchResponsesMaxBytes,
  ...outboxDefaults,
  /** Maximum unsent bytes of all clients. Above this, closing connections are cut first, then the largest backlogs. */
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
