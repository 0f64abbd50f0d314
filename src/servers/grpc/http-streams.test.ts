import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/service/eventually.ts';
import { createLogger } from '../../base/log.ts';
import { Failure } from '../../protocol/errors.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { encodeFromJson } from '../../protocol/grpc/json-codec.ts';
import type { GeyserHandler } from '../../streams/geyser/geyser-handler.ts';
import type { GeyserSink } from '../../streams/geyser/geyser-sink.ts';
import { noProxies } from '../client-address.ts';
import { HttpServer } from '../http/server.ts';
import { httpStreams } from './http-streams.ts';

const log = createLogger('silent', () => {});
const PATH = '/v1/grpc/geyser.Geyser/Subscribe';

describe('gRPC streams for web pages', () => {
  let requests: SubscribeRequest[];
  let sinks: GeyserSink[];
  let sent: number;
  let closed: number;
  const handler: Pick<GeyserHandler, 'open'> = {
    open({ credential }, _rpc, sink) {
      if (credential !== 'good') throw new Failure('INVALID_KEY');
      sinks.push(sink);
      return {
        isUrgent: false,
        bounds: { filtersMax: 10, pubkeysMax: 10 } as never,
        request: async (request) => void requests.push(request as SubscribeRequest),
        recordSent: (messages) => {
          sent += messages;
        },
        recordReceived: () => 0,
        close: () => {
          closed += 1;
        },
      };
    },
  };
  const streams = httpStreams(handler as GeyserHandler, noProxies, log);
  const http = new HttpServer(streams.routes, log);
  let url = '';

  beforeAll(async () => {
    url = `http://127.0.0.1:${(await http.listen()).port}${PATH}`;
  });
  afterAll(() => http.drain(0));
  beforeEach(() => {
    [requests, sinks, sent, closed] = [[], [], 0, 0];
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
    expect(sent).toBe(1);
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

  it('end a reader that is too slow', async () => {
    const response = await open({ slots: { all: {} } });
    const block = encodeFromJson('.geyser.SubscribeUpdate', { pong: { id: 1 } });
    const names = encodeFromJson('.geyser.SubscribeUpdate', { filters: ['x'.repeat(1_000_000)] });
    for (let count = 0; count < 6; count++) sinks[0]?.push(names, block);
    expect(await response.text()).toContain('"LAGGING"');
  });
});
