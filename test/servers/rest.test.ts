import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createLogger } from '../../src/base/log.ts';
import { Failure } from '../../src/protocol/errors.ts';
import type { RestRoute } from '../../src/protocol/rest/route.ts';
import { endpoint } from '../../src/rest-api/endpoint.ts';
import { address, flag, list, network, text } from '../../src/rest-api/fields.ts';
import { routeOf } from '../../src/rest-api/routes.ts';
import type { Services } from '../../src/rest-api/services.ts';
import { HttpServer } from '../../src/servers/http/server.ts';
import { errorBody } from '../../src/servers/rest/encode.ts';
import { REST_PREFIX } from '../../src/servers/rest/server.ts';
import { result, startHttpServer, type TestHttpServer } from './start-http-server.ts';

const WALLET = '7xWMV4CtWrqtLKwZKAh7Zr3vMqjPevcJfHamcuhT2Tg';

let behave: () => Promise<void> = async () => {};

const read = endpoint('GET wallet/balance', {
  paths: ['/sol/v1/wallet/probe', '/sol/v1/wallet/old_probe', '/sol/v1/transaction/probe'],
  summary: 'Probe',
  from: 'query',
  failures: [],
  fields: z.object({ network: network(), wallet: address('The wallet.'), refresh: flag('Uncached.') }),
  result: z.unknown(),
  async handle(fields, { chain }) {
    await behave();
    const slots = await Promise.all([
      chain({ network: fields.network }).request('getSlot', []),
      chain({ network: 'devnet' }).request('getBlock', [1]),
    ]);
    return { message: 'Probed', result: { ...fields, slots } };
  },
});

const write = endpoint('POST nft/read_selected', {
  paths: ['/sol/v1/nft/probe'],
  summary: 'Probe',
  from: 'body',
  failures: [],
  fields: z.object({ names: list(text(5, 'A name.'), 2, 'Names.') }),
  result: z.unknown(),
  handle: async ({ names }) => ({ message: 'Probed', result: names }),
});

const either = endpoint('GET wallet/balance', {
  paths: ['/sol/v1/wallet/either'],
  summary: 'Probe',
  from: 'either',
  failures: [],
  fields: z.object({ password: text(10, 'A password.') }),
  result: z.unknown(),
  handle: async (fields) => ({ message: 'Probed', result: fields as { password: string } }),
});

const asset = endpoint('GET nft/read', {
  paths: ['/sol/v1/nft/asset'],
  summary: 'Probe',
  from: 'query',
  failures: [],
  fields: z.object({}),
  result: z.unknown(),
  async handle(_, { chain, services: { das }, caller: { signal } }) {
    await chain({ network: 'devnet' }).request('getSlot', []);
    return { message: 'Probed', result: await das.request('devnet', 'getAssetBatch', { ids: [] }, signal) };
  },
});

const das = { has: () => true, request: async () => 'an asset' };

/** Reads the uploaded file, then applies the scripted behavior. */
const upload: RestRoute = {
  ...{ verb: 'POST', paths: ['/sol/v1/storage/probe'], group: 'storage', name: 'storage/upload' },
  bodyType: 'upload',
  async handle({ file }) {
    for await (const _ of file?.bytes ?? []);
    await behave();
    return { message: 'Taken', result: null };
  },
};
const routes = [
  ...[read, write, either, asset].map((one) => routeOf(one, { das } as unknown as Services)),
  upload,
];

let server: TestHttpServer;

beforeEach(async () => {
  behave = async () => {};
  server = await startHttpServer({}, {}, routes, {
    requestsPerMinute: 5,
    keyInFlightMax: 2,
    timeoutMs: 60_000,
  });
  server.answer = async ({ method }) => result(method === 'getSlot' ? '18446744073709551615' : '{"a":1}');
});

afterEach(() => server.stop());

type Reply = { success: boolean; message: string; result?: unknown; error?: Record<string, unknown> };

async function sendRequest(
  path: string,
  init: RequestInit & { key?: string | null } = {},
): Promise<{ status: number; headers: Headers; reply: Reply; text: string }> {
  const { key = server.createKey(), headers, ...rest } = init;
  const credential: Record<string, string> = key === null ? {} : { 'x-api-key': key };
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    ...rest,
    headers: { ...credential, ...(headers as Record<string, string>) },
  });
  const body = await response.text();
  return { status: response.status, headers: response.headers, reply: JSON.parse(body), text: body };
}

const probe = `/sol/v1/wallet/probe?wallet=${WALLET}`;
const json = { 'content-type': 'application/json' };
const TYPE = 'content-type: application/json';

describe('a REST request', () => {
  it('returns the envelope, with all digits and the number of upstream calls', async () => {
    const { status, headers, text: body } = await sendRequest(`${probe}&refresh`);
    expect([status, headers.get('x-upstream-calls')]).toEqual([200, '2']);
    expect(body).toBe(
      `{"success":true,"message":"Probed","result":{"network":"mainnet-beta","wallet":"${WALLET}","refresh":true,"slots":[18446744073709551615,{"a":1}]}}`,
    );
    expect(server.calls.map(({ call }) => [call.network, call.method, String(call.params)])).toEqual([
      ['mainnet-beta', 'getSlot', '[]'],
      ['devnet', 'getBlock', '[1]'],
    ]);
  });

  it('includes calls to Digital Asset Standard API servers in its number of calls', async () => {
    const { headers, reply } = await sendRequest('/sol/v1/nft/asset');
    expect([reply.result, headers.get('x-upstream-calls')]).toEqual(['an asset', '2']);
  });

  it('counts against the group of the requested path', async () => {
    const key = server.createKey();
    const left = async (path: string) =>
      (await sendRequest(`${path}?wallet=${WALLET}`, { key })).headers.get('ratelimit')?.split(';t=')[0];
    expect([
      await left('/sol/v1/wallet/probe'),
      await left('/sol/v1/wallet/old_probe/'),
      await left('/sol/v1/transaction/probe'),
      await left('/sol/v1/transaction/probe/'),
    ]).toEqual(['"wallet";r=4', '"wallet";r=3', '"transaction";r=4', '"transaction";r=3']);
  });

  it('without a key gets an error that lists every way to send one', async () => {
    const { status, reply } = await sendRequest(probe, { key: null });
    const words =
      'No API key: send it in the header "x-api-key", as "Authorization: Bearer <API_KEY>" or as the query parameter "api-key"';
    expect([status, reply.message, reply.error?.message]).toEqual([401, words, words]);
  });

  it('uses the first of several keys by location, even if it is invalid', async () => {
    const [key, wrong] = [server.createKey(), `${server.createKey()}x`];
    const statusOf = async (header: string | null, bearer: string | null, more: string) => {
      const headers: Record<string, string> = bearer === null ? {} : { authorization: `Bearer ${bearer}` };
      return (await sendRequest(`${probe}${more}`, { key: header, headers })).status;
    };
    expect([
      await statusOf(key, wrong, `&api-key=${wrong}&api_key=${wrong}`),
      await statusOf(wrong, key, `&api-key=${key}&api_key=${key}`),
      await statusOf(wrong, null, `&api-key=${key}`),
      await statusOf(null, key, `&api-key=${wrong}`),
      await statusOf(null, wrong, `&api-key=${key}&api_key=${key}`),
      await statusOf(null, null, `&api_key=${wrong}&api-key=${key}`),
      await statusOf(null, null, `&api_key=${key}&api-key=${wrong}`),
    ]).toEqual([200, 403, 403, 200, 403, 200, 403]);
  });

  it('reports the invalid fields and the expected values', async () => {
    const { status, reply } = await sendRequest(
      '/sol/v1/wallet/probe?wallet=0OIl&network=mainnet&refresh=maybe',
    );
    expect([status, reply.message]).toEqual([400, 'Validation failed!']);
    expect(reply.error).toEqual({
      code: 'INVALID_FIELDS',
      message: 'network must be one of mainnet-beta, devnet, testnet',
      response: {
        errors: [
          { field: 'network', message: 'must be one of mainnet-beta, devnet, testnet' },
          { field: 'wallet', message: 'must be an address: 32 bytes in base58' },
          { field: 'refresh', message: 'must be true or false' },
        ],
      },
    });
  });

  it.each([
    ['invalid JSON', '{"names":', 'body must be JSON'],
    ['a list', '[]', 'body must be a JSON object'],
    ['nothing', '', 'names is missing: send a list of 1 to 2'],
  ])('with %s as the body is rejected with the reason', async (_what, body, message) => {
    const { status, reply } = await sendRequest('/sol/v1/nft/probe', { method: 'POST', body, headers: json });
    expect([status, reply.error?.message]).toEqual([400, message]);
  });

  it('with an unsupported media type is rejected', async () => {
    const { status, reply } = await sendRequest('/sol/v1/nft/probe', { method: 'POST', body: 'a=b' });
    expect([status, reply.error?.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it('with too large a body is rejected in the envelope', async () => {
    const body = JSON.stringify({ names: ['x'.repeat(100_000)] });
    const { status, reply } = await sendRequest('/sol/v1/nft/probe', { method: 'POST', body, headers: json });
    expect([status, reply.error?.code, reply.error?.bodyMaxBytes]).toEqual([413, 'BODY_TOO_LARGE', 65_536]);
  });

  it('with an unknown path or an unsupported method is rejected in the envelope', async () => {
    const lost = await sendRequest('/sol/v1/wallet/nothing');
    const wrong = await sendRequest('/sol/v1/nft/probe');
    expect([lost.status, lost.reply.success, lost.reply.error?.code]).toEqual([404, false, 'NOT_FOUND']);
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get('allow')).toBe('OPTIONS, POST');
    expect(wrong.reply.error?.code).toBe('METHOD_NOT_ALLOWED');
  });

  it('returns 503 with retry-after when no node answers', async () => {
    server.answer = () =>
      Promise.reject(
        new Failure('UPSTREAM_UNAVAILABLE', { cause: new Error('https://node.example/?api-key=x') }),
      );
    const { status, headers, reply, text: body } = await sendRequest(probe);
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('1');
    expect(reply.error?.code).toBe('UPSTREAM_UNAVAILABLE');
    expect(body).not.toContain('node.example');
  });

  it('never returns status 200 for a failure, whatever nodes respond', async () => {
    server.answer = () => Promise.reject(new Failure('INVALID_REQUEST'));
    const { status, reply } = await sendRequest(probe);
    expect([status, reply.success, reply.error?.code]).toEqual([503, false, 'UPSTREAM_UNAVAILABLE']);
  });

  it("returns 503 with the node's message if a node rejects a read", async () => {
    const error = { code: -32010, message: 'excluded from account secondary indexes' };
    server.answer = async () => ({ body: Buffer.from(JSON.stringify(error)), errorCode: -32010 });
    const { status, reply } = await sendRequest(probe);
    expect([status, reply.error?.code, reply.error?.rpc]).toEqual([503, 'UPSTREAM_UNAVAILABLE', error]);
  });

  it('hides internal errors, and logs them without the key', async () => {
    behave = () => Promise.reject(new Error('the secret text'));
    const { status, reply, text: body } = await sendRequest(probe);
    expect([status, reply.error?.code]).toEqual([500, 'INTERNAL']);
    expect(body).not.toContain('secret text');
    expect(server.lines.join('\n')).toContain('secret text');
  });

  it('is metered under its endpoint, at the credits of its calls', async () => {
    await sendRequest(probe);
    await sendRequest('/sol/v1/wallet/probe');
    expect(server.usage.drain()).toMatchObject([
      { method: 'wallet/balance', status: 'ok', requests: 1, credits: 6 },
      { method: 'wallet/balance', status: 'client', requests: 1, credits: 0 },
    ]);
  });
});

describe('the limit of an endpoint group', () => {
  it('is counted per key family and group, and returns its state and retry-after', async () => {
    const [key, sibling] = [0, 1].map(() => server.createKey('rpc', {}, { familyId: 'family' }));
    const replies = [await sendRequest(probe, { key: sibling! })];
    for (let i = 0; i < 5; i++) replies.push(await sendRequest(probe, { key: key! }));
    const [first, refused] = [replies[0], replies[5]];
    expect(first?.headers.get('ratelimit-policy')).toBe('"wallet";q=5;w=60');
    expect(first?.headers.get('ratelimit')).toMatch(/^"wallet";r=4;t=\d+$/);
    expect([refused?.status, refused?.reply.error?.code]).toEqual([429, 'RATE_LIMITED']);
    const wait = Number(refused?.headers.get('retry-after'));
    expect(wait >= 1 && wait <= 120 && refused?.reply.error?.retryAfter === wait).toBe(true);
    const body = JSON.stringify({ names: ['a'] });
    expect(
      (await sendRequest('/sol/v1/nft/probe', { key: key!, method: 'POST', body, headers: json })).status,
    ).toBe(200);
    expect((await sendRequest(probe)).status).toBe(200);
    expect(replies[4]?.status).toBe(200);
  });
});

describe('concurrent requests', () => {
  it('are limited per key', async () => {
    const key = server.createKey();
    const started = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    let running = 0;
    behave = () => {
      if (++running === 2) started.resolve();
      return go.promise;
    };
    const waiting = [sendRequest(probe, { key }), sendRequest(probe, { key })];
    await started.promise;
    const { status, reply } = await sendRequest(probe, { key });
    expect([status, reply.error?.code]).toEqual([503, 'OVERLOADED']);
    go.resolve();
    expect((await Promise.all(waiting)).map((one) => one.status)).toEqual([200, 200]);
    expect((await sendRequest(probe, { key })).status).toBe(200);
  });

  it('cancel their upstream calls when the client disconnects', async () => {
    const pending = Promise.withResolvers<AbortSignal | undefined>();
    server.answer = () => {
      pending.resolve(server.calls[0]?.signal);
      return new Promise(() => {});
    };
    const leave = new AbortController();
    const request = sendRequest(probe, { signal: leave.signal }).catch((error: Error) => error.name);
    const signal = await pending.promise;
    const aborted = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
    leave.abort();
    expect(await request).toBe('AbortError');
    await aborted;
    expect(signal?.reason).toMatchObject({ code: 'CLIENT_GONE' });
  });

  it('time out', async () => {
    await server.stop();
    server = await startHttpServer({}, {}, routes, { timeoutMs: 20 });
    server.answer = (_call) =>
      new Promise((_resolve, reject) => {
        const signal = server.calls[0]?.signal;
        const cut = (): void => reject(new Error('cut short'));
        // On a slow machine the request may have timed out already.
        if (signal?.aborted) cut();
        else signal?.addEventListener('abort', cut);
      });
    const { status, reply } = await sendRequest(probe);
    expect([status, reply.error?.code]).toEqual([504, 'UPSTREAM_TIMEOUT']);
  });
});

describe('node responses', () => {
  it('are not read if they are too large for one call or one request', async () => {
    await server.stop();
    server = await startHttpServer({}, {}, routes, { answerMaxBytes: 100, answersMaxBytes: 150 });
    const answering = (bytes: number) => {
      server.answer = async () => result(`"${'x'.repeat(bytes - 2)}"`);
    };
    answering(75);
    expect((await sendRequest(probe)).status).toBe(200);
    answering(101);
    const one = await sendRequest(probe);
    answering(76);
    const all = await sendRequest(probe);
    const observed = [one, all].map(({ status, reply }) => [
      status,
      reply.error?.code,
      reply.error?.answerMaxBytes,
    ]);
    expect(observed).toEqual([
      [502, 'ANSWER_TOO_LARGE', 100],
      [502, 'ANSWER_TOO_LARGE', undefined],
    ]);
    expect(all.reply.error?.answersMaxBytes).toBe(150);
  });
});

describe('a browser', () => {
  it('may send the headers of the API client, and read responses', async () => {
    const response = await fetch(`http://127.0.0.1:${server.port}/sol/v1/wallet/probe`, {
      method: 'OPTIONS',
    });
    const allowed = response.headers.get('access-control-allow-headers')?.split(', ');
    expect(allowed).toEqual(['access-control-allow-origin', 'authorization', 'content-type', 'x-api-key']);
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    expect(response.headers.get('access-control-allow-methods')?.split(', ')).toEqual([
      'GET',
      'POST',
      'OPTIONS',
    ]);
    const { headers } = await sendRequest(probe, { headers: { origin: 'https://wallet.example' } });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    const exposed = headers.get('access-control-expose-headers');
    expect(exposed).toBe('RateLimit, RateLimit-Policy, Retry-After, X-Upstream-Calls');
  });
});

describe('a REST request that fails before routing', () => {
  const line = 'POST /sol/v1/nft/probe HTTP/1.1\r\n';
  const bodyOf = (received: string): unknown => JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4));

  it.each([
    ['a missing Host header', `${line}\r\n`, 'MALFORMED_HTTP'],
    ['headers without end', `${line}host: x\r\na: ${'b'.repeat(20_000)}\r\n\r\n`, 'HEADERS_TOO_LARGE'],
    ['a full URL', 'POST http://x/sol/v1/nft/probe HTTP/1.1\r\nhost: x\r\na b\r\n\r\n', 'MALFORMED_HTTP'],
    ['a body timeout', `${line}host: x\r\ncontent-length: 9\r\n\r\n{`, 'REQUEST_TIMEOUT'],
  ])('because of %s is rejected in the envelope', async (_what, bytes, code) => {
    await server.stop();
    server = await startHttpServer({ requestTimeoutMs: 100, headersTimeoutMs: 100 }, {}, routes);
    const wire = server.connect();
    wire.socket.write(bytes.replace('host: x', `host: x\r\nx-api-key: ${server.createKey()}\r\n${TYPE}`));
    expect(bodyOf(await wire.ended())).toMatchObject({ success: false, error: { code } });
  });

  it('because of the request limit is rejected in the envelope', async () => {
    await server.stop();
    server = await startHttpServer({ requestsInFlightMax: 1 }, {}, routes);
    const first = server.connect();
    first.socket.write(
      `${line}host: x\r\nx-api-key: ${server.createKey()}\r\n${TYPE}\r\ncontent-length: 9\r\n\r\n`,
    );
    await expect.poll(() => server.http.inFlight).toBe(1);
    const { reply } = await sendRequest('/sol/v1/nft/probe', { method: 'POST' });
    expect(reply).toMatchObject({ success: false, error: { code: 'OVERLOADED' } });
    first.socket.destroy();
  });

  it('because its handler throws is rejected in the format of its path', async () => {
    const broken = () => {
      throw new Error('broken');
    };
    const handlers = new Map([['/sol/broken', new Map([['GET', broken]])]]);
    const log = createLogger('silent', () => {});
    const http = new HttpServer(handlers, log, {}, [], new Map([[REST_PREFIX, errorBody]]));
    const { port } = await http.listen();
    const response = await fetch(`http://127.0.0.1:${port}/sol/broken`);
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'INTERNAL' } });
    await http.drain(0);
  });
});

describe('the bytes received for a REST request', () => {
  const metered = () => server.usage.drain().map(({ status, bytesIn }) => [status, bytesIn]);

  it('are counted as read, also for chunked bodies and failures', async () => {
    const chunked = { method: 'POST', headers: json, duplex: 'half' } as RequestInit;
    await sendRequest('/sol/v1/nft/probe', { ...chunked, body: new Blob(['{"names":["a"]}']).stream() });
    await sendRequest('/sol/v1/nft/probe', { ...chunked, body: new Blob(['{"a']).stream() });
    expect(metered()).toEqual([
      ['ok', 15],
      ['client', 3],
    ]);
  });

  it.each(['taken', 'refused at its end'])('include its uploaded file when %s', async (how) => {
    const isTaken = how === 'taken';
    if (!isTaken) behave = () => Promise.reject(new Failure('STORAGE_FULL'));
    const body =
      '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n' +
      `${'x'.repeat(100_000)}\r\n--b--\r\n`;
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const { reply } = await sendRequest('/sol/v1/storage/probe', { method: 'POST', headers, body });
    expect([reply.success, metered().map(([, bytesIn]) => bytesIn)]).toEqual([isTaken, [body.length]]);
  });
});

it('accepts a JSON body with GET, or the same fields in the query', async () => {
  const { reply } = await sendRequest('/sol/v1/wallet/either?password=query');
  expect(reply.result).toEqual({ password: 'query' });
  const sent = await rawGet('/sol/v1/wallet/either?password=query', '{"password":"body"}');
  expect(sent).toContain('"result":{"password":"body"}');
});

/** fetch cannot send a body with GET. */
async function rawGet(path: string, body: string): Promise<string> {
  const wire = server.connect();
  wire.socket.write(
    `GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${server.createKey()}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  return wire.ended();
}
