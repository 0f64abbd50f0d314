import { once } from 'node:events';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { offChainLimits } from '../../../src/upstream/off-chain/limits.ts';
import type { OffChainClient, OffChainOptions } from '../../../src/upstream/off-chain/off-chain-client.ts';
import {
  bytes,
  type Host,
  json,
  neverAborted,
  noResponse,
  openClient,
  redirect,
  type Script,
  startHost,
} from './hosts.ts';

const MAX = offChainLimits.documentMaxBytes;
const META = { name: 'n', image: 'i' };
const TEXT = JSON.stringify(META);

let host: Host;
let client: OffChainClient;
const closing: (() => Promise<void>)[] = [];

beforeEach(async () => {
  host = await startHost({ '/meta': json(META) });
});

afterEach(async () => {
  await client?.close();
  for (const close of [host.close, ...closing.splice(0)]) await close();
});

const at = (path: string, name = 'a.example'): string => `http://${name}:${host.port}${path}`;

async function open(options: Partial<OffChainOptions> = {}): Promise<void> {
  client = await openClient([host.port], options);
}

/** Document of a URI, or undefined. */
async function read(uri: string): Promise<unknown> {
  return (await client.read([uri], neverAborted)).get(uri);
}

/** Document of a host with this behavior. */
async function readOf(script: Script, limits: Partial<typeof offChainLimits> = {}): Promise<unknown> {
  host.scripts.set('/x', script);
  await open({ limits: { tryTimeoutMs: 5_000, timeoutMs: 10_000, ...limits } });
  return read(at('/x'));
}

describe('off-chain JSON', () => {
  it.each([
    ['JSON', json(META)],
    ['a kind of JSON', json(META, 'application/ld+json; charset=utf-8')],
    ['plain text', json(META, 'text/plain')],
    ['bytes of no type', json(META, 'application/octet-stream')],
    ['JSON without a type', (_, reply) => void reply.writeHead(200).end(TEXT)],
    ['JSON behind a byte order mark', bytes(`\ufeff${TEXT}`)],
    [
      'JSON in pieces',
      (_, reply) => {
        reply.writeHead(200).write(TEXT.slice(0, 5));
        reply.end(TEXT.slice(5));
      },
    ],
    ['gzip', bytes(gzipSync(TEXT), { 'content-encoding': 'gzip' })],
    ['brotli', bytes(brotliCompressSync(TEXT), { 'content-encoding': 'br' })],
    ['deflate', bytes(deflateSync(TEXT), { 'content-encoding': 'deflate' })],
    ['deflate without zlib', bytes(deflateRawSync(TEXT), { 'content-encoding': 'DEFLATE' })],
    ['a redirect to JSON', redirect('/meta')],
  ] as [string, Script][])('is read from %s', async (_, script) =>
    expect(await readOf(script)).toEqual(META),
  );

  it.each([
    ['HTML', bytes('<html>', { 'content-type': 'text/html' })],
    ['JSON that says it is HTML', json(META, 'text/html')],
    ['an image', json(META, 'image/png')],
    ['no JSON', bytes('not json')],
    ['JSON of endless depth', bytes('['.repeat(MAX - 1))],
    ['404', bytes(TEXT, {}, 404)],
    ['500', bytes(TEXT, {}, 500)],
    ['204', bytes('', {}, 204)],
    ['a part', bytes(TEXT, {}, 206)],
    ['too much, as announced', bytes(`"${'x'.repeat(MAX)}"`)],
    ['a bomb of gzip', bytes(gzipSync(Buffer.alloc(64 * MAX, ' ')), { 'content-encoding': 'gzip' })],
    [
      'a bomb of brotli',
      bytes(brotliCompressSync(Buffer.alloc(64 * MAX, ' ')), { 'content-encoding': 'br' }),
    ],
    ['a bomb of deflate', bytes(deflateSync(Buffer.alloc(64 * MAX, ' ')), { 'content-encoding': 'deflate' })],
    ['gzip that was cut off', bytes(gzipSync(TEXT).subarray(0, -9), { 'content-encoding': 'gzip' })],
    ['gzip that is none', bytes(TEXT, { 'content-encoding': 'gzip' })],
    ['codings over codings', bytes(gzipSync(gzipSync(TEXT)), { 'content-encoding': 'gzip, gzip' })],
    ['an unknown coding', bytes(TEXT, { 'content-encoding': 'zstd' })],
    ['a redirect to nowhere', redirect('')],
    ['a redirect to a file', redirect('file:///etc/passwd')],
    ['a redirect with a password', redirect('http://u:p@a.example/meta')],
    ['a redirect to another port', redirect('http://a.example:22/meta')],
    ['a redirect to itself', redirect('/x')],
    ['headers without end', (_, reply) => void reply.writeHead(200, { a: 'x'.repeat(100_000) }).end(TEXT)],
    ['no HTTP', (_, __, socket) => void socket.end('SSH-2.0-OpenSSH\r\n')],
    ['a connection that breaks', (_, __, socket) => void socket.destroy()],
    [
      'a body that breaks off',
      (_, reply, socket) => {
        reply.writeHead(200, { 'content-length': '100' });
        reply.write(TEXT, () => socket.destroy());
      },
    ],
    ['nothing', noResponse],
  ] as [string, Script][])('is absent if the host sends %s', async (_, script) => {
    expect(await readOf(script, { tryTimeoutMs: 300, timeoutMs: 1_000 })).toBeUndefined();
  });

  it.each([
    ['headers', (_, __, socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'a: b\r\n')],
    ['a body', (_, __, socket) => drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n"', 'x')],
  ] as [string, Script][])('times out if the host sends %s slowly', async (_, script) => {
    const startedAt = performance.now();
    expect(await readOf(script, { tryTimeoutMs: 200 })).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });

  it('is cut off at the limit of an endless response', async () => {
    let sent = 0;
    const closed = Promise.withResolvers<void>();
    const endless: Script = (_request, reply, socket) => {
      reply.writeHead(200, { 'content-type': 'application/json' });
      const more = (): void => {
        while (!socket.destroyed && reply.write(Buffer.alloc(16_384, ' '))) sent += 16_384;
      };
      reply.on('drain', more);
      socket.on('close', () => closed.resolve());
      more();
    };
    expect(await readOf(endless, { tryTimeoutMs: 5_000, timeoutMs: 5_000 })).toBeUndefined();
    await closed.promise;
    // Plus socket buffers on both sides.
    expect(sent).toBeLessThan(MAX + 16 * 1024 * 1024);
    expect(client.counts).toMatchObject({ absent: 1, failed: 0 });
  });

  it('follows a limited number of redirects', async () => {
    const { redirectsMax } = offChainLimits;
    for (let hop = 0; hop <= redirectsMax; hop++) host.scripts.set(`/${hop}`, redirect(`/${hop + 1}`));
    host.scripts.set(`/${redirectsMax + 1}`, json(META));
    await open();
    expect(await read(at('/1'))).toEqual(META);
    expect(await read(at('/0'))).toBeUndefined();
  });

  it('is requested again if the host closes an idle connection', async () => {
    host.scripts.set('/once', (_, reply, socket) => {
      if (host.connections() === 1) socket.destroy();
      else reply.writeHead(200).end(TEXT);
    });
    await open({ limits: { perHostMax: 1, unprovenPerHostMax: 1 } });
    expect(await read(at('/meta'))).toEqual(META);
    expect(await read(at('/once'))).toEqual(META);
    expect([host.requestedPaths, host.connections()]).toEqual([['/meta', '/once', '/once'], 2]);
  });

  it('uses no kept connections if the host forbids it', async () => {
    await open({ limits: { idleTimeoutMs: 0 } });
    expect([await read(at('/meta')), await read(at('/meta?2'))]).toEqual([META, META]);
  });

  it('is requested without any data about callers', async () => {
    host.scripts.set('/x', (_, reply) => {
      reply.writeHead(302, { 'set-cookie': 'a=b; Path=/', location: '/meta' }).end();
    });
    await open();
    await read(at('/x'));
    for (const headers of host.headers) {
      expect(Object.keys(headers).sort()).toEqual([
        'accept',
        'accept-encoding',
        'connection',
        'host',
        'user-agent',
      ]);
    }
    expect(host.headers[1]?.['user-agent']).toBe('solway (off-chain metadata)');
  });

  it('is read from inline URIs and from gateways in order', async () => {
    const other = await startHost({ '*': json(META) });
    closing.push(other.close);
    const cid = 'bafkreifjjcie6lypi6ny7amxnfftagclbuxndqonfipmb64f2km2devei4';
    client = await openClient([host.port, other.port], {
      rules: {
        ipfsGateways: [at('/ipfs/', 'one.example'), `http://two.example:${other.port}/ipfs/`],
        arweaveGateways: [`http://ar.example:${other.port}/`],
      },
    });
    const uris = [
      `ipfs://${cid}/1.json`,
      `ar://${'x'.repeat(43)}`,
      'data:application/json,{"name":"n","image":"i"}',
    ];
    const found = await client.read(uris, neverAborted);
    expect(uris.map((uri) => found.get(uri))).toEqual([META, META, META]);
    expect(host.requestedPaths).toEqual([`/ipfs/${cid}/1.json`]);
    expect(other.requestedPaths.sort()).toEqual([`/ipfs/${cid}/1.json`, `/${'x'.repeat(43)}`].sort());
  });
});

/** Sends a start, then a little at a time. */
function drip(socket: Parameters<Script>[2], head: string, drop: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write(drop), 20);
  socket.on('close', () => clearInterval(timer));
}

describe('forbidden address', () => {
  /** Server on another loopback address, standing for internal hosts. */
  async function inside(): Promise<Host> {
    const victim = await startHost({ '*': json({ secret: true }) }, '127.0.0.1', host.port);
    closing.push(victim.close);
    return victim;
  }

  it.each([
    'http://127.0.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://0x7f.0.0.1:PORT/',
    'http://127.1:PORT/',
    'http://localhost:PORT/',
    'http://x.localhost.:PORT/',
    'http://[::1]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::ffff:10.0.0.1]:PORT/',
    'http://[64:ff9b::7f00:1]:PORT/',
    'http://0.0.0.0:PORT/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fe80::1]/',
    'http://10.0.0.1/',
    'http://100.64.0.1/',
  ])('is rejected in a URI and in a redirect: %s', async (form) => {
    const victim = await inside();
    const uri = form.replace('PORT', String(host.port));
    host.scripts.set('/x', redirect(uri));
    const { createResolve } = await import('../../../src/upstream/off-chain/checked-connect.ts');
    const real = createResolve(100);
    const resolve = async (name: string) => (name === 'a.example' ? ['127.0.0.2'] : real(name));
    await open({ resolve });
    const startedAt = performance.now();
    expect(await read(uri)).toBeUndefined();
    expect(await read(at('/x'))).toBeUndefined();
    expect([victim.requestedPaths, victim.connections()]).toEqual([[], 0]);
    // Rejected without an attempt.
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it.each([
    [['127.0.0.1']],
    [['127.0.0.2', '127.0.0.1']],
    [['127.0.0.2', '::1']],
    [['169.254.169.254']],
    [['::ffff:127.0.0.1']],
    [['not an address']],
  ])('is rejected when any address of a name is forbidden: %j', async (addresses) => {
    const victim = await inside();
    await open({ resolve: async () => addresses });
    expect(await read(at('/meta'))).toBeUndefined();
    expect([host.connections(), victim.connections()]).toEqual([0, 0]);
  });

  it('is not reachable by DNS rebinding', async () => {
    const victim = await inside();
    const answers = [['127.0.0.2'], ['127.0.0.1']];
    let lookups = 0;
    await open({ resolve: async () => answers[lookups++] ?? ['127.0.0.1'] });
    host.scripts.set('/x', (_, reply) => void reply.writeHead(200, { connection: 'close' }).end(TEXT));
    expect(await read(at('/x'))).toEqual(META);
    // One connection, one lookup, to the checked address.
    expect([lookups, host.connections()]).toEqual([1, 1]);
    expect(await read(at('/meta'))).toBeUndefined();
    expect([victim.connections(), lookups]).toEqual([0, 2]);
  });

  it('does not wait for a name server that does not respond', async () => {
    await open({
      resolve: () => new Promise(() => undefined),
      limits: { timeoutMs: 300, tryTimeoutMs: 200 },
    });
    const startedAt = performance.now();
    expect(await read(at('/meta'))).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});

describe('concurrent reads', () => {
  it('fetch a document once', async () => {
    const release = Promise.withResolvers<void>();
    host.scripts.set('/x', (_, reply) => void release.promise.then(() => reply.writeHead(200).end(TEXT)));
    await open();
    const readings = [1, 2, 3].map(() => read(at('/x')));
    expect(client.inFlight).toBe(1);
    release.resolve();
    expect(await Promise.all(readings)).toEqual([META, META, META]);
    expect([host.requestedPaths, client.inFlight]).toEqual([['/x'], 0]);
  });

  it('continue when one is canceled, and abort with the last', async () => {
    const arrived = Promise.withResolvers<Parameters<Script>[2]>();
    host.scripts.set('/x', (_, __, socket) => arrived.resolve(socket));
    await open();
    const leavers = [new AbortController(), new AbortController()];
    const readings = leavers.map(({ signal }) => client.read([at('/x')], signal));
    const socket = await arrived.promise;
    leavers[0]?.abort();
    expect((await readings[0])?.size).toBe(0);
    expect([client.inFlight, client.queues.active, socket.destroyed]).toEqual([1, 1, false]);
    const closed = once(socket, 'close');
    leavers[1]?.abort();
    expect((await readings[1])?.size).toBe(0);
    await closed;
    expect(client.inFlight).toBe(0);
  });

  it('give later readers their full time', async () => {
    const release = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    host.scripts.set('/x', (_, reply) => {
      arrived.resolve();
      void release.promise.then(() => reply.writeHead(200).end(TEXT));
    });
    await open({ limits: { timeoutMs: 1_000, tryTimeoutMs: 3_000 } });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const first = read(at('/x'));
      await arrived.promise;
      vi.advanceTimersByTime(900);
      const second = read(at('/x'));
      vi.advanceTimersByTime(200);
      expect(await first).toBeUndefined();
      release.resolve();
      expect(await second).toEqual(META);
      expect([host.requestedPaths, client.inFlight]).toEqual([['/x'], 0]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('return what is available on cancel and never reject', async () => {
    const leaver = new AbortController();
    host.scripts.set('/x', () => leaver.abort());
    await open();
    await read(at('/meta'));
    const found = await client.read([at('/meta'), at('/x'), 'nonsense'], leaver.signal);
    expect([...found]).toEqual([[at('/meta'), META]]);
    expect((await client.read([at('/meta')], AbortSignal.abort())).size).toBe(0);
  });

  it('are limited in documents and bytes', async () => {
    const big = JSON.stringify('x'.repeat(1_000));
    host.scripts.set('*', bytes(big));
    await open({ limits: { urisMax: 5, readingMaxBytes: 2_500 } });
    const found = await client.read(
      Array.from({ length: 9 }, (_, i) => at(`/${i}`)),
      neverAborted,
    );
    expect([found.size, host.requestedPaths.length]).toEqual([2, 5]);
  });
});
