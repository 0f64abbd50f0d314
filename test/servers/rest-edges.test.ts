import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { Failure } from '../../src/protocol/errors.ts';
import type { RestRoute, Upload } from '../../src/protocol/rest/route.ts';
import type { HttpOptions } from '../../src/servers/http/options.ts';
import { HttpServer } from '../../src/servers/http/server.ts';
import { errorBody } from '../../src/servers/rest/encode.ts';
import { REST_PREFIX } from '../../src/servers/rest/server.ts';
import { startHttpServer, type TestHttpServer } from './start-http-server.ts';

/** Scripted consumer of the uploaded file. */
let take: (bytes: Upload['bytes']) => Promise<void>;

const upload: RestRoute = {
  ...{ verb: 'POST', paths: ['/sol/v1/storage/probe'], group: 'storage', name: 'storage/upload' },
  bodyType: 'upload',
  async handle({ file }) {
    if (file !== null) await take(file.bytes);
    return { message: 'Taken', result: null };
  },
};

const write: RestRoute = {
  ...{
    verb: 'POST',
    paths: ['/sol/v1/nft/probe'],
    group: 'nft',
    name: 'nft/read_selected',
    bodyType: 'json',
  },
  async handle({ body }) {
    if (body === null) throw new Failure('OVERLOADED');
    return { message: 'Probed', result: null };
  },
};

let server: TestHttpServer;

async function restart(http: Partial<HttpOptions> = {}): Promise<void> {
  await server?.stop();
  server = await startHttpServer(http, {}, [upload, write]);
}

beforeEach(async () => {
  take = async (bytes) => {
    for await (const _ of bytes);
  };
  await restart();
});
afterEach(() => server.stop());

const PATH = '/sol/v1/nft/probe';

const bodyOf = (received: string): unknown => JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4));

const head = (key: string, extra: string): string =>
  `POST ${PATH} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n${extra}\r\n`;

describe('a failed REST request', () => {
  const line = `POST ${PATH} HTTP/1.1\r\n`;

  it.each([
    ['no host', `${line}\r\n`, 'MALFORMED_HTTP'],
    ['headers without end', `${line}host: x\r\na: ${'b'.repeat(20_000)}\r\n\r\n`, 'HEADERS_TOO_LARGE'],
    ['an authority', `POST http://x${PATH} HTTP/1.1\r\nhost: x\r\na b\r\n\r\n`, 'MALFORMED_HTTP'],
  ])('with %s is refused in the envelope', async (_what, bytes, code) => {
    const wire = server.connect();
    wire.socket.write(bytes);
    expect(bodyOf(await wire.ended())).toMatchObject({ success: false, error: { code } });
  });

  it('with an overdue body is refused in the envelope', async () => {
    await restart({ requestTimeoutMs: 100, headersTimeoutMs: 100 });
    const wire = server.connect();
    wire.socket.write(`${head(server.createKey(), 'content-length: 9\r\n')}{`);
    expect(bodyOf(await wire.ended())).toMatchObject({ success: false, error: { code: 'REQUEST_TIMEOUT' } });
  });

  it('beyond the request limit is refused in the envelope', async () => {
    await restart({ requestsInFlightMax: 1 });
    const first = server.connect();
    first.socket.write(head(server.createKey(), 'content-length: 9\r\n'));
    await expect.poll(() => server.http.inFlight).toBe(1);
    const response = await fetch(`http://127.0.0.1:${server.port}${PATH}`, { method: 'POST' });
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'OVERLOADED' } });
    first.socket.destroy();
  });
});

it('that throws in its handler is refused in the format of its path', async () => {
  const broken = () => {
    throw new Error('broken');
  };
  const routes = new Map([['/sol/broken', new Map([['GET', broken]])]]);
  const log = createLogger('silent', () => {});
  const http = new HttpServer(routes, log, {}, [], new Map([[REST_PREFIX, errorBody]]));
  const { port } = await http.listen();
  const response = await fetch(`http://127.0.0.1:${port}/sol/broken`);
  expect(await response.json()).toMatchObject({ success: false, error: { code: 'INTERNAL' } });
  await http.drain(0);
});

describe('the bytes of a request', () => {
  const metered = () => server.usage.drain().map(({ status, bytesIn }) => [status, bytesIn]);
  const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

  it('are counted as read, also in chunks and for failures', async () => {
    const wire = server.connect();
    const key = server.createKey();
    const send = async (body: string, mark: RegExp): Promise<void> => {
      wire.received = '';
      wire.socket.write(head(key, 'transfer-encoding: chunked\r\n') + chunked(body));
      await wire.until(mark);
    };
    await send('{"a":1}', /Probed/);
    await send('{"a', /INVALID_FIELDS/);
    expect(metered()).toEqual([
      ['ok', 7],
      ['client', 3],
    ]);
    wire.socket.destroy();
  });

  it.each(['taken', 'refused at its end'])('are those of its file, which is %s', async (how) => {
    const isTaken = how === 'taken';
    const read = take;
    take = async (bytes) => {
      await read(bytes);
      if (!isTaken) throw new Failure('STORAGE_FULL');
    };
    const body =
      '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n' +
      `${'x'.repeat(100_000)}\r\n--b--\r\n`;
    const response = await fetch(`http://127.0.0.1:${server.port}/sol/v1/storage/probe`, {
      method: 'POST',
      headers: { 'x-api-key': server.createKey(), 'content-type': 'multipart/form-data; boundary=b' },
      body: new Blob([body]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(await response.json()).toMatchObject({ success: isTaken });
    expect(metered().map(([, bytesIn]) => bytesIn)).toEqual([body.length]);
  });
});
