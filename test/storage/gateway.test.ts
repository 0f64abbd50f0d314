import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { patterned, StorageServer } from './storage-server.ts';

const MIB = 1024 * 1024;
const bytes = patterned(3 * MIB + 11);

let listener: StorageServer;
let cid: string;

beforeEach(async () => {
  listener = await StorageServer.start({ openMax: 3, responseMaxMs: 30_000 });
  cid = await listener.store(bytes);
});

afterEach(async () => {
  vi.useRealTimers();
  await expect.poll(() => listener.opened.open - listener.opened.closed).toBe(0);
  await listener.stop();
});

const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
  fetch(`http://127.0.0.1:${listener.port}${path}`, { method, headers, redirect: 'manual' });
const bodyOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());

describe('a stored file', () => {
  it('is served completely, cacheable forever and embeddable in any page', async () => {
    const response = await get(`/ipfs/${cid}`);
    expect(response.status).toBe(200);
    expect((await bodyOf(response)).equals(bytes)).toBe(true);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'accept-ranges': 'bytes',
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=29536000, immutable',
      'content-disposition': `attachment; filename="${cid}"; filename*=UTF-8''${cid}`,
      'content-length': String(bytes.length),
      'content-security-policy': expect.stringMatching(/^sandbox; default-src 'none'; img-src 'self'/),
      'content-type': 'application/octet-stream',
      'cross-origin-resource-policy': 'cross-origin',
      etag: `"${cid}"`,
      'x-content-type-options': 'nosniff',
    });
  });

  it.each([
    [`bytes=${3 * MIB}-`, 3 * MIB, 3 * MIB + 11],
    [`bytes=${MIB - 1}-${MIB}`, MIB - 1, MIB + 1],
  ])('is served for a byte range: %s', async (range, start, end) => {
    const response = await get(`/ipfs/${cid}`, { range });
    expect([response.status, response.headers.get('content-range')]).toEqual([
      206,
      `bytes ${start}-${end - 1}/${bytes.length}`,
    ]);
    expect((await bodyOf(response)).equals(bytes.subarray(start, end))).toBe(true);
  });

  it('is not sent again for a matching ETag', async () => {
    const response = await get(`/ipfs/${cid}`, { 'if-none-match': `"x", W/"${cid}"` });
    expect([response.status, response.headers.get('etag'), (await bodyOf(response)).length]).toEqual([
      304,
      `"${cid}"`,
      0,
    ]);
    expect((await get(`/ipfs/${cid}`, { 'if-none-match': '"x"' }, 'HEAD')).status).toBe(200);
  });

  it.each([
    ['image/svg+xml', 'a.svg', 'image/svg+xml', `inline; filename="a.svg"; filename*=UTF-8''a.svg`],
    [
      'video/mp4',
      'ж "x".mp4',
      'video/mp4',
      `inline; filename="_ _x_.mp4"; filename*=UTF-8''%D0%B6%20%22x%22.mp4`,
    ],
    ['text/html', 'a.html', 'text/html; charset=utf-8', /^attachment; filename="a.html"/],
    ['text/html\r\nx: y', 'a\r\nb: c', 'application/octet-stream', /^attachment; filename="ab: c"/],
  ])(
    'of the type %j is displayed only if it cannot run scripts',
    async (type, name, shownType, disposition) => {
      const response = await get(`/ipfs/${await listener.store(Buffer.from(type), { name, type })}`);
      await bodyOf(response);
      expect(response.headers.get('content-type')).toBe(shownType);
      expect(response.headers.get('content-disposition')).toEqual(
        typeof disposition === 'string' ? disposition : expect.stringMatching(disposition),
      );
      expect(response.headers.get('x')).toBeNull();
    },
  );
});

describe('a path that is not a stored file', () => {
  it('returns 404', async () => {
    const other = cid.replace(/.{4}$/, 'aaaa');
    const names = ['x', '..', '.', '%2e%2e', '%00', 'bafkqaaa', '*', `${cid}.json`, `${cid}%2f..`];
    for (const requested of [other, ...names]) {
      const client = listener.connect();
      client.write(`GET /ipfs/${requested} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      const text = String((await once(client, 'data'))[0]);
      expect(text).toMatch(/^HTTP\/1.1 404 /);
      expect(text).toContain('"code":"FILE_NOT_FOUND"');
      expect(text).toContain('cache-control: no-store');
      client.destroy();
    }
  });
});

describe('a client of the gateway', () => {
  async function stalled(large: string): Promise<ReturnType<StorageServer['connect']>> {
    const { open } = listener.opened;
    const client = listener.connect();
    client.pause();
    client.write(`GET /ipfs/${large} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await expect.poll(() => listener.opened.open).toBe(open + 1);
    return client;
  }

  it('releases its file when it disconnects', async () => {
    const large = await listener.store(patterned(MIB), { times: 40 });
    const clients = [await stalled(large), await stalled(large)];
    expect(listener.opened.open - listener.opened.closed).toBe(2);
    for (const client of clients) client.destroy();
    await expect.poll(() => listener.opened.open - listener.opened.closed).toBe(0);
  });

  it('gets 503 while too many files are being read', async () => {
    const large = await listener.store(patterned(MIB), { times: 40 });
    const clients = [await stalled(large), await stalled(large), await stalled(large)];
    const refused = await get(`/ipfs/${cid}`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    await bodyOf(refused);
    for (const client of clients) client.destroy();
    await expect.poll(() => listener.opened.open - listener.opened.closed).toBe(0);
    const response = await get(`/ipfs/${cid}`);
    expect([response.status, (await bodyOf(response)).length]).toEqual([200, bytes.length]);
  });

  it('is disconnected long before the total timeout if it reads nothing', async () => {
    await listener.stop();
    listener = await StorageServer.start({ progressMs: 100, progressMinBytes: 128 * 1024 });
    const large = await listener.store(patterned(MIB), { times: 40 });
    const clients = [await stalled(large), await stalled(large)];
    await expect.poll(() => listener.opened.closed, { timeout: 10_000 }).toBe(2);
    for (const client of clients) client.resume();
    await Promise.all(clients.map((client) => once(client, 'close')));
  });
});
