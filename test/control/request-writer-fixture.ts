import type { Store } from '../../src/control/database/store.ts';
import type { LogStore } from '../../src/control/requests/log-store.ts';
import { RequestWriter, type RequestWriterOptions } from '../../src/control/requests/request-writer.ts';
import { SqlLog } from '../../src/control/requests/sql-log.ts';
import type { ConnectionInfo } from '../../src/gateway/telemetry/live-connections.ts';
import type { RequestEntry } from '../../src/gateway/telemetry/request-log.ts';
import type { Submission } from '../../src/gateway/telemetry/submission-log.ts';
import { UnknownMethods } from '../../src/gateway/telemetry/unknown-methods.ts';

export function createRequestWriter(
  store: Store,
  options: Partial<RequestWriterOptions> = {},
  logStore: LogStore = new SqlLog(store),
) {
  const log: RequestEntry[] = [];
  const sent: Submission[] = [];
  const unknownMethods = new UnknownMethods();
  const sources = {
    unknownMethods,
    requests: { drain: () => log.splice(0) },
    submissions: { drain: () => sent.splice(0) },
  };
  return {
    log,
    sent,
    unknownMethods,
    writer: new RequestWriter(store, logStore, sources, 'gateway-1', options),
  };
}

export const LOGGED_AT = 1_700_000_000_000;

export const requestEntry = (more: Partial<RequestEntry> = {}): RequestEntry => ({
  ...{ at: LOGGED_AT, customerId: 'anna', keyId: '7hQ2mKpZ', product: 'rpc', network: 'devnet' },
  ...{ method: 'getBalance', status: 'ok', http: 200, rpcCode: 0, failure: null, micros: 1_500 },
  ...{ message: null, signature: null },
  ...{ bytesIn: 10, bytesOut: 20, node: 'node-1', address: '192.0.2.7', origin: null },
  steps: [{ name: 'upstream', node: 'node-1', startMs: 0.5, endMs: 1.25, outcome: 'ok' }],
  ...{ params: '["x"]', result: null },
  ...more,
});

export const submissionOf = (more: Partial<Submission> = {}): Submission => ({
  ...{ at: LOGGED_AT, signature: 'sig1', customerId: 'anna', keyId: '7hQ2mKpZ', network: 'devnet' },
  ...{
    outcome: 'accepted',
    message: null,
    attempts: [{ node: 'node-1', at: LOGGED_AT, ms: 12.5, outcome: 'ok' }],
  },
  result: null,
  ...more,
});

export const connectionInfo = (more: Partial<ConnectionInfo> = {}): ConnectionInfo => ({
  ...{ id: 'c1', kind: 'websocket', rpc: null, keyId: '7hQ2mKpZ', customerId: 'anna' },
  ...{ address: '192.0.2.7', since: LOGGED_AT, subscriptions: 1, about: ['slotSubscribe'] },
  ...{ messagesPerSecond: 2.5, bytesPerSecond: 250, messages: 10, bytes: 1_000 },
  ...{ queuedMessages: 0, queuedBytes: 0 },
  ...more,
});
