import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { parseIpAddress } from '../../src/base/ip-address.ts';
import type { ClientInfo } from '../../src/protocol/client-info.ts';
import type { RestRoute } from '../../src/protocol/rest/route.ts';
import { ResponseCompression } from '../../src/servers/compression.ts';
import { rawPost, result, startHttpServer, type TestHttpServer } from './start-http-server.ts';

const MIN_BYTES = 1_000;
const LONG = `"${'long '.repeat(400)}"`;
const call = '{"jsonrpc":"2.0","id":1,"method":"getProgramAccounts"}';

const route: RestRoute = {
  verb: 'GET',
  paths: ['/sol/v1/long'],
  group: 'wallet',
  name: 'long',
  bodyType: 'json',
  handle: async () => ({ message: 'Long', result: LONG }),
};

const secret: RestRoute = { ...route, paths: ['/sol/v1/secret'], name: 'secret', holdsSecrets: true };

let server: TestHttpServer;
afterEach(() => server.stop());

/** Without the decompression of `fetch`. */
async function send(path: string, key: string, accepted: string, body?: string) {
  const headers = {
    'accept-encoding': accepted,
    'content-type': 'application/json',
    authorization: `Bearer ${key}`,
  };
  const method = body === undefined ? 'GET' : 'POST';
  const sent = request(server.url.replace('/v1/rpc', path), { method, headers });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject).end(body);
  });
  return { headers: response.headers, bytes: await buffer(response) };
}

const clientAt = (address: string, isProxy = false): ClientInfo => ({
  ...{ address, ip: parseIpAddress(address), isProxy, origin: null },
});

const decoders = { zstd: zstdDecompressSync, gzip: gunzipSync, identity: (bytes: Buffer) => bytes };

describe.each([{ raw: true }, { raw: false }])('response compression, fast path: $raw', ({ raw }) => {
  it.each([
    ['gzip, deflate, br', 'gzip'],
    ['gzip, zstd', 'zstd'],
    ['gzip;q=1.0, zstd;q=0', 'gzip'],
    ['gzip;q=0.000, br', 'identity'],
  ] as const)('answers accept-encoding %j with %s', async (accepted, coding) => {
    const compression = new ResponseCompression({ compressionMinBytes: MIN_BYTES, compressionsMax: 1 });
    server = await startHttpServer({ raw }, { compression }, [route, secret]);
    server.answer = async () => result(LONG);
    const key = server.createKey();
    const single = `{"jsonrpc":"2.0","result":${LONG},"id":1}`;
    for (const [path, body, expected] of [
      ['/v1/rpc', call, `${single}\n`],
      ['/v1/rpc', `[${call},${call}]`, `[${single},${single}]\n`],
      ['/sol/v1/long', undefined, JSON.stringify({ success: true, message: 'Long', result: LONG })],
    ] as const) {
      const { headers, bytes } = await send(path, key, accepted, body);
      expect(headers['content-encoding'] ?? 'identity').toBe(coding);
      expect(decoders[coding](bytes).toString()).toBe(expected);
    }
    server.answer = async () => result('"short"');
    const secrets = await send('/sol/v1/secret', key, accepted);
    expect(secrets.headers).not.toHaveProperty('content-encoding');
    const short = await send('/v1/rpc', key, accepted, call);
    expect(short.headers).not.toHaveProperty('content-encoding');
    expect(short.bytes.toString()).toContain('"short"');
  });
});

describe.each([{ raw: true }, { raw: false }])('a compressed response, fast path: $raw', ({ raw }) => {
  it('no longer counts once its client has disconnected', async () => {
    const compression = new ResponseCompression({ compressionMinBytes: 1, compressionsMax: 1 });
    server = await startHttpServer({ raw }, { compression });
    const random = randomBytes(8 * 1024 * 1024).toString('base64');
    server.answer = async () => result(`"${random}"`);
    const key = server.createKey();
    const slow = server.connect();
    slow.socket.pause();
    slow.socket.write(rawPost(key, call, 'accept-encoding: gzip\r\n'));
    const isFree = () => {
      const started = compression.compress('gzip', clientAt('192.0.2.1'), [Buffer.from(LONG)]);
      started?.cancel();
      return started !== null;
    };
    await expect.poll(isFree).toBe(false);
    slow.socket.destroy();
    await expect.poll(isFree).toBe(true);
  });
});

describe('the limit on compressions', () => {
  it('counts those that are not complete or canceled', async () => {
    const compression = new ResponseCompression({ compressionMinBytes: 1, compressionsMax: 1 });
    const start = () => compression.compress('gzip', clientAt('192.0.2.1'), [Buffer.from(LONG)]);
    const first = start();
    expect(start()).toBeNull();
    first?.cancel();
    first?.cancel();
    const second = start();
    expect(start()).toBeNull();
    await new Promise<void>((resolve, reject) =>
      second?.pipeTo({ onData: () => {}, onEnd: () => resolve(), onError: reject }),
    );
    expect(start()?.cancel()).toBeUndefined();
  });

  it('leaves three quarters to other clients, and counts clients behind a proxy without addresses together', () => {
    const compression = new ResponseCompression({ compressionMinBytes: 1, compressionsMax: 8 });
    const start = (address: string, isProxy?: boolean) =>
      compression.compress('gzip', clientAt(address, isProxy), [Buffer.from(LONG)]);
    const first = [start('2001:db8::1'), start('2001:db8::2')];
    // The same /64.
    expect(start('2001:db8::3')).toBeNull();
    const others = [start('192.0.2.1'), ...Array.from({ length: 5 }, () => start('192.0.2.9', true))];
    expect(others).not.toContain(null);
    expect(start('192.0.2.2')).toBeNull();
    for (const one of [...first, ...others]) one?.cancel();
    for (const one of [start('2001:db8::3'), start('2001:db8::4')]) {
      expect(one).not.toBeNull();
      one?.cancel();
    }
  });

  it.each([{ raw: true }, { raw: false }])('is that of the client, fast path: $raw', async ({ raw }) => {
    const compression = new ResponseCompression({ compressionMinBytes: 1, compressionsMax: 4 });
    server = await startHttpServer({ raw }, { compression }, [route]);
    server.answer = async () => result(LONG);
    const key = server.createKey();
    const codings = async () => {
      const sent = [send('/v1/rpc', key, 'gzip', call), send('/sol/v1/long', key, 'gzip')];
      return (await Promise.all(sent)).map(({ headers }) => headers['content-encoding']);
    };
    const held = compression.compress('gzip', clientAt('127.0.0.1'), [Buffer.from(LONG)]);
    expect(await codings()).toEqual([undefined, undefined]);
    held?.cancel();
    const other = compression.compress('gzip', clientAt('192.0.2.1'), [Buffer.from(LONG)]);
    expect((await send('/v1/rpc', key, 'gzip', call)).headers['content-encoding']).toBe('gzip');
    expect((await send('/sol/v1/long', key, 'gzip')).headers['content-encoding']).toBe('gzip');
    other?.cancel();
  });
});
