import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { authenticatorOf, createKey } from '../../../test/gateway/keys.ts';
import { ScriptedFeed } from '../../../test/streams/scripted-feed.ts';
import { dispatcherOf } from '../../../test/upstream/mock/dispatcher.ts';
import { createLogger } from '../../base/log.ts';
import type { Call, RpcResponse } from '../../protocol/call.ts';
import { unknownClient } from '../../protocol/client-info.ts';
import { Failure } from '../../protocol/errors.ts';
import { encodeBase58 } from '../../solana/base58.ts';
import type { Notification } from '../../streams/notification.ts';
import type { Session, SubscribeOutcome, Subscriber } from '../../streams/session.ts';
import { Admission } from '../admission.ts';
import type { KeyAuthenticator } from '../auth/key-authenticator.ts';
import { defaultPlanLimits, type KeyRecord, type PlanLimits } from '../auth/key-record.ts';
import { QuotaLedger } from '../limits/quota.ts';
import { CallMeter } from '../metering/call-meter.ts';
import { UsageMeter } from '../metering/usage-meter.ts';
import { LiveConnections } from '../telemetry/live-connections.ts';
import { SubmissionLog } from '../telemetry/submission-log.ts';
import { WebSocketGateway, type WebSocketGatewayOptions } from './session.ts';

const unlimited: PlanLimits = { ...defaultPlanLimits, rpcPerSecond: 0 };
const noSignal = new AbortController().signal;

class Sink implements Subscriber {
  readonly events: string[] = [];
  onNotification(_notification: Notification, isLast: boolean): void {
    this.events.push(isLast ? 'last' : 'one');
  }
  onError(failure: Failure): void {
    this.events.push(failure.code);
  }
}

/** Parameters of transactionSubscribe with this many different addresses. */
function listOf(count: number): string {
  const addresses = Array.from({ length: count }, (_, at) => {
    const bytes = Buffer.alloc(32, 1);
    bytes.writeUInt32BE(at);
    return encodeBase58(bytes);
  });
  return JSON.stringify([{ accountInclude: addresses }, { transactionDetails: 'signatures' }]);
}

describe('WebSocket session', () => {
  let keys: KeyAuthenticator;
  let usage: UsageMeter;
  let quota: QuotaLedger;
  let feed: ScriptedFeed;
  let gate: WebSocketGateway;
  let createGate: (options?: WebSocketGatewayOptions) => WebSocketGateway;
  let calls: Call[];
  let answer: () => Promise<RpcResponse>;
  let lines: string[];
  let text: string;
  let record: KeyRecord;
  let ended: string[];
  let connections: LiveConnections;
  let submissions: SubmissionLog;

  beforeEach(() => {
    ({ text, record } = createKey({ limits: unlimited }));
    keys = authenticatorOf(record);
    usage = new UsageMeter();
    quota = new QuotaLedger();
    feed = new ScriptedFeed();
    calls = [];
    ended = [];
    connections = new LiveConnections();
    submissions = new SubmissionLog();
    lines = [];
    answer = async () => ({ body: Buffer.from('"ok"'), errorCode: 0 });
    const source = dispatcherOf((call) => {
      calls.push(call);
      return answer();
    });
    const log = createLogger('trace', (line) => lines.push(line));
    createGate = (options) =>
      new WebSocketGateway(
        {
          ...{ admission: new Admission({ keys, quota }), source, log, feed },
          meter: new CallMeter({ usage, quota }),
          ...{ connections, submissions },
          rejection: quota.exceeded.bind(quota),
        },
        options,
      );
    gate = createGate();
  });

  afterEach(() => gate.close());

  const change = (part: Partial<KeyRecord>): void => {
    record = { ...record, ...part, version: record.version + 1 };
    keys.apply([record]);
  };
  const connect = (credential: string | null = text): Session =>
    gate.connect({ credential, client: unknownClient }, 'rpc', 'devnet', (failure) =>
      ended.push(failure.code),
    );
  const subscribe = (
    session: Session,
    method = 'slotSubscribe',
    params: string | null = null,
    sink = new Sink(),
  ) => session.subscribe(method, params === null ? null : Buffer.from(params), 50, sink);
  const codeOf = ({ error }: SubscribeOutcome): string | number | null => error?.code ?? null;
  const rejectionOf = (credential: string | null = text): unknown => {
    try {
      connect(credential);
      return null;
    } catch (thrown) {
      return thrown;
    }
  };

  it('limits subscriptions per key over all connections', async () => {
    gate = createGate({ subscriptionLimits: { keySubscriptionsMax: 2 } });
    const [one, other] = [connect(), connect()];
    const first = await subscribe(one);
    expect(codeOf(await subscribe(other))).toBeNull();
    const { error } = await subscribe(other);
    expect(error).toMatchObject({ code: 'SUBSCRIPTION_LIMIT', facts: { keySubscriptionsMax: 2 } });
    first.opened?.close();
    first.opened?.close();
    expect(codeOf(await subscribe(other))).toBeNull();
    expect(codeOf(await subscribe(other))).toBe('SUBSCRIPTION_LIMIT');
    other.end();
    expect(codeOf(await subscribe(one))).toBeNull();
  });

  it('limits addresses per key over all connections', async () => {
    gate = createGate({ subscriptionLimits: { keyAddressesMax: 4 } });
    const session = connect();
    const three = listOf(3);
    const held = await subscribe(session, 'transactionSubscribe', three);
    expect(codeOf(await subscribe(session))).toBeNull();
    const other = connect();
    const { error } = await subscribe(other);
    expect(error).toMatchObject({ code: 'SUBSCRIPTION_LIMIT', facts: { keyAddressesMax: 4 } });
    held.opened?.close();
    held.opened?.close();
    expect(codeOf(await subscribe(other, 'transactionSubscribe', three))).toBeNull();
    expect(codeOf(await subscribe(session))).toBe('SUBSCRIPTION_LIMIT');
    other.end();
    expect(codeOf(await subscribe(session, 'transactionSubscribe', three))).toBeNull();
  });

  it('counts each thousand addresses as a call', async () => {
    change({ limits: { ...unlimited, rpcPerSecond: 1, rpcBurst: 4 } });
    const session = connect();
    expect(codeOf(await subscribe(session, 'transactionSubscribe', listOf(2_000)))).toBeNull();
    expect(codeOf(await subscribe(session))).toBe('RATE_LIMITED');
  });

  it('counts as a connection until its socket is closed', async () => {
    change({ limits: { ...unlimited, wsConnectionsMax: 1 } });
    const session = connect();
    await subscribe(session);
    session.end();
    expect(codeOf(await subscribe(session))).toBe('CLIENT_GONE');
    expect(rejectionOf()).toMatchObject({ code: 'CONNECTION_LIMIT' });
    session.close();
    session.close();
    expect(rejectionOf()).toBeNull();
    expect(rejectionOf()).toMatchObject({ code: 'CONNECTION_LIMIT' });
  });

  it('meters each subscription with its method and price', async () => {
    const session = connect();
    await subscribe(session, 'programSubscribe', '["11111111111111111111111111111111"]');
    await subscribe(session, 'accountSubscribe', '["nonsense"]');
    expect(usage.drain()).toMatchObject([
      { keyId: record.id, method: 'programSubscribe', status: 'ok', requests: 1, bytesIn: 50, credits: 5 },
      { method: 'accountSubscribe', status: 'client', requests: 1, credits: 1 },
    ]);
  });

  it('reserves credits for concurrent subscriptions and releases those of failed ones', async () => {
    change({ limits: { ...unlimited, monthlyCredits: 1 } });
    const session = connect();
    const sinks = Array.from({ length: 100 }, () => new Sink());
    feed.gate = () => Promise.reject(new Failure('UPSTREAM_UNAVAILABLE'));
    const failed = await Promise.all(sinks.map((sink) => subscribe(session, 'slotSubscribe', null, sink)));
    expect(failed.filter((one) => codeOf(one) === 'UPSTREAM_UNAVAILABLE')).toHaveLength(1);
    feed.gate = async () => {};
    const second = await Promise.all(sinks.map((sink) => subscribe(session, 'slotSubscribe', null, sink)));
    expect(second.filter(({ opened }) => opened !== null)).toHaveLength(1);
    expect(second.filter((one) => codeOf(one) === 'QUOTA_EXCEEDED')).toHaveLength(99);
  });

  it('limits subscriptions by the plan, including pending ones', async () => {
    change({ limits: { ...unlimited, wsSubscriptionsMax: 2 } });
    const session = connect();
    const [first, , third] = await Promise.all([
      subscribe(session),
      subscribe(session, 'rootSubscribe'),
      subscribe(session),
    ]);
    expect(third?.error).toMatchObject({ code: 'SUBSCRIPTION_LIMIT', facts: { subscriptionsMax: 2 } });
    first?.opened?.close();
    expect(codeOf(await subscribe(session))).toBeNull();
    expect(codeOf(await subscribe(session))).toBe('SUBSCRIPTION_LIMIT');
  });

  it('frees a slot when a subscription ends, fails or is refused', async () => {
    change({ limits: { ...unlimited, wsSubscriptionsMax: 1 } });
    const session = connect();
    const signature = `["${'1'.repeat(64)}"]`;
    const sink = new Sink();
    (await subscribe(session, 'signatureSubscribe', signature, sink)).opened?.start();
    feed.emit('signature', '{}', true);
    (await subscribe(session, 'slotSubscribe', null, sink)).opened?.start();
    feed.openings.at(-1)?.listener.onError(new Failure('UPSTREAM_UNAVAILABLE'));
    expect(codeOf(await subscribe(session, 'slotSubscribe', '[1]'))).toBe(-32_602);
    feed.gate = () => Promise.reject(new Failure('UPSTREAM_UNAVAILABLE'));
    expect(codeOf(await subscribe(session))).toBe('UPSTREAM_UNAVAILABLE');
    feed.gate = async () => {};
    expect(codeOf(await subscribe(session))).toBeNull();
    expect(sink.events).toEqual(['last', 'UPSTREAM_UNAVAILABLE']);
  });

  it('ends when its key is revoked', async () => {
    const session = connect();
    change({ status: 'revoked' });
    expect(ended).toEqual(['INVALID_KEY']);
    expect(codeOf(await subscribe(session))).toBe('INVALID_KEY');
    expect((await session.call('getSlot', null, 10, 1, noSignal)).failure?.code).toBe('INVALID_KEY');
    expect([calls, feed.openings]).toEqual([[], []]);
  });

  it('ends its subscriptions on close, including pending ones', async () => {
    const session = connect();
    const sink = new Sink();
    (await subscribe(session, 'slotSubscribe', null, sink)).opened?.start();
    const opening = Promise.withResolvers<void>();
    feed.gate = () => opening.promise;
    const late = subscribe(session, 'rootSubscribe', null, sink);
    session.close();
    opening.resolve();
    expect(codeOf(await late)).toBe('CLIENT_GONE');
    feed.emit('slot', '1');
    feed.emit('root', '1');
    expect(sink.events).toEqual([]);
    change({ status: 'revoked' });
    expect(ended).toEqual([]);
  });

  it('applies a changed plan of its key', async () => {
    const session = connect();
    const limits = { ...unlimited, monthlyCredits: 1_000, streamCredits: 2, wsSubscriptionsMax: 0 };
    change({ planId: 'other', limits });
    session.recordSent(1, 300_000);
    expect(usage.drain()).toMatchObject([{ method: 'notifications', credits: 6 }]);
    expect(quota.accounts()).toMatchObject([{ planId: 'other', limit: 1_000, local: 6 }]);
    expect(session.limits.subscriptionsMax).toBe(0);
    expect(codeOf(await subscribe(session))).toBe('SUBSCRIPTION_LIMIT');
    usage.drain();
    change({ status: 'revoked' });
    session.recordSent(1, 100_000);
    expect(usage.drain()).toMatchObject([{ messages: 2, bytesOut: 400_000 }]);
  });
});
