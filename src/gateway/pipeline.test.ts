import { beforeEach, describe, expect, it } from 'vitest';
import { authenticatorOf, createKey } from '../../test/gateway/keys.ts';
import { dispatcherOf } from '../../test/upstream/mock/dispatcher.ts';
import { createLogger } from '../base/log.ts';
import type { Call, RpcDispatcher, RpcResponse } from '../protocol/call.ts';
import { unknownClient } from '../protocol/client-info.ts';
import { Failure } from '../protocol/errors.ts';
import { MinSlot } from '../protocol/min-slot.ts';
import {
  type Outcome,
  outcomeOf,
  type RequestHandler,
  type RpcRequest,
} from '../protocol/request-handler.ts';
import type { ResponseReader, StreamedResponse } from '../protocol/streamed-response.ts';
import { Admission } from './admission.ts';
import { generateApiKey } from './auth/api-key.ts';
import type { KeyAuthenticator } from './auth/key-authenticator.ts';
import { defaultPlanLimits, type KeyRecord } from './auth/key-record.ts';
import { CallMeter } from './metering/call-meter.ts';
import { LastUsedTracker } from './metering/last-used.ts';
import { UsageMeter } from './metering/usage-meter.ts';
import { createPipeline } from './pipeline.ts';
import { SessionMinSlots } from './session-min-slots.ts';
import { RequestLog } from './telemetry/request-log.ts';
import { UnknownMethods } from './telemetry/unknown-methods.ts';

const ok: RpcResponse = { body: Buffer.from('"ok"'), errorCode: 0 };

describe('pipeline', () => {
  const lines: string[] = [];
  let keys: KeyAuthenticator;
  let usage: UsageMeter;
  let unknownMethods: UnknownMethods;
  let forwarded: { call: Call; signal: AbortSignal | undefined }[];
  let respond: (call: Call) => Promise<RpcResponse>;
  let handler: RequestHandler;
  let text: string;
  let record: KeyRecord;

  beforeEach(() => {
    lines.length = 0;
    forwarded = [];
    respond = async () => ok;
    const source = dispatcherOf((call, signal) => {
      forwarded.push({ call, signal });
      return respond(call);
    });
    ({ text, record } = createKey({ limits: { ...defaultPlanLimits, rpcPerSecond: 0.001, rpcBurst: 2 } }));
    keys = authenticatorOf(record);
    usage = new UsageMeter();
    unknownMethods = new UnknownMethods();
    const log = createLogger('trace', (line) => lines.push(line));
    handler = createPipeline({
      admission: new Admission({ keys }),
      source,
      meter: new CallMeter({ usage, unknownMethods }),
      sessions: new SessionMinSlots(),
      log,
    });
  });

  const serve = (request: RpcRequest, signal?: AbortSignal): Promise<Outcome> =>
    outcomeOf((responder) => handler.dispatch(request, responder), signal);

  const request = (change: Partial<RpcRequest> = {}): RpcRequest => ({
    credential: text,
    client: unknownClient,
    product: 'rpc',
    network: 'devnet',
    method: 'getBlock',
    params: Buffer.from('[18446744073709551615]'),
    bytesIn: 77,
    idBytes: 1,
    ...change,
  });

  it('forwards a call with its method row and unchanged params', async () => {
    const sent = request();
    const outcome = await serve(sent);
    expect(outcome).toEqual({
      response: ok,
      failure: null,
      rateLimit: { limit: 2, remaining: 1, windowSeconds: 2_000, resetSeconds: expect.any(Number) },
      quota: null,
    });
    expect(forwarded[0]?.call).toMatchObject({
      network: 'devnet',
      method: 'getBlock',
      row: { kind: 'pinned' },
    });
    expect(forwarded[0]?.call.params).toBe(sent.params);
    expect(lines).toEqual([]);
  });

  it('meters a response with its credits', async () => {
    await serve(request());
    expect(usage.drain()).toMatchObject([
      {
        keyId: record.id,
        product: 'rpc',
        method: 'getBlock',
        status: 'ok',
        requests: 1,
        bytesIn: 77,
        bytesOut: '{"jsonrpc":"2.0","result":"ok","id":1}'.length,
        credits: 5,
      },
    ]);
  });

  it('meters the bytes sent of a streamed response, with the envelope', async () => {
    const bytesOut = (end: (reader: ResponseReader) => void): number => {
      const response: StreamedResponse = {
        bytes: 4,
        pipeTo: (reader) => {
          reader.onData(Buffer.from('"o'));
          end(reader);
        },
        ...{ pause: () => {}, resume: () => {}, cancel: () => {} },
      };
      const source: RpcDispatcher = {
        dispatch: (_, responseHandler) => {
          responseHandler.stream?.onStream(response);
          return { cancel: () => {} };
        },
      };
      const meter = new CallMeter({ usage });
      const log = createLogger('silent', () => {});
      const streaming = createPipeline({ admission: new Admission({ keys }), source, meter, log });
      const respondStream = (response: StreamedResponse) => {
        response.pipeTo({ onData: () => {}, onEnd: () => {}, onError: () => {} });
        response.cancel();
        response.cancel();
      };
      streaming.dispatch(request(), { respond: () => {}, stream: { respondStream } });
      return usage.drain().reduce((sum, { bytesOut }) => sum + bytesOut, 0);
    };
    expect(bytesOut((reader) => reader.onEnd(Buffer.from('k"')))).toBe(
      '{"jsonrpc":"2.0","result":"ok","id":1}'.length,
    );
    const cut = '{"jsonrpc":"2.0","result":"o'.length;
    expect(bytesOut((reader) => reader.onError(new Failure('UPSTREAM_TIMEOUT')))).toBe(cut);
    expect(bytesOut(() => {})).toBe(cut);
  });

  it('meters an error of the node as a response', async () => {
    respond = async () => ({ body: Buffer.from('{}'), errorCode: -32_009 });
    expect((await serve(request())).failure).toBeNull();
    expect(usage.drain()).toMatchObject([{ status: 'rpcError', credits: 5 }]);
    respond = async () => ({ body: Buffer.from('{}'), errorCode: -32_016, attempts: [] });
    await serve(request());
    expect(usage.drain()).toMatchObject([{ status: 'upstream', credits: 5 }]);
  });

  it('meters an unknown method as an error of the client, without credits', async () => {
    const statusOf = async (method: string, errorCode: number): Promise<unknown[]> => {
      respond = async () => ({ body: Buffer.from('{}'), errorCode });
      await serve(request({ method }));
      return usage.drain().map(({ status, credits }) => [status, credits]);
    };
    expect(await statusOf('getNothing', -32_601)).toEqual([['client', 0]]);
    expect(unknownMethods.unstored()).toMatchObject([
      { customerId: record.customerId, method: 'getNothing' },
    ]);
    // A node lacks a method of the table.
    expect(await statusOf('getBlock', -32_601)).toEqual([['rpcError', 5]]);
  });

  it('refuses an invalid key and meters it without a key', async () => {
    const { failure } = await serve(request({ credential: generateApiKey('rpc').text }));
    expect(failure?.code).toBe('INVALID_KEY');
    expect(forwarded).toEqual([]);
    expect(usage.drain()).toMatchObject([{ keyId: null, status: 'client', requests: 1, credits: 0 }]);
  });

  it('meters a revoked key for its customer, and responds as to an unknown key', async () => {
    keys.apply([{ ...record, status: 'revoked', version: 2 }]);
    const unknown = await serve(request({ credential: generateApiKey('rpc').text }));
    usage.drain();
    expect(await serve(request())).toEqual(unknown);
    expect(usage.drain()).toMatchObject([{ keyId: record.id, status: 'client', requests: 1, credits: 0 }]);
  });

  it('admits a key before the body is read, and meters only rejections', async () => {
    const admit = (credential: string | null, product: 'rpc' | 'grpc') =>
      handler.admit({ credential, client: unknownClient }, product, 'devnet');
    expect(admit(text, 'rpc')).not.toBeInstanceOf(Failure);
    expect(usage.drain()).toEqual([]);
    expect(admit(null, 'rpc')).toMatchObject({ code: 'MISSING_KEY' });
    expect(admit(text, 'grpc')).toMatchObject({ code: 'UNAUTHORIZED_PRODUCT' });
    const refused = { method: 'other', status: 'client', requests: 1, bytesIn: 0, credits: 0 };
    expect(usage.drain()).toMatchObject([
      { ...refused, keyId: null },
      { ...refused, keyId: record.id },
    ]);
    expect(forwarded).toEqual([]);
  });

  it('refuses calls above the rate with a retry time and no charge', async () => {
    await serve(request());
    await serve(request());
    const { failure, rateLimit } = await serve(request());
    expect(failure).toMatchObject({ code: 'RATE_LIMITED', facts: { limit: 2, remaining: 0 } });
    expect(failure?.retryAfter).toBeGreaterThan(900);
    expect(rateLimit?.remaining).toBe(0);
    expect(forwarded).toHaveLength(2);
    expect(usage.drain().find(({ status }) => status === 'limited')).toMatchObject({
      requests: 1,
      credits: 0,
    });
  });

  it('turns other errors into INTERNAL, with the cause in the log only', async () => {
    respond = () => Promise.reject(new Error(`broke with ${text}`));
    const { failure } = await serve(request());
    expect(failure).toMatchObject({ code: 'INTERNAL', message: 'Internal error', facts: undefined });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('broke with svc_rpc_live_[redacted]');
    expect(lines[0]).not.toContain(text);
    expect(usage.drain()).toMatchObject([{ status: 'gateway' }]);
  });

  it('cancels the call at the source when the client disconnects', async () => {
    const client = new AbortController();
    respond = () => new Promise<RpcResponse>(() => {});
    void serve(request(), client.signal);
    expect(forwarded.map((one) => one.signal?.aborted)).toEqual([false]);
    client.abort();
    expect(forwarded.map((one) => one.signal?.aborted)).toEqual([true]);
  });

  it('executes an unknown method at the default price', async () => {
    await serve(request({ method: 'getAsset' }));
    expect(forwarded[0]?.call).toMatchObject({ method: 'getAsset', row: { kind: 'unknown' } });
    expect(usage.drain()).toMatchObject([{ method: 'other', credits: 1 }]);
  });

  it('shares one minimum slot between the calls of a session', async () => {
    await serve(request({ session: 'order book' }));
    await serve(request({ session: 'order book' }));
    expect(forwarded[0]!.call.minSlot).toBeInstanceOf(MinSlot);
    expect(forwarded[1]!.call.minSlot).toBe(forwarded[0]!.call.minSlot);
  });
});

it('records an invalid request in usage, request log and last use, at no credits', () => {
  const [usage, lastUsed, requestLog] = [new UsageMeter(), new LastUsedTracker(), new RequestLog()];
  // The plan's price of `other` is for unknown methods, not for invalid requests.
  const limits = { ...defaultPlanLimits, prices: { other: 9 } };
  const { text, record } = createKey({ limits });
  const pipeline = createPipeline({
    admission: new Admission({ keys: authenticatorOf(record) }),
    source: dispatcherOf(() => Promise.reject(new Error('unexpected request'))),
    meter: new CallMeter({ usage, lastUsed, requestLog }),
    log: createLogger('silent', () => {}),
  });
  const client = { ...unknownClient, address: '192.0.2.1' };
  const from = { credential: text, client, product: 'rpc', network: 'devnet' } as const;
  const fault = new Failure('PARSE_ERROR');
  expect(pipeline.recordInvalidRequest({ ...from, fault, bytesIn: 4, idBytes: 4 }).failure).toBe(fault);
  expect(usage.drain()).toMatchObject([
    { keyId: record.id, method: 'other', status: 'client', requests: 1, bytesIn: 4, credits: 0 },
  ]);
  expect(lastUsed.unsaved(Date.now())).toMatchObject([{ keyId: record.id, from: '192.0.2.1' }]);
  expect(requestLog.drain()).toMatchObject([
    {
      ...{ keyId: record.id, method: 'other', status: 'client', failure: 'PARSE_ERROR', http: 200 },
      rpcCode: -32700,
    },
  ]);
});
