import { createHash, randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { CID } from 'multiformats/cid';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { openPinnedStorage, type Storage } from '../../src/control/storage/open-storage.ts';
import type { PinningServiceLimits } from '../../src/control/storage/pinning-backend.ts';
import { HttpServer } from '../../src/servers/http/server.ts';
import { ipfsRoutes } from '../../src/servers/ipfs/server.ts';
import { temporaryFolder } from '../service/program.ts';
import { bodyOf, type ReceivedRequest, ScriptedService, sendJson } from './scripted-service.ts';

const TOKEN = 'pinning-secret';
const HELLO = 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e';

type Pin = {
  requestid: string;
  status: string;
  created: string;
  pin: { cid: string; name?: string; origins?: string[] };
};

let folder: string;
let pins: Map<string, Pin>;
let service: ScriptedService;
let storage: Storage;
let lines: string[];
let first: string;
let instead: ((requested: ReceivedRequest, response: ServerResponse) => boolean) | null;

/** Implements the IPFS Pinning Service API 1.0. */
async function answer(
  requested: ReceivedRequest,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await bodyOf(request);
  if (instead?.(requested, response)) return;
  if (requested.authorization !== `Bearer ${TOKEN}`) {
    return sendJson(response, 401, { error: { reason: 'UNAUTHORIZED', details: 'Access token is missing' } });
  }
  const id = requested.path.split('/')[2];
  if (requested.method === 'GET' && id === undefined) {
    const wanted = requested.query.get('status')?.split(',') ?? ['pinned'];
    const results = [...pins.values()].filter(
      ({ pin, status }) => pin.cid === requested.query.get('cid') && wanted.includes(status),
    );
    return sendJson(response, 200, { count: results.length, results });
  }
  if (requested.method === 'POST') {
    if (id !== undefined && !pins.delete(id))
      return sendJson(response, 404, { error: { reason: 'NOT_FOUND' } });
    const requestid = randomUUID();
    const created = new Date(0).toISOString();
    pins.set(requestid, { requestid, status: first, created, pin: JSON.parse(String(body)) });
    return sendJson(response, 202, { ...pins.get(requestid), delegates: [] });
  }
  const found = pins.get(id ?? '');
  if (found === undefined) sendJson(response, 404, { error: { reason: 'NOT_FOUND' } });
  else sendJson(response, 200, { ...found, delegates: [] });
}

async function open(limits: Partial<PinningServiceLimits> = {}): Promise<void> {
  storage = await openPinnedStorage(
    { folder, uriPrefix: () => 'https://x.example/ipfs/' },
    {
      url: `${service.url}/`,
      token: TOKEN,
      origins: ['/dns4/x.example/tcp/443/https'],
      limits: { pollIntervalMs: 20, silenceMs: 300, ...limits },
    },
    createLogger('trace', (line) => lines.push(line)),
  );
}

beforeEach(async () => {
  folder = temporaryFolder('pinning');
  pins = new Map();
  lines = [];
  first = 'queued';
  instead = null;
  service = await ScriptedService.start(answer);
  await open();
});

afterEach(async () => {
  await storage.close();
  await service.stop();
  expect(readdirSync(join(folder, 'incoming'))).toEqual([]);
  expect(lines.join('')).not.toContain(TOKEN);
});

async function put(text = 'hello world', name: string | null = 'a.txt'): Promise<string> {
  const content = (async function* () {
    yield Buffer.from(text);
  })();
  const sent = { name, type: 'text/plain', ownerId: 'family' };
  return (await storage.uploads.put(content, sent, new AbortController().signal)).cid;
}

async function startGateway() {
  const { fileStore, blocks } = storage;
  if (fileStore === null || blocks === null) throw new Error('nothing is kept here');
  const log = createLogger('silent', () => {});
  const gateway = new HttpServer(ipfsRoutes(fileStore, {}, blocks), log);
  return { gateway, port: (await gateway.listen()).port };
}

const setAll = (status: string): void => {
  for (const pin of pins.values()) pin.status = status;
};
const posts = (): string[] =>
  service.requests
    .filter(({ method }) => method === 'POST')
    .map(({ path }) => path.replace(/\/[^/]{36}$/, '/id'));

describe('a pinning service', () => {
  it('gets a pin request for a stored file', async () => {
    expect(await put()).toBe(HELLO);
    expect([...pins.values()].map(({ pin }) => pin)).toEqual([
      { cid: HELLO, name: 'a.txt', origins: ['/dns4/x.example/tcp/443/https'] },
    ]);
    const file = await storage.fileStore?.open(HELLO);
    expect(file).toMatchObject({ name: 'a.txt', type: 'text/plain', bytes: 11 });
    await file?.close();
  });

  it('fetches the blocks of a file from the local gateway', async () => {
    const { gateway, port } = await startGateway();
    const fetched = async (cid: string): Promise<Buffer> => {
      const response = await fetch(`http://127.0.0.1:${port}/ipfs/${cid}?format=raw`);
      expect(response.headers.get('content-type')).toBe('application/vnd.ipld.raw');
      const bytes = Buffer.from(await response.arrayBuffer());
      expect(createHash('sha256').update(bytes).digest()).toEqual(
        Buffer.from(CID.parse(cid).multihash.digest),
      );
      return bytes;
    };
    const text = `${'a'.repeat(1024 * 1024)}${'b'.repeat(1024 * 1024)}end`;
    const node = await fetched(await put(text));
    // A dag-pb link starts with the 36-byte CID of a raw block.
    const mark = Buffer.from('0a2401551220', 'hex');
    const leaves: CID[] = [];
    for (let at = node.indexOf(mark); at !== -1; at = node.indexOf(mark, at + 1)) {
      leaves.push(CID.decode(node.subarray(at + 2, at + 38)));
    }
    const parts = leaves.map((cid) => fetched(cid.toString()));
    expect(Buffer.concat(await Promise.all(parts)).toString()).toBe(text);
    expect((await fetch(`http://127.0.0.1:${port}/ipfs/${HELLO}?format=raw`)).status).toBe(404);
    await gateway.drain(0);
  });

  it('that rejects a file leaves none of its blocks stored', async () => {
    instead = ({ method }, response) => {
      if (method === 'POST') sendJson(response, 409, { error: { reason: 'INSUFFICIENT_FUNDS' } });
      return method === 'POST';
    };
    await expect(put('a'.repeat(2_000_000))).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    const reported = readdirSync(join(folder, 'blocks'), { recursive: true, withFileTypes: true });
    expect(reported.filter((entry) => entry.isFile())).toEqual([]);
  });

  it('gets one request per file, until the pin is lost', async () => {
    await put();
    await put();
    expect(posts()).toEqual(['/pins']);
    pins.clear();
    await put();
    expect(posts()).toEqual(['/pins', '/pins']);
  });

  it('is polled until the file is pinned, and no longer', async () => {
    const polls = (id: string | undefined): number =>
      service.requests.filter(({ path }) => path === `/pins/${id}`).length;
    await put();
    const [one] = pins.keys();
    await expect.poll(() => polls(one)).toBeGreaterThan(1);
    setAll('pinning');
    await expect.poll(() => polls(one)).toBeGreaterThan(3);
    setAll('pinned');
    const requested = polls(one);
    await put('another');
    const other = [...pins.keys()].at(-1);
    await expect.poll(() => polls(other)).toBeGreaterThan(3);
    expect(polls(one)).toBeLessThanOrEqual(requested + 1);
    expect(lines).toEqual([]);
  });

  it('that fails is retried, and finally abandoned', async () => {
    await put();
    first = 'failed';
    setAll('failed');
    await expect.poll(() => lines.length).toBe(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      cid: HELLO,
      reason: 'failed',
      msg: 'Gave up on a pin',
    });
    expect(posts()).toEqual(['/pins', '/pins/id', '/pins/id', '/pins/id']);
  });

  it('that never finishes is abandoned', async () => {
    await storage.close();
    await open({ pollsMax: 3 });
    await put();
    await expect.poll(() => lines.length).toBe(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ reason: 'timed out' });
  });

  const said = (status: number, body: unknown) => (response: ServerResponse) =>
    sendJson(response, status, body);
  it.each<[string, (response: ServerResponse) => void]>([
    ['rejects the token', said(401, { error: { reason: 'UNAUTHORIZED' } })],
    ['returns no JSON', (response) => void response.writeHead(202).end('<html>')],
    ['returns a path as id', said(202, { requestid: '../x', status: 'queued' })],
    ['fails immediately', said(202, { requestid: 'x', status: 'failed' })],
    ['does not respond', () => {}],
  ])('that %s makes storage unavailable, and nothing is stored', async (_what, refuse) => {
    instead = ({ method }, response) => {
      if (method === 'POST') refuse(response);
      return method === 'POST';
    };
    const failure = await put().catch((thrown) => thrown);
    expect(failure).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect(inspect(failure)).not.toContain(TOKEN);
    expect([
      await storage.fileStore?.open(HELLO),
      storage.fileStore?.quota.files,
      storage.fileStore?.quota.bytes,
    ]).toEqual([null, 0, 0]);
    instead = null;
    expect(await put()).toBe(HELLO);
  });
});
