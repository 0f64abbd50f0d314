import { beforeEach, describe, expect, it } from 'vitest';
import { stage } from '../../test/upstream/mock/pool.ts';
import { createLogger } from '../base/log.ts';
import type { Call, RpcClient, RpcDispatcher, RpcResponse } from '../protocol/call.ts';
import { unknownClient } from '../protocol/client-info.ts';
import { Failure } from '../protocol/errors.ts';
import { MinSlot } from '../protocol/min-slot.ts';
import type { RequestHandler, RpcRequest, ServeFunction } from '../protocol/request-handler.ts';
import type { StreamedResponse } from '../protocol/streamed-response.ts';
import { Admission } from './admission.ts';
import { digestApiKey, generateApiKey } from './auth/api-key.ts';
import { KeyDirectory } from './auth/key-directory.ts';
import { defaultPlanLimits, internalKey, type KeyRecord } from './auth/key-record.ts';
import { CallMeter } from './metering/call-meter.ts';
import { UsageMeter } from './metering/usage-meter.ts';
import { createPipeline } from './pipeline.ts';
import { SessionMinSlots } from './session-min-slots.ts';

const pepper = Buffer.alloc(32, 1);
const ok: RpcResponse = { body: Buffer.from('"ok"'), errorCode: 0 };

describe('the way of a request', () => {
  const lines: string[] = [];
  let keys: KeyDirectory;
  let usage: UsageMeter;
  let asked: { call: Call; signal: AbortSignal | undefined }[];
  let answer: (call: Call) => Promise<RpcResponse>;
  let serve: ServeFunction;
  let admit: RequestHandler['admit'];
  let text: string;
  let record: KeyRecord;

  beforeEach(() => {
    lines.length = 0;
    asked = [];
    answer = async () => ok;
    const source: RpcClient = {
      request: (call, signal) => {
        asked.push({ call, signal });
        return answer(call);
      },
    };
    keys = new KeyDirectory({ peppers: new Map([[1, pepper]]) });
    keys.setStoreReachable(true);
    const key = generateApiKey('rpc');
    text = key.text;
    record = {
      id: key.id,
      product: 'rpc',
      ...internalKey,
      familyId: 'f1',
      name: 'test',
      digest: digestApiKey(text, pepper),
      pepperVersion: 1,
      status: 'active',
      expiresAt: null,
      limits: { ...defaultPlanLimits, rpcPerSecond: 0.001, rpcBurst: 2 },
      version: 1,
    };
    keys.apply([record]);
    usage = new UsageMeter();
    const log = createLogger('trace', (line) => lines.push(line));
    ({ serve, admit } = createPipeline({
      admission: new Admission({ keys }),
      source,
      meter: new CallMeter({ usage }),
      sessions: new SessionMinSlots(),
      log,
    }));
  });

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

  it('leads to the source with the row of the method and the params untouched', async () => {
    const sent = request();
    const outcome = await serve(sent);
    expect(outcome).toEqual({
      response: ok,
      failure: null,
      rateLimit: { limit: 2, remaining: 1, windowSeconds: 2_000, resetSeconds: expect.any(Number) },
      quota: null,
    });
    expect(asked[0]?.call).toMatchObject({
      network: 'devnet',
      method: 'getBlock',
      row: { kind: 'pinned' },
    });
    expect(asked[0]?.call.params).toBe(sent.params);
    expect(lines).toEqual([]);
  });

  it('never tells the source who asks', async () => {
    await serve(request());
    expect(Object.keys(asked[0]?.call ?? {}).sort()).toEqual(['method', 'network', 'params', 'row', 'trace']);
  });

  it('meters what was answered, with its credits', async () => {
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

  it('meters what was written of a long answer, with what stands around it once it is whole', async () => {
    const put = (ends: boolean): number => {
      const long: StreamedResponse = {
        bytes: 4,
        pipeTo: (reader) => {
          reader.onData(Buffer.from('"o'));
          if (ends) reader.onEnd(Buffer.from('k"'));
          else reader.onError(new Failure('UPSTREAM_TIMEOUT'));
        },
        ...{ pause: () => {}, resume: () => {}, cancel: () => {} },
      };
      const source: RpcDispatcher = {
        request: () => Promise.reject(new Error('asked for the whole')),
        dispatch: (_, asker) => {
          asker.stream?.onStream(long);
          return { cancel: () => {} };
        },
      };
      const meter = new CallMeter({ usage });
      const log = createLogger('silent', () => {});
      const door = createPipeline({ admission: new Admission({ keys }), source, meter, log });
      const reader = { onData: () => {}, onEnd: () => {}, onError: () => {} };
      const repliedLong = (answer: StreamedResponse) => answer.pipeTo(reader);
      door.dispatch(request(), { respond: () => {}, stream: { respondStream: repliedLong } });
      return usage.drain().reduce((sum, { bytesOut }) => sum + bytesOut, 0);
    };
    expect(put(true)).toBe('{"jsonrpc":"2.0","result":"ok","id":1}'.length);
    expect(put(false)).toBe('{"jsonrpc":"2.0","result":"o'.length);
  });

  it('meters an error of the node as an answer', async () => {
    answer = async () => ({ body: Buffer.from('{}'), errorCode: -32_009 });
    expect((await serve(request())).failure).toBeNull();
    expect(usage.drain()).toMatchObject([{ status: 'rpcError', credits: 5 }]);
  });

  it('stops at the door without a good key, and meters it under nobody', async () => {
    const { failure } = await serve(request({ credential: generateApiKey('rpc').text }));
    expect(failure?.code).toBe('INVALID_KEY');
    expect(asked).toEqual([]);
    expect(usage.drain()).toMatchObject([{ keyId: null, status: 'client', requests: 1, credits: 0 }]);
  });

  it('looks at a key alone, before anything else is known, and meters only whom it refuses', async () => {
    expect(admit({ credential: text, client: unknownClient }, 'rpc', 'devnet')).toBeNull();
    expect(usage.drain()).toEqual([]);
    expect(admit({ credential: null, client: unknownClient }, 'rpc', 'devnet')?.code).toBe('MISSING_KEY');
    expect(admit({ credential: text, client: unknownClient }, 'grpc', 'devnet')?.code).toBe(
      'UNAUTHORIZED_PRODUCT',
    );
    const met = { method: 'other', status: 'client', requests: 1, bytesIn: 0, credits: 0 };
    expect(usage.drain()).toMatchObject([
      { ...met, keyId: null },
      { ...met, keyId: record.id },
    ]);
    expect(asked).toEqual([]);
  });

  it('stops at the limit, says when to come again and charges nothing', async () => {
    await serve(request());
    await serve(request());
    const { failure, rateLimit } = await serve(request());
    expect(failure).toMatchObject({ code: 'RATE_LIMITED', facts: { limit: 2, remaining: 0 } });
    expect(failure?.retryAfter).toBeGreaterThan(900);
    expect(rateLimit?.remaining).toBe(0);
    expect(asked).toHaveLength(2);
    expect(usage.drain().find(({ status }) => status === 'limited')).toMatchObject({
      requests: 1,
      credits: 0,
    });
  });

  it('passes on the failure of a source', async () => {
    answer = () => Promise.reject(new Failure('UPSTREAM_TIMEOUT'));
    expect((await serve(request())).failure?.code).toBe('UPSTREAM_TIMEOUT');
    expect(usage.drain()).toMatchObject([{ keyId: record.id, status: 'upstream', credits: 0 }]);
    expect(lines).toEqual([]);
  });

  it('makes an internal error of whatever else is thrown, says nothing of it outside and all of it in the log', async () => {
    answer = () => Promise.reject(new Error(`broke with ${text}`));
    const { failure } = await serve(request());
    expect(failure).toMatchObject({ code: 'INTERNAL', message: 'Internal error', facts: undefined });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('broke with svc_rpc_live_[redacted]');
    expect(lines[0]).not.toContain(text);
    expect(usage.drain()).toMatchObject([{ status: 'gateway' }]);
  });

  it('does not reject even when a source throws at once', async () => {
    answer = () => {
      throw new TypeError('at once');
    };
    expect((await serve(request())).failure?.code).toBe('INTERNAL');
  });

  it('tells the source when the caller leaves', async () => {
    const leaving = new AbortController();
    answer = () => new Promise<RpcResponse>(() => {});
    void serve(request(), leaving.signal);
    expect(asked.map((one) => one.signal?.aborted)).toEqual([false]);
    leaving.abort();
    expect(asked.map((one) => one.signal?.aborted)).toEqual([true]);
  });

  it('counts a caller who gave up as such', async () => {
    const leaving = new AbortController();
    const { pool, close } = await stage([() => leaving.abort()]);
    answer = (call) => pool.request(call, asked.at(-1)?.signal);
    expect((await serve(request(), leaving.signal)).failure?.code).toBe('CLIENT_GONE');
    expect(usage.drain()).toMatchObject([{ keyId: record.id, status: 'client', credits: 0 }]);
    expect(lines).toEqual([]);
    await close();
  });

  it('answers a method that is not in the table, at the common price', async () => {
    await serve(request({ method: 'getAsset' }));
    expect(asked[0]?.call).toMatchObject({ method: 'getAsset', row: { kind: 'unknown' } });
    expect(usage.drain()).toMatchObject([{ method: 'other', credits: 1 }]);
  });

  it('of a session says what the session was told, the same for all of its requests', async () => {
    await serve(request({ session: 'order book' }));
    await serve(request({ session: 'order book' }));
    expect(asked[0]!.call.minSlot).toBeInstanceOf(MinSlot);
    expect(asked[1]!.call.minSlot).toBe(asked[0]!.call.minSlot);
  });

  it('of a key whose reads never go back says what the key was told, as soon as it is such a key', async () => {
    keys.apply([{ ...record, monotonicReads: true, version: 2 }]);
    await serve(request());
    await serve(request({ session: 'order book' }));
    expect(asked[0]!.call.minSlot).toBeInstanceOf(MinSlot);
    expect(asked[1]!.call.minSlot).toBe(asked[0]!.call.minSlot);
  });

  it('of no session, or of another one, says nothing of it', async () => {
    await serve(request({ session: 'order book' }));
    await serve(request());
    expect(asked[1]!.call.minSlot ?? null).toBeNull();
  });
});
