import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../../test/service/eventually.ts';
import { createLogger } from '../../base/log.ts';
import { Failure } from '../../protocol/errors.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { encodeFromJson } from '../../protocol/grpc/json-codec.ts';
import type { HttpStreamHandler } from '../../streams/geyser/geyser-handler.ts';
import type { GeyserSink } from '../../streams/geyser/geyser-sink.ts';
import { noProxies } from '../client-address.ts';
import { HttpServer } from '../http/server.ts';
import { httpStreams } from './http-streams.ts';

const log = createLogger('silent', () => {});
const PATH = '/v1/grpc/geyser.Geyser/Subscribe';

describe('gRPC streams for web pages', () => {
  let requests: SubscribeRequest[];
  let sinks: GeyserSink[];
  /** Index of the stream of each sent message. */
  let sent: number[];
  let closed: number;
  const handler: HttpStreamHandler = {
    admitStream({ credential }) {
      if (credential === 'bad' || credential === null) throw new Failure('INVALID_KEY');
      return credential;
    },
    open(_caller, _rpc, sink) {
      sinks.push(sink);
      return {
        isUrgent: false,
        bounds: { filtersMax: 10, pubkeysMax: 10 } as never,
        request: async (request) => void requests.push(request as SubscribeRequest),
        recordSent: (messages) => {
          for (let count = 0; count < messages; count++) sent.push(sinks.indexOf(sink));
        },
        recordReceived: () => 0,
        close: () => {
          closed += 1;
        },
      };
    },
  };
  const streams = httpStreams(handler, noProxies, log);
  const http = new HttpServer(streams.routes, log);
  let url = '';

  beforeAll(async () => {
    url = `http://127.0.0.1:${(await http.listen()).port}${PATH}`;
  });
  afterAll(() => http.drain(0));
  beforeEach(() => {
    [requests, sinks, sent, closed] = [[], [], [], 0];
  });

  const open = (body: unknown, credential = 'good', signal?: AbortSignal) =>
    fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal && { signal }),
    });

  it('send each message as a line of JSON, and the reason of the end as the last', async () => {
    const response = await open({ slots: { all: {} } });
    await eventually(async () => requests.length > 0, 'the request arrives');
    expect([...(requests[0]?.slots?.keys() ?? [])]).toEqual(['all']);
    const slot = encodeFromJson('.geyser.SubscribeUpdate', { slot: { slot: '18446744073709551615' } });
    sinks[0]?.push(encodeFromJson('.geyser.SubscribeUpdate', { filters: ['all'] }), slot);
    sinks[0]?.end({ code: 'UNAVAILABLE', message: 'the ledger is gone' });
    const lines = (await response.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toEqual([
      { filters: ['all'], slot: { slot: '18446744073709551615' } },
      { error: { code: 'UNAVAILABLE', message: 'the ledger is gone' } },
    ]);
    expect(sent).toEqual([0]);
  });

  it.each([
    [{ slot: {} }, 'slot: must be a known field'],
    ['{', 'The body must be JSON.'],
    [{ accounts: { mine: { account: ['x'] } } }, 'failed to create filter'],
  ])('reject the request %j', async (body, message) => {
    const text = await (await open(body)).text();
    expect(JSON.parse(text)).toMatchObject({ error: { message: expect.stringContaining(message) } });
    await eventually(async () => closed === 1, 'the stream closes');
  });

  it('reject an invalid key like JSON-RPC, and other types of content', async () => {
    expect((await open({}, 'bad')).status).toBe(403);
    expect((await fetch(url, { method: 'POST', body: 'slots' })).status).toBe(415);
  });

  it('reject an invalid key before the body arrives', async () => {
    const headers = { authorization: 'Bearer bad', 'content-type': 'application/json', 'content-length': 9 };
    const sent = request(url, { method: 'POST', headers });
    sent.flushHeaders();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    sent.on('error', () => {}).destroy();
    expect(response.statusCode).toBe(403);
  });

  it('do not count rejected requests as open', async () => {
    for (let count = 0; count <= 8; count++) expect((await open('x'.repeat(65_537))).status).toBe(413);
    const aborts = new AbortController();
    expect((await open({}, 'good', aborts.signal)).status).toBe(200);
    aborts.abort();
    await eventually(async () => closed === 1, 'the stream closes');
  });

  it('limit each customer to 8', async () => {
    const aborts = new AbortController();
    for (let count = 0; count < 8; count++)
      expect((await open({}, 'greedy', aborts.signal)).status).toBe(200);
    expect((await open({}, 'greedy')).status).toBe(429);
    expect((await open({}, 'other', aborts.signal)).status).toBe(200);
    aborts.abort();
    await eventually(async () => closed === 9, 'the streams close');
    expect((await open('{', 'greedy')).status).toBe(200);
  });

  it('close with the connection, and with the drain of the service', async () => {
    const abort = new AbortController();
    await open({ slots: { all: {} } }, 'good', abort.signal);
    abort.abort();
    await eventually(async () => closed === 1, 'the stream closes');
    const response = await open({ slots: { all: {} } });
    streams.end();
    expect(await response.text()).toContain('"DRAINING"');
  });

  it("end at a node's malformed message", async () => {
    const response = await open({ slots: { all: {} } });
    // Field 3 (slot) is longer than the message.
    sinks[0]?.push(new Uint8Array(), Uint8Array.of(0x1a, 5));
    expect(await response.text()).toContain('"UPSTREAM_UNAVAILABLE"');
  });

  it('share one slice of time fairly', async () => {
    const aborts = new AbortController();
    for (let count = 0; count < 4; count++) await open({}, 'good', aborts.signal);
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now++);
    const pong = encodeFromJson('.geyser.SubscribeUpdate', { pong: { id: 1 } });
    for (const sink of sinks) for (let count = 0; count < 20; count++) sink.push(new Uint8Array(), pong);
    let mostPerSlice = 0;
    while (sent.length < 80) {
      const before = sent.length;
      await setImmediate();
      mostPerSlice = Math.max(mostPerSlice, sent.length - before);
    }
    clock.mockRestore();
    aborts.abort();
    expect(mostPerSlice).toBeLessThanOrEqual(5);
    expect(sent.slice(0, 8)).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
    await eventually(async () => closed === 4, 'the streams close');
  });

  it('end a reader that is too slow', async () => {
    const response = await open({ slots: { all: {} } });
    const block = encodeFromJson('.geyser.SubscribeUpdate', { pong: { id: 1 } });
    const names = encodeFromJson('.geyser.SubscribeUpdate', { filters: ['x'.repeat(1_000_000)] });
    for (let count = 0; count < 6; count++) sinks[0]?.push(names, block);
    expect(await response.text()).toContain('"LAGGING"');
  });
});
