import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { importByteStream } from 'ipfs-unixfs-importer';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BOUNDARY, HEAD, patterned, StorageServer } from './storage-server.ts';

const MIB = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

let listener: StorageServer;

beforeEach(async () => {
  listener = await StorageServer.start();
});
afterEach(() => listener.stop());

/** The reference importer's CID of a repeated piece. */
async function cidOf(piece: Buffer, length = piece.length): Promise<string> {
  async function* content(): AsyncGenerator<Uint8Array> {
    for (let sent = 0; sent < length; sent += piece.length) yield piece.subarray(0, length - sent);
  }
  const nowhere = { put: (cid: unknown) => cid } as unknown as Parameters<typeof importByteStream>[1];
  return (await importByteStream(content(), nowhere, { profile: 'unixfs-v1-2025' })).cid.toString();
}

async function fetched(cid: string): Promise<Buffer> {
  const response = await fetch(`http://127.0.0.1:${listener.port}/ipfs/${cid}`);
  return Buffer.from(await response.arrayBuffer());
}

describe('an upload', () => {
  it.each([
    ['nothing', 0],
    ['1 byte', 1],
    ['1 MiB', MIB],
    ['1 MiB and a byte', MIB + 1],
    ['10 MB', 10_000_000],
  ])('of %s has the reference CID, and is served unchanged', async (_what, length) => {
    const bytes = patterned(length);
    const { status, body } = await listener.upload(bytes);
    const cid = await cidOf(bytes);
    expect([status, body]).toEqual([200, { cid, uri: `/ipfs/${cid}` }]);
    expect((await fetched(cid)).equals(bytes)).toBe(true);
    expect(listener.onDisk()).toEqual([cid, `${cid}.json`]);
  });

  it('of 50 MiB takes no more memory than one of 5', async () => {
    const piece = patterned(64 * 1024);
    /** Equally many samples, because more samples see higher peaks. */
    const LOOKS = 12;
    const heldMost = async (length: number): Promise<number> => {
      const every = Math.ceil(length / piece.length / LOOKS);
      let most = 0;
      let pieces = 0;
      listener.onPiece = () => {
        if (pieces++ % every !== 0) return;
        collectGarbage();
        most = Math.max(most, process.memoryUsage().arrayBuffers);
      };
      expect((await listener.upload(piece, length)).status).toBe(200);
      return most;
    };
    const small = await heldMost(5 * MIB);
    const large = await heldMost(50 * MIB);
    // Buffers vary by a few MiB; holding the file would add 45.
    expect(large).toBeLessThan(small + 16 * MIB);
  });

  it('of the same bytes, twice at once, is stored once', async () => {
    const bytes = patterned(3 * MIB + 5);
    const answers = await Promise.all([
      listener.upload(bytes),
      listener.upload(bytes),
      listener.upload(bytes),
    ]);
    const cid = await cidOf(bytes);
    expect(answers.map(({ body }) => body.cid)).toEqual([cid, cid, cid]);
    expect([listener.onDisk(), listener.storage.fileStore.files]).toEqual([[cid, `${cid}.json`], 1]);
  });

  it('that is aborted leaves nothing behind', async () => {
    for (const sent of [1, 100_000, 3 * MIB]) {
      const socket = listener.connect();
      const type = `content-type: multipart/form-data; boundary=${BOUNDARY}`;
      socket.write(`POST /upload HTTP/1.1\r\nhost: x\r\n${type}\r\ncontent-length: 9999999\r\n\r\n`);
      socket.write(HEAD);
      socket.write(patterned(sent));
      const comings = (): number => listener.storage.uploads.streaming;
      await expect.poll(comings).toBe(1);
      await expect.poll(() => socket.writableLength).toBe(0);
      socket.destroy();
      await expect.poll(comings).toBe(0);
      expect(listener.onDisk()).toEqual([]);
    }
    expect([
      listener.storage.fileStore.files,
      listener.storage.fileStore.bytes,
      listener.http.inFlight,
    ]).toEqual([0, 0, 0]);
  });

  it('into a full store is rejected and leaves nothing behind', async () => {
    await listener.stop();
    listener = await StorageServer.start({ totalMaxBytes: 5 * MIB });
    const first = patterned(4 * MIB);
    expect((await listener.upload(first)).status).toBe(200);
    const full = await listener.upload(patterned(2 * MIB));
    expect([full.status, full.body]).toMatchObject([
      507,
      { success: false, error: { code: 'STORAGE_FULL' } },
    ]);
    expect((await listener.upload(first)).status).toBe(200);
    expect(listener.onDisk()).toHaveLength(2);
  });

  it('above the size limit is rejected while it arrives', async () => {
    await listener.stop();
    listener = await StorageServer.start({ fileMaxBytes: 2 * MIB });
    const socket = listener.connect();
    const type = `content-type: multipart/form-data; boundary=${BOUNDARY}`;
    socket.write(`POST /upload HTTP/1.1\r\nhost: x\r\n${type}\r\ncontent-length: 99999999\r\n\r\n`);
    socket.write(HEAD);
    socket.write(patterned(4 * MIB));
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 413 .*"FILE_TOO_LARGE"/s);
    expect(listener.onDisk()).toEqual([]);
  });
});
