import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openKuboStorage, type Storage } from '../../src/control/storage/open-storage.ts';
import { temporaryFolder } from '../service/program.ts';
import { KuboService } from './kubo-service.ts';
import { sendJson } from './scripted-service.ts';
import { patterned } from './storage-server.ts';

const MIB = 1024 * 1024;
const TOKEN = 'Bearer kubo-secret';

let folder: string;
let kubo: KuboService;
let storage: Storage;

beforeEach(async () => {
  folder = temporaryFolder('kubo');
  kubo = await KuboService.start();
  storage = await openKuboStorage(
    { folder, uriPrefix: () => 'https://x.example/ipfs/' },
    { url: kubo.service.url, authorization: TOKEN, limits: { silenceMs: 300, connectTimeoutMs: 300 } },
  );
});

afterEach(async () => {
  await storage.close();
  await kubo.service.stop();
  expect(readdirSync(join(folder, 'incoming'))).toEqual([]);
});

async function put(bytes: Uint8Array): Promise<string> {
  const content = (async function* () {
    yield bytes;
  })();
  const sent = { name: 'a', type: 'image/png', ownerId: 'family' };
  return (await storage.uploads.put(content, sent, new AbortController().signal)).cid;
}

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (failure) => failure,
  );

describe('a Kubo node', () => {
  it.each([0, 1, MIB, MIB + 1, 5 * MIB])('pins a file of %d bytes under our CID', async (length) => {
    kubo.behavior = { authorization: TOKEN };
    const cid = await put(patterned(length));
    expect(kubo.pinned).toEqual(new Set([cid]));
    expect(kubo.service.requests.map(({ path }) => path)).toEqual(['/api/v0/add']);
    expect(Object.fromEntries(kubo.service.requests[0]?.query ?? [])).toMatchObject({
      'cid-version': '1',
      'raw-leaves': 'true',
      chunker: 'size-1048576',
      pin: 'true',
    });
  });

  it.each([MIB, 3 * MIB + 7])('that computes another CID for %d bytes gets our blocks', async (length) => {
    kubo.behavior = { chunkBytes: 256 * 1024 };
    const bytes = patterned(length);
    const cid = await put(bytes);
    expect(kubo.service.requests.map(({ path }) => path)).toEqual(['/api/v0/add', '/api/v0/dag/import']);
    expect(kubo.pinned.has(cid)).toBe(true);
    // Every CAR file with one root starts like this. Source: CARv1, "Header".
    expect(kubo.carHeader.toString('hex')).toMatch(
      /^3aa265726f6f747381d82a58250001(55|70)1220[0-9a-f]{64}6776657273696f6e01$/,
    );
    const leaves = kubo.blocks.filter((block) => block.cid.code === 0x55).map((block) => block.bytes);
    expect(Buffer.concat(leaves).equals(bytes)).toBe(true);
    expect(kubo.blocks.at(-1)?.cid.toString()).toBe(cid);
  });

  it.each([
    [
      'fails after its headers',
      { add: (response) => sendJson(response, 200, { Message: 'x', Type: 'error' }) },
    ],
    ['sends 300 kB', { add: (response) => void response.end(`${' '.repeat(300_000)}{"Hash":"x"}`) }],
    ['does not respond', { add: () => {} }],
    ['redirects', { add: (response) => void response.writeHead(307, { location: '/x' }).end() }],
    ['cannot pin our blocks', { chunkBytes: 1024, pinError: 'no room' }],
  ] as [string, KuboService['behavior']][])('that %s makes storage unavailable', async (_what, manner) => {
    kubo.behavior = manner;
    const failure = await failureOf(put(patterned(2 * MIB)));
    expect(failure).toMatchObject({ code: 'STORAGE_UNAVAILABLE', retryAfter: 1 });
    expect(inspect(failure)).not.toContain('kubo-secret');
  });
});
