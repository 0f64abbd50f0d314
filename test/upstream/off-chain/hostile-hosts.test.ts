import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

async function read(uri: string): Promise<unknown> {
  return (await client.read([uri], neverAborted)).get(uri);
}

async function readOf(script: Script, limits: Partial<typeof offChainLimits> = {}): Promise<unknown> {
  host.scripts.set('/x', script);
  await open({ limits: { tryTimeoutMs: 5_000, timeoutMs: 10_000, ...limits } });
  return read(at('/x'));
}

describe('off-chain JSON', () => {
  it.each([
    ['JSON', json(META)],
    ['gzip', bytes(gzipSync(TEXT), { 'content-encoding': 'gzip' })],
    ['a redirect to JSON', redirect('/meta')],
  ] as [string, Script][])('is read from %s', async (_, script) =>
    expect(await readOf(script)).toEqual(META),
  );

  it.each([
    ['HTML', bytes('<html>', { 'content-type': 'text/html' })],
    ['404', bytes(TEXT, {}, 404)],
    ['a content-length above the limit', bytes(`"${'x'.repeat(MAX)}"`)],
    ['a gzip bomb', bytes(gzipSync(Buffer.alloc(64 * MAX, ' ')), { 'content-encoding': 'gzip' })],
    ['a redirect to a file', redirect('file:///etc/passwd')],
    ['a redirect to itself', redirect('/x')],
    [
      'a truncated body',
      (_, reply, socket) => {
        reply.writeHead(200, { 'content-length': '100' });
        reply.write(TEXT, () => socket.destroy());
      },
    ],
    ['nothing', noResponse],
  ] as [string, Script][])('is absent if the host sends %s', async (_, script) => {
    expect(await readOf(script, { tryTimeoutMs: 300, timeoutMs: 1_000 })).toBeUndefined();
  });

  it('times out if the host sends a body slowly', async () => {
    const dripping: Script = (_, __, socket) =>
      drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n"', 'x');
    const startedAt = performance.now();
    expect(await readOf(dripping, { tryTimeoutMs: 200 })).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });

  it('is aborted at the size limit if the response is endless', async () => {
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

  it('is read through a limited number of redirects', async () => {
    const { redirectsMax } = offChainLimits;
    for (let hop = 0; hop <= redirectsMax; hop++) host.scripts.set(`/${hop}`, redirect(`/${hop + 1}`));
    host.scripts.set(`/${redirectsMax + 1}`, json(META));
    await open();
    expect(await read(at('/1'))).toEqual(META);
    expect(await read(at('/0'))).toBeUndefined();
  });

  it('is read from data URIs, and from gateways in the configured order', async () => {
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

/** Sends the head, then a little at a time. */
function drip(socket: Parameters<Script>[2], head: string, drop: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write(drop), 20);
  socket.on('close', () => clearInterval(timer));
}

describe('forbidden address', () => {
  /** A server on another loopback address that represents an internal host. */
  async function inside(): Promise<Host> {
    const victim = await startHost({ '*': json({ secret: true }) }, '127.0.0.1', host.port);
    closing.push(victim.close);
    return victim;
  }

  it.each(['http://127.0.0.1:PORT/', 'http://localhost:PORT/'])(
    'is rejected in a URI and in a redirect: %s',
    async (form) => {
      const victim = await inside();
      const uri = form.replace('PORT', String(host.port));
      host.scripts.set('/x', redirect(uri));
      const { createHostResolver } = await import('../../../src/upstream/off-chain/checked-connect.ts');
      const real = createHostResolver(100);
      const resolve = async (name: string) => (name === 'a.example' ? ['127.0.0.2'] : real(name));
      await open({ resolve });
      const startedAt = performance.now();
      expect(await read(uri)).toBeUndefined();
      expect(await read(at('/x'))).toBeUndefined();
      expect([victim.requestedPaths, victim.connections()]).toEqual([[], 0]);
      // Rejected without a connection attempt.
      expect(performance.now() - startedAt).toBeLessThan(1_000);
    },
  );

  it('is rejected when any address of a name is forbidden', async () => {
    const victim = await inside();
    await open({ resolve: async () => ['127.0.0.2', '127.0.0.1'] });
    expect(await read(at('/meta'))).toBeUndefined();
    expect([host.connections(), victim.connections()]).toEqual([0, 0]);
  });

  it('receives no request when the connection to an allowed address reaches it', async () => {
    const victim = await inside();
    // A connection to 0.0.0.0 reaches 127.0.0.1.
    const resolve = async () => ['0.0.0.0'];
    await open({ resolve, rules: { allowedNetworks: ['0.0.0.0/32'], ports: [host.port] } });
    expect(await read(at('/meta'))).toBeUndefined();
    expect([victim.connections(), victim.requestedPaths]).toEqual([1, []]);
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
});

describe('concurrent reads', () => {
  it('continue when one is canceled, and abort when the last is', async () => {
    const arrived = Promise.withResolvers<Parameters<Script>[2]>();
    host.scripts.set('/x', (_, __, socket) => arrived.resolve(socket));
    await open();
    const controllers = [new AbortController(), new AbortController()];
    const readings = controllers.map(({ signal }) => client.read([at('/x')], signal));
    const socket = await arrived.promise;
    controllers[0]?.abort();
    expect((await readings[0])?.size).toBe(0);
    expect([client.inFlight, client.queues.active, socket.destroyed]).toEqual([1, 1, false]);
    const closed = once(socket, 'close');
    controllers[1]?.abort();
    expect((await readings[1])?.size).toBe(0);
    await closed;
    expect(client.inFlight).toBe(0);
  });

  it('are limited in documents and bytes', async () => {
    host.scripts.set('*', bytes(JSON.stringify('x'.repeat(1_000))));
    await open({ limits: { urisMax: 5, readingMaxBytes: 2_500 } });
    const uris = Array.from({ length: 9 }, (_, i) => at(`/${i}`));
    const found = await client.read(uris, neverAborted);
    expect([found.size, host.requestedPaths.length]).toEqual([2, 5]);
  });
});
