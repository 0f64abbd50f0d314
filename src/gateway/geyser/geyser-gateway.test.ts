import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { authenticatorOf, createKey } from '../../../test/gateway/keys.ts';
import { createLogger } from '../../base/log.ts';
import { unknownClient } from '../../protocol/client-info.ts';
import { Failure } from '../../protocol/errors.ts';
import { InvalidProtobuf } from '../../protocol/geyser/protobuf.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import type { Product } from '../../protocol/product.ts';
import type { Caller } from '../../protocol/request-handler.ts';
import type { Address } from '../../solana/address.ts';
import type { StreamOpener, StreamRpc } from '../../streams/geyser/geyser-handler.ts';
import { Admission } from '../admission.ts';
import type { KeyAuthenticator } from '../auth/key-authenticator.ts';
import { defaultPlanLimits, type KeyRecord, type PlanLimits } from '../auth/key-record.ts';
import { KeyWatch } from '../auth/key-watch.ts';
import { MessageRateLimiter } from '../limits/message-rate-limiter.ts';
import { QuotaLedger } from '../limits/quota.ts';
import { CallMeter } from '../metering/call-meter.ts';
import { UsageMeter } from '../metering/usage-meter.ts';
import { LiveConnections } from '../telemetry/live-connections.ts';
import { GeyserGateway } from './geyser-gateway.ts';

const unlimited: PlanLimits = { ...defaultPlanLimits, rpcPerSecond: 0 };
const sink = { push: () => {}, end: () => {}, lag: () => {} };
const address = (at: number): Address => `Address${at}` as Address;
const requestOf = (count: number): SubscribeRequest => ({
  accounts: new Map([['a', { account: Array.from({ length: count }, (_, at) => address(at)) }]]),
});

class FakeStreamOpener implements StreamOpener {
  readonly events: string[];
  readonly #name: string;
  rejection: Error | null = null;
  /** Delays requests on a stream. */
  delay: Promise<void> | null = null;

  constructor(name: string, events: string[]) {
    this.#name = name;
    this.events = events;
  }

  open(rpc: StreamRpc) {
    if (this.rejection !== null) throw this.rejection;
    this.events.push(`${this.#name} opens ${rpc}`);
    return {
      request: async () => {
        if (this.rejection !== null) throw this.rejection;
        await this.delay;
        this.events.push(`${this.#name} gets a request`);
      },
      close: () => void this.events.push(`${this.#name} closes`),
    };
  }

  unary(rpc: string, request: Uint8Array): Uint8Array {
    if (this.rejection !== null) throw this.rejection;
    this.events.push(`${this.#name} answers ${rpc}`);
    return new Uint8Array(request.length * 2);
  }
}

function rejectionOf(call: () => unknown): Failure {
  try {
    call();
  } catch (thrown) {
    return thrown as Failure;
  }
  throw new Error('the call did not throw');
}

const by = (credential: string | null): Caller => ({ credential, client: unknownClient });

describe('Geyser gateway', () => {
  let keys: KeyAuthenticator;
  let watch: KeyWatch;
  let usage: UsageMeter;
  let quota: QuotaLedger;
  let events: string[];
  let lines: string[];
  let ended: string[];
  let connections: LiveConnections;
  let standard: FakeStreamOpener;
  let shred: FakeStreamOpener | null;
  let gate: GeyserGateway;
  const onEnd = (failure: Failure): void => void ended.push(failure.code);

  const createGate = (): GeyserGateway =>
    new GeyserGateway({
      ...{ admission: new Admission({ keys, quota }), meter: new CallMeter({ usage, quota }) },
      ...{ watch, standard, shred },
      network: 'mainnet-beta',
      connections,
      messageLimiter: new MessageRateLimiter(),
      log: createLogger('trace', (line) => lines.push(line)),
    });

  /** Adds a key. @returns its text and its record. */
  function keyOf(product: Product, limits: Partial<PlanLimits> = {}): { text: string; record: KeyRecord } {
    const key = createKey({ product, limits: { ...unlimited, ...limits } });
    keys.apply([key.record]);
    return key;
  }

  const open = (text: string | null, rpc: StreamRpc = 'Subscribe') => gate.open(by(text), rpc, sink, onEnd);

  /** Usage rows as `product method status requests messages bytesIn bytesOut`. */
  const counted = (): string[] =>
    usage
      .snapshot()
      .map((row) => {
        const { product, method, status, requests, messages, bytesIn, bytesOut } = row;
        return [product, method, status, requests, messages, bytesIn, bytesOut].join(' ');
      })
      .sort();

  beforeEach(() => {
    keys = authenticatorOf();
    usage = new UsageMeter();
    quota = new QuotaLedger();
    watch = new KeyWatch(keys, { sweepIntervalMs: 5, rejection: quota.exceeded.bind(quota) });
    events = [];
    lines = [];
    ended = [];
    connections = new LiveConnections();
    standard = new FakeStreamOpener('standard', events);
    shred = new FakeStreamOpener('shred', events);
    gate = createGate();
  });

  afterEach(() => watch.close());

  describe('opens streams by product', () => {
    it.each([
      ['grpc', 'Subscribe', 'standard opens Subscribe'],
      ['fs', 'Subscribe', 'shred opens Subscribe'],
      ['fs', 'SubscribeEntries', 'shred opens SubscribeEntries'],
    ] as const)('%s: %s', (product, rpc, then) => {
      open(keyOf(product).text, rpc);
      expect(events).toEqual([then]);
    });

    it.each([
      ['grpc', 'SubscribeDeshred'],
      ['grpc', 'SubscribeEntries'],
      ['rpc', 'Subscribe'],
    ] as const)('refuses %s: %s', (product, rpc) => {
      const failure = rejectionOf(() => open(keyOf(product).text, rpc));
      expect([failure.code, failure.row.grpc]).toEqual(['UNAUTHORIZED_PRODUCT', 7]);
      expect(events).toEqual([]);
    });

    it('admits a stream over HTTP with a valid key of the product', () => {
      const { text, record } = keyOf('grpc');
      expect(gate.admitStream(by(text), 'Subscribe')).toBe(record.customerId);
      const codeFor = (caller: Caller) =>
        rejectionOf(() => gate.admitStream(caller, 'SubscribeDeshred')).code;
      expect([codeFor(by(text)), codeFor(by(null))]).toEqual(['UNAUTHORIZED_PRODUCT', 'MISSING_KEY']);
      expect(events).toEqual([]);
    });

    it('allows unary calls with both products and refuses others', async () => {
      for (const product of ['grpc', 'fs'] as const) {
        const answer = await gate.unary(by(keyOf(product).text), 'GetSlot', new Uint8Array(3));
        expect(answer).toHaveLength(6);
      }
      expect(events).toEqual(['standard answers GetSlot', 'standard answers GetSlot']);
      const refused = gate.unary(by(keyOf('rpc').text), 'GetSlot', new Uint8Array());
      await expect(refused).rejects.toMatchObject({ code: 'UNAUTHORIZED_PRODUCT' });
      expect(counted()).toEqual([
        'fs GetSlot ok 1 0 3 6',
        'grpc GetSlot ok 1 0 3 6',
        'rpc GetSlot client 1 0 0 0',
      ]);
    });

    it('admits as many concurrent requests as credits are left', async () => {
      const limits = { monthlyCredits: 9, prices: { Subscribe: 1, SubscribeRequest: 4 } };
      const { text } = keyOf('grpc', limits);
      const stream = open(text);
      const { promise, resolve } = Promise.withResolvers<void>();
      standard.delay = promise;
      const requested = Array.from({ length: 50 }, () => stream.request(requestOf(1)));
      resolve();
      const ends = await Promise.allSettled(requested);
      expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
      expect(rejectionOf(() => open(text)).code).toBe('QUOTA_EXCEEDED');
    });

    it('reports a missing shred stage', async () => {
      shred = null;
      gate = createGate();
      const { text } = keyOf('fs');
      const failure = rejectionOf(() => open(text));
      expect([failure.code, failure.row.grpc, failure.retryAfter]).toEqual([
        ...['NO_SHRED_STAGE', 12, undefined],
      ]);
      expect(failure.grpcText).toBe('This service has no shred stage: no shred source is configured');
      const requested = gate.unary(by(text), 'SubscribeReplayInfo', new Uint8Array());
      await expect(requested).rejects.toMatchObject({ code: 'NO_SHRED_STAGE' });
      expect(await gate.unary(by(text), 'GetSlot', new Uint8Array(1))).toHaveLength(2);
    });
  });

  it('limits streams per key family and releases each once', () => {
    const { text, record } = keyOf('grpc', { grpcStreamsMax: 2 });
    const next = createKey({ product: 'grpc', familyId: record.familyId, limits: record.limits });
    keys.apply([next.record]);
    const first = open(text);
    open(next.text);
    const failure = rejectionOf(() => open(text));
    expect([failure.code, failure.row.grpc, failure.facts]).toEqual([
      ...['CONNECTION_LIMIT', 8, { streamsMax: 2 }],
    ]);
    first.close();
    first.close();
    open(text);
    expect(rejectionOf(() => open(text)).code).toBe('CONNECTION_LIMIT');
  });

  it('releases the slot of a stream that fails to open', () => {
    const { text } = keyOf('grpc', { grpcStreamsMax: 1 });
    standard.rejection = new GrpcError('UNIMPLEMENTED', 'method disabled');
    expect(() => open(text)).toThrow('method disabled');
    standard.rejection = null;
    open(text);
    expect(counted()).toEqual(['grpc Subscribe client 1 0 0 0', 'grpc Subscribe ok 1 0 0 0']);
  });

  it('checks a request against the plan', async () => {
    const stream = open(keyOf('grpc', { grpcPubkeysMax: 1 }).text);
    const failure = { code: 'FILTER_LIMIT', row: { grpc: 3 } };
    await expect(stream.request(requestOf(2))).rejects.toMatchObject(failure);
    expect(events).toEqual(['standard opens Subscribe']);
  });

  it('counts a call for the stream, for each request, and per thousand addresses', async () => {
    const { text } = keyOf('grpc', { rpcPerSecond: 0.000_001, rpcBurst: 6 });
    const stream = open(text);
    await stream.request(requestOf(1));
    await stream.request(requestOf(2_999));
    await gate.unary(by(text), 'Ping', new Uint8Array());
    const failure = await stream.request({}).catch((thrown: Failure) => thrown);
    expect(failure).toMatchObject({ code: 'RATE_LIMITED', row: { grpc: 8 } });
    expect(rejectionOf(() => open(text)).code).toBe('RATE_LIMITED');
    expect(counted().filter((row) => row.includes('limited'))).toEqual([
      ...['grpc Subscribe limited 1 0 0 0', 'grpc SubscribeRequest limited 1 0 0 0'],
    ]);
  });

  it('meters streams, and requests and messages with their bytes', async () => {
    const stream = open(keyOf('fs').text, 'SubscribeDeshred');
    expect(stream.recordReceived(1, 40)).toBe(0);
    await stream.request({ deshredTransactions: new Map([['t', {}]]) });
    stream.recordReceived(1, 2);
    await stream.request({});
    stream.recordSent(10, 1_000);
    stream.recordSent(5, 500);
    expect(counted()).toEqual([
      'fs SubscribeDeshred ok 1 15 0 1500',
      'fs SubscribeDeshredRequest ok 2 0 42 0',
    ]);
    expect(usage.snapshot().map(({ credits }) => credits)).toEqual([1, 2]);
  });

  it('lists an open stream with its filters and closes it on request', async () => {
    const { text, record } = keyOf('fs');
    const stream = open(text, 'SubscribeDeshred');
    await stream.request({ deshredTransactions: new Map([['t', { vote: false }]]) });
    stream.recordSent(3, 300);
    const [live] = connections.snapshot(9);
    expect(live).toMatchObject({
      ...{ kind: 'grpc', rpc: 'SubscribeDeshred', keyId: record.id, customerId: 'house', subscriptions: 1 },
      ...{ about: ['deshred_transactions 1'], messages: 3, bytes: 300, queuedMessages: 0, queuedBytes: 0 },
    });
    stream.recordLagged?.();
    expect(connections.lagged).toBe(1);
    expect(connections.close(live!.id, new Failure('CLOSED_BY_OWNER'))).toBe(true);
    expect([ended, events.at(-1)]).toEqual([['CLOSED_BY_OWNER'], 'shred closes']);
    stream.close();
    expect(connections.size).toBe(0);
  });

  describe('ends the streams of a key', () => {
    it('at once when the key is revoked', async () => {
      const { text, record } = keyOf('grpc');
      const stream = open(text);
      open(keyOf('grpc').text);
      keys.apply([{ ...record, status: 'revoked', version: 2 }]);
      expect(ended).toEqual(['INVALID_KEY']);
      expect(events.at(-1)).toBe('standard closes');
      await expect(stream.request({})).rejects.toMatchObject({ code: 'CLIENT_GONE' });
      expect(events.filter((line) => line.includes('requested'))).toEqual([]);
      stream.close();
      expect(events.filter((line) => line === 'standard closes')).toHaveLength(1);
    });

    it('when messages exhaust a hard quota, not a soft one', async () => {
      const limits = { monthlyCredits: 3, streamCredits: 1 };
      const soft = open(keyOf('grpc', { ...limits, quotaIsHard: false }).text);
      soft.recordSent(1, 1_000_000);
      const over = Promise.withResolvers<Failure>();
      const { record, text } = keyOf('grpc', { ...limits, quotaIsHard: true });
      keys.apply([{ ...record, customerId: 'another', version: 2 }]);
      const hard = gate.open(by(text), 'Subscribe', sink, over.resolve);
      hard.recordSent(1, 1_000_000);
      const { code, row } = await over.promise;
      expect([code, row.grpc]).toEqual(['QUOTA_EXCEEDED', 8]);
      expect([ended, events.at(-1)]).toEqual([[], 'standard closes']);
    });
  });

  it('passes on errors of the hub and hides internal ones', async () => {
    const { text } = keyOf('grpc');
    const stream = open(text);
    standard.rejection = new GrpcError('INVALID_ARGUMENT', 'failed to create filter: invalid base58');
    await expect(stream.request({})).rejects.toBe(standard.rejection);
    await expect(gate.unary(by(text), 'Ping', new Uint8Array())).rejects.toBe(standard.rejection);
    standard.rejection = new InvalidProtobuf('no message');
    await expect(gate.unary(by(text), 'Ping', new Uint8Array())).rejects.toBe(standard.rejection);
    expect(lines).toEqual([]);
    expect(counted()).toEqual([
      ...['grpc Ping client 2 0 0 0', 'grpc Subscribe ok 1 0 0 0', 'grpc SubscribeRequest client 1 0 0 0'],
    ]);
    standard.rejection = new Error('a secret place');
    const failure = await stream.request({}).catch((thrown: Failure) => thrown);
    expect(failure).toMatchObject({ code: 'INTERNAL', grpcText: 'Internal error' });
    expect(lines.join('')).toContain('Request failed with an internal error');
  });
});
