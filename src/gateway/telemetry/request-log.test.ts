import { describe, expect, it } from 'vitest';
import { clientInfoFor, internalKey } from '../../../test/project/callers.ts';
import { Failure } from '../../protocol/errors.ts';
import type { TraceLink } from '../../protocol/request-trace.ts';
import { InvalidFields } from '../../protocol/rest/invalid-fields.ts';
import { NodeRejection } from '../../protocol/rest/node-rejection.ts';
import { encodeBase58 } from '../../solana/base58.ts';
import type { KeyId, KeyRecord } from '../auth/key-record.ts';
import { RequestContext } from '../metering/call-meter.ts';
import {
  type ObservedRequest,
  type RequestEntry,
  RequestLog,
  type RequestLogOptions,
  readTraceparent,
  TraceSampler,
} from './request-log.ts';
import type { RequestResult } from './request-result.ts';

const key = { ...internalKey, id: '7hQ2mKpZ' as KeyId, product: 'rpc', logsBodies: false } as KeyRecord;
const client = clientInfoFor('192.0.2.7', 'https://app.example');

const good: RequestResult = {
  wire: 'rpc',
  product: 'rpc',
  network: 'devnet',
  method: 'getBalance',
  status: 'ok',
  failure: null,
  rpcCode: 0,
  bytesIn: 10,
  bytesOut: 20,
  params: Buffer.from('["address"]'),
  result: Buffer.from('{"value":1}'),
};
const limited: RequestResult = {
  ...good,
  status: 'limited',
  failure: new Failure('RATE_LIMITED'),
  result: null,
};

function contextOf(
  log: RequestLog,
  startedAt = performance.now(),
  record: KeyRecord | null = key,
): ObservedRequest {
  const context = new RequestContext(client);
  return { ...context, client, startedAt, key: record, trace: log.start(startedAt) };
}

const never: Partial<RequestLogOptions> = { perSecond: 0, sampleRatio: 0 };

describe('request sampling', () => {
  it('samples perSecond requests, then a share', () => {
    const log = new RequestLog({ perSecond: 3, sampleRatio: 0 });
    const begin = (at: number) => log.start(at) !== null;
    expect([1_000, 1_100, 1_200, 1_300, 1_999].map(begin)).toEqual([true, true, true, false, false]);
    expect([2_000, 2_001].map(begin)).toEqual([true, true]);
    const all = new RequestLog({ perSecond: 0, sampleRatio: 1 });
    expect(all.start(5)).not.toBeNull();
  });

  it('stores failed and slow requests too, up to unsampledMax per second, and failed ones with steps', () => {
    const log = new RequestLog({ ...never, unsampledMax: 3, slowMs: 50 });
    const end = (ended: RequestResult, ms: number) => log.end(contextOf(log, 1_000), ended, 1_000 + ms);
    end(good, 49);
    end(limited, 1);
    end(good, 50);
    end({ ...good, status: 'rpcError', rpcCode: -32602 }, 1);
    end(limited, 1);
    expect(log.drain().map(({ status, micros, steps }) => [status, micros, steps.length])).toEqual([
      ['limited', 1_000, 1],
      ['ok', 50_000, 0],
      ['rpcError', 1_000, 1],
    ]);
  });

  it('drops and counts the oldest entries beyond entriesMax', () => {
    const log = new RequestLog({ perSecond: 100, entriesMax: 2 });
    for (const method of ['a', 'b', 'c']) log.end(contextOf(log, 1_000), { ...good, method }, 1_001);
    expect(log.drain().map(({ method }) => method)).toEqual(['b', 'c']);
    expect([log.dropped, log.waiting]).toEqual([1, 0]);
  });
});

describe('log entry', () => {
  const entryOf = (
    ended: RequestResult,
    record: KeyRecord | null = key,
    more: Partial<ObservedRequest> = {},
  ): RequestEntry => {
    const log = new RequestLog({ perSecond: 1 });
    const now = performance.now();
    log.end({ ...contextOf(log, now, record), ...more }, ended, now + 5);
    return log.drain()[0]!;
  };

  it('names the inactive key of a rejected request, and says what it is', () => {
    const entry = entryOf(limited, null, { inactiveKey: { ...key, status: 'revoked' } });
    expect([entry.keyId, entry.customerId]).toEqual(['7hQ2mKpZ', 'house']);
    expect(entry.message).toBe('The API key is revoked');
    expect(entryOf(limited, null, { inactiveKey: { ...key, expiresAt: 1 } }).message).toBe(
      'The API key has expired',
    );
  });

  it('names no revoked key more than once a second, so that it cannot displace the log of its customer', () => {
    const log = new RequestLog({ perSecond: 10 });
    const now = 1_000_000;
    for (const ms of [0, 1, 1_000])
      log.end({ ...contextOf(log, now + ms, null), inactiveKey: key }, limited, now + ms + 5);
    expect(log.drain().map(({ keyId }) => keyId)).toEqual(['7hQ2mKpZ', null, '7hQ2mKpZ']);
  });

  it('holds key, method, client and result', () => {
    expect(entryOf(good)).toEqual({
      at: expect.any(Number),
      customerId: 'house',
      keyId: '7hQ2mKpZ',
      product: 'rpc',
      network: 'devnet',
      method: 'getBalance',
      status: 'ok',
      http: 200,
      rpcCode: 0,
      failure: null,
      message: null,
      signature: null,
      micros: 5_000,
      bytesIn: 10,
      bytesOut: 20,
      node: null,
      address: '192.0.2.7',
      origin: 'https://app.example',
      steps: [{ name: 'authenticate', node: null, startMs: 0, endMs: 5, outcome: 'ok' }],
      params: null,
      result: null,
    });
  });

  it('has the status codes of its transport', () => {
    const codes = (wire: RequestResult['wire']) => {
      const { http, rpcCode, failure } = entryOf({ ...limited, wire });
      return [http, rpcCode, failure];
    };
    expect(codes('rpc')).toEqual([429, new Failure('RATE_LIMITED').row.rpc, 'RATE_LIMITED']);
    expect(codes('socket')).toEqual([0, new Failure('RATE_LIMITED').row.rpc, 'RATE_LIMITED']);
    expect(codes('rest')).toEqual([429, 0, 'RATE_LIMITED']);
    expect(codes('grpc')).toEqual([0, 0, 'RATE_LIMITED']);
  });

  it('has bodies only for keys that allow it', () => {
    expect(entryOf(good, { ...key, logsBodies: true })).toMatchObject({
      params: '["address"]',
      result: '{"value":1}',
    });
    expect(entryOf(good, null)).toMatchObject({ keyId: null, customerId: null, params: null, result: null });
  });

  it('truncates and redacts an unknown method', () => {
    const method = `svc_rpc_live_${'7'.repeat(46)}\0${'x'.repeat(99)}`;
    expect(entryOf({ ...good, method }).method).toMatch(/^svc_rpc_live_\[redacted\] x*$/);
  });
});

describe('the entry of a failed request', () => {
  const at = (node: string, startedAt: number, outcome: string) => ({
    ...{ node, startedAt, outcome },
    endedAt: startedAt + 1,
  });
  const entryOf = (ended: Partial<RequestResult>, options: Partial<RequestLogOptions> = never) => {
    const log = new RequestLog(options);
    const context = { ...contextOf(log, 10), authenticatedAt: 10, limitedAt: 11 };
    log.end(context, { ...good, status: 'rpcError', ...ended }, 20);
    return log.drain()[0]!;
  };
  const nodeError = (error: object): Partial<RequestResult> => ({
    rpcCode: -32_007,
    result: Buffer.from(JSON.stringify({ code: -32_007, ...error })),
  });

  it.each([never, { perSecond: 1 }])('has all attempts and the node of the error (%o)', (options) => {
    const attempts = [
      at('a', 11, 'connection lost'),
      at('b', 13, 'JSON-RPC error -32007'),
      at('c', 15, 'JSON-RPC error -32007'),
    ];
    const { node, steps } = entryOf(
      { ...nodeError({ message: 'Slot skipped' }), detail: { attempts } },
      options,
    );
    expect(node).toBe('b');
    expect(steps.slice(2).map((step) => [step.node, step.startMs, step.endMs, step.outcome])).toEqual([
      ['a', 1, 2, 'connection lost'],
      ['b', 3, 4, 'JSON-RPC error -32007'],
      ['c', 5, 6, 'JSON-RPC error -32007'],
    ]);
    const timeout = new Failure('UPSTREAM_TIMEOUT', { attempts: attempts.slice(0, 1) });
    const failed = entryOf({ status: 'upstream', failure: timeout, result: null }, options);
    expect([failed.node, failed.steps.at(-1)?.outcome]).toEqual(['a', 'connection lost']);
  });

  it("has the node's message, bounded, without secrets and control characters", () => {
    const messageOf = (message: unknown) => entryOf(nodeError({ message, data: { logs: ['x'] } })).message;
    expect(messageOf('Slot 5 was skipped')).toBe('Slot 5 was skipped');
    expect(messageOf('a\u0000b\u001b[31m https://user:pass@node.example/?api-key=hunter2')).toBe(
      'a b [31m https://[redacted]@node.example/?api-key=[redacted]',
    );
    expect(messageOf(`${'x'.repeat(485)} https://user:pass@node.example`)).not.toContain('user');
    expect(messageOf(`${'x'.repeat(499)}\ud83d\ude00 more`)).toBe(`${'x'.repeat(499)}\ufffd`);
    expect([messageOf(7), messageOf(undefined), messageOf('')]).toEqual([null, null, null]);
    expect(entryOf({ rpcCode: 5, result: Buffer.from('"no object"') }).message).toBeNull();
  });

  it('has the text that the client received, and never the message of the cause', () => {
    const failure = new Failure('METHOD_FORBIDDEN', {
      facts: { method: 'getBlock' },
      cause: new Error('s3cret'),
    });
    const textOf = (wire: RequestResult['wire'], thrown: Failure) =>
      entryOf({ wire, status: 'client', failure: thrown, result: null }).message;
    expect(textOf('rpc', failure)).toBe('This API key may not be used for getBlock');
    expect(textOf('rpc', new Failure('INTERNAL', { cause: new Error('s3cret') }))).toBe('Internal error');
    expect(textOf('grpc', new Failure('RATE_LIMITED'))).toMatch(/given in retry-after$/);
    const fields = new InvalidFields([{ field: 'wallet', message: 'is not an address' }]);
    expect(textOf('rest', fields)).toBe('wallet is not an address');
    const rejection = new NodeRejection({ code: -32_002, message: 'Blockhash not found' });
    expect(textOf('rest', rejection)).toBe('Blockhash not found');
  });

  it('has the signature of the transaction', () => {
    const signature = encodeBase58(Buffer.alloc(64, 7));
    const wire = Buffer.concat([Buffer.of(1), Buffer.alloc(64, 7), Buffer.alloc(9)]).toString('base64');
    const signatureOf = (method: string, params: unknown) =>
      entryOf({ method, params: Buffer.from(JSON.stringify(params)) }).signature;
    expect(signatureOf('sendTransaction', [wire, { encoding: 'base64' }])).toBe(signature);
    expect(signatureOf('getTransaction', [signature, {}])).toBe(signature);
    expect(signatureOf('getBalance', [signature])).toBeNull();
    expect(signatureOf('getTransaction', [null])).toBeNull();
  });
});

describe('request steps', () => {
  const stepsOf = (
    context: Partial<ObservedRequest>,
    failure: string | null,
    work: (log: ObservedRequest) => void = () => {},
  ) => {
    const log = new RequestLog({ perSecond: 1, stepsMax: 2 });
    const begun = { ...contextOf(log, 0), ...context };
    work(begun);
    const ended = failure === null ? good : { ...limited, failure: new Failure(failure as 'INVALID_KEY') };
    log.end(begun, ended, 9);
    return log
      .drain()[0]!
      .steps.map(({ name, node, startMs, endMs, outcome }) =>
        [name, node, startMs, endMs, outcome].join(' '),
      );
  };

  it('end at the rejection', () => {
    expect(stepsOf({ key: null }, 'INVALID_KEY')).toEqual(['authenticate  0 9 INVALID_KEY']);
    expect(stepsOf({ authenticatedAt: 2 }, 'RATE_LIMITED')).toEqual([
      'authenticate  0 2 ok',
      'limit  2 9 RATE_LIMITED',
    ]);
  });

  it('include each attempt, up to stepsMax', () => {
    const attempt = (node: string, startedAt: number, outcome: string) => ({
      ...{ node, startedAt, outcome },
      endedAt: startedAt + 1.2345,
    });
    const steps = stepsOf({ authenticatedAt: 1, limitedAt: 2 }, null, ({ trace }) => {
      trace!.onAttempt(attempt('a', 3, 'connection lost'));
      trace!.onAttempt(attempt('b', 5, 'ok'));
      trace!.onAttempt(attempt('c', 7, 'ok'));
    });
    expect(steps).toEqual([
      'authenticate  0 1 ok',
      'limit  1 2 ok',
      'upstream a 3 4.235 connection lost',
      'upstream b 5 6.235 ok',
    ]);
  });
});

it('spans are emitted for their own share of requests', () => {
  const spans: [RequestEntry, TraceLink][] = [];
  const sink = { add: (entry: RequestEntry, link: TraceLink) => void spans.push([entry, link]) };
  const log = new RequestLog(never, { sampler: new TraceSampler(1), sink });
  log.end(contextOf(log), good, performance.now());
  expect(spans).toHaveLength(1);
  expect(spans[0]![1]).toEqual({ traceId: expect.stringMatching(/^[0-9a-f]{32}$/), parentId: null });
  expect(log.drain()).toEqual([]);
});

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

describe('traceparent', () => {
  it('holds trace id, parent id and sampled flag', () => {
    const read = { traceId: TRACE, parentId: PARENT };
    expect(readTraceparent(`00-${TRACE}-${PARENT}-01`)).toEqual({ ...read, sampled: true });
    expect(readTraceparent(`00-${TRACE}-${PARENT}-02`)).toEqual({ ...read, sampled: false });
  });

  it.each([
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE}-${PARENT}-01-more`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `cc-${TRACE}-${PARENT}-01-${'x'.repeat(300)}`,
  ])('is invalid: %j', (header) => {
    expect(readTraceparent(header)).toBeNull();
  });
});

describe('trace sampler', () => {
  const link = (share: number, header: string | null) => new TraceSampler(share).linkOf(header);

  it('starts a trace if there is no valid one', () => {
    for (const header of [null, 'nonsense']) {
      expect(link(1, header)).toEqual({ traceId: expect.stringMatching(/^[0-9a-f]{32}$/), parentId: null });
      expect(link(0, header)).toBeNull();
    }
  });

  it('samples traces of clients by their ids', () => {
    const chosen = (share: number, end: string) =>
      link(share, `00-${TRACE.slice(0, 20)}${end}-${PARENT}-01`) !== null;
    expect([chosen(0.5, '7fffffffffff'), chosen(0.5, '800000000000'), chosen(0, '000000000000')]).toEqual([
      ...[true, false, false],
    ]);
  });
});
