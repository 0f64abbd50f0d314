import { beforeEach, describe, expect, it } from 'vitest';
import { authenticatorOf, createKey } from '../../../test/gateway/keys.ts';
import { dispatcherOf } from '../../../test/upstream/mock/dispatcher.ts';
import { createLogger } from '../../base/log.ts';
import { unknownClient } from '../../protocol/client-info.ts';
import type { RestCaller, RestOutcome } from '../../protocol/rest/route.ts';
import { Admission } from '../admission.ts';
import { defaultPlanLimits, type PlanLimits } from '../auth/key-record.ts';
import { QuotaLedger } from '../limits/quota.ts';
import { CallMeter } from '../metering/call-meter.ts';
import { UsageMeter } from '../metering/usage-meter.ts';
import type { RequestLog } from '../telemetry/request-log.ts';
import type { RequestResult } from '../telemetry/request-result.ts';
import { RestGateway } from './rest-gateway.ts';

describe('the quota of REST requests', () => {
  let respond: () => void;
  let isCached: boolean;
  let isResent: boolean;
  const body = Buffer.from('{}');
  let serve: (
    work: (caller: RestCaller) => Promise<unknown>,
    limits: Partial<PlanLimits>,
  ) => Promise<RestOutcome>;

  beforeEach(() => {
    const keys = authenticatorOf();
    const quota = new QuotaLedger();
    const usage = new UsageMeter();
    const answered = Promise.withResolvers<void>();
    respond = answered.resolve;
    isCached = isResent = false;
    const source = dispatcherOf(async (made) => {
      await answered.promise;
      if (isCached) made.trace?.onServedFrom?.('cache', 0);
      if (isResent) made.trace?.onAttempt({ node: 'n', startedAt: 0, endedAt: 0, outcome: 'ok' });
      return { body, errorCode: 0 };
    });
    const { text, record } = createKey();
    const gate = new RestGateway({
      ...{ admission: new Admission({ keys, quota }), source, meter: new CallMeter({ usage, quota }) },
      log: createLogger('fatal', () => {}),
    });
    serve = (work, limits) => {
      keys.apply([{ ...record, limits: { ...defaultPlanLimits, ...limits } }]);
      const route = { name: 'wallet/balance', group: 'wallet', bodyType: 'json' } as const;
      const request = { route, credential: text, client: unknownClient, traceparent: null, bytesIn: () => 0 };
      const done = async (caller: RestCaller) => {
        await work(caller);
        return Buffer.from('{}');
      };
      return gate.serve({ ...request, execute: done }, new AbortController().signal);
    };
  });

  const call = (caller: RestCaller) => caller.request('devnet', 'getBalance', []);
  const okOf = (outcomes: readonly RestOutcome[]): number =>
    outcomes.filter(({ failure }) => failure === null).length;

  it('reserves the credits of all calls of a request in flight', async () => {
    const five = (caller: RestCaller) => Promise.all(Array.from({ length: 5 }, () => call(caller)));
    const first = serve(five, { monthlyCredits: 5 });
    // After this turn of the event loop, all calls of the request have started.
    await new Promise(setImmediate);
    expect((await serve(call, {})).failure?.code).toBe('QUOTA_EXCEEDED');
    respond();
    expect((await first).failure).toBeNull();
  });

  it('reserves the price of an endpoint, and releases credits that were not charged', async () => {
    const limits = { monthlyCredits: 10, prices: { 'wallet/balance': 4 } };
    const failing = Array.from({ length: 100 }, () => serve(() => Promise.reject(new Error('lost')), limits));
    expect((await Promise.all(failing)).filter(({ failure }) => failure?.code === 'INTERNAL')).toHaveLength(
      3,
    );
    const outcomes = Array.from({ length: 100 }, () => serve(call, limits));
    respond();
    expect(okOf(await Promise.all(outcomes))).toBe(3);
  });

  it('counts and charges calls that reach a node only', async () => {
    respond();
    const limits = { monthlyCredits: 2 };
    const callsOf = async () => {
      const { failure, calls } = await serve(call, limits);
      return failure?.code ?? calls;
    };
    expect(await callsOf()).toBe(1);
    isCached = true;
    for (let n = 0; n < 5; n++) expect(await callsOf()).toBe(0);
    // A session had already read a newer slot, so the call is sent to a node after all.
    isResent = true;
    expect([await callsOf(), await callsOf()]).toEqual([1, 'QUOTA_EXCEEDED']);
  });

  it('parses the response bytes of a transaction once', async () => {
    respond();
    const parsed: unknown[] = [];
    const read = async (caller: RestCaller) =>
      parsed.push(await caller.request('devnet', 'getTransaction', ['s']));
    await serve(read, {});
    await serve(read, {});
    expect(parsed[1]).toBe(parsed[0]);
  });
});

it.each([
  [true, null],
  [false, '{"secretKey":"5J"}'],
])('a response with secrets (%s) is logged as %j', async (holdsSecrets, logged) => {
  const results: (string | null)[] = [];
  const requestLog = {
    start: () => null,
    end: (_context: unknown, { result }: RequestResult) =>
      void results.push(result === null ? null : Buffer.from(result).toString()),
  } as unknown as RequestLog;
  const keys = authenticatorOf();
  const { text, record } = createKey();
  keys.apply([record]);
  const gateway = new RestGateway({
    admission: new Admission({ keys }),
    source: dispatcherOf(() => Promise.reject(new Error('no upstream call is expected'))),
    meter: new CallMeter({ usage: new UsageMeter(), requestLog }),
    log: createLogger('fatal', () => {}),
  });
  const route = { name: 'semi_wallet/get_keypair', group: 'wallet', bodyType: 'json', holdsSecrets } as const;
  const request = { route, credential: text, client: unknownClient, traceparent: null, bytesIn: () => 0 };
  const execute = async () => Buffer.from('{"secretKey":"5J"}');
  await gateway.serve({ ...request, execute }, new AbortController().signal);
  expect(results).toEqual([logged]);
});
