import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import { crc32, deflateRaw, inflateRaw } from 'node:zlib';
import type { ResponseStore } from './store-cache.ts';

export const diskStoreLimits = {
  /** Larger responses are not stored. */
  responseMaxBytes: 1024 * 1024,
  /** Maximum total size of responses waiting to be written; further responses are not stored. */
  pendingMaxBytes: 16 * 1024 * 1024,
  /** Nothing is written if less space is free, because the database may be on the same disk. */
  freeMinBytes: 512 * 1024 * 1024,
};

/** Older records count as absent, so that a wrong response from a node does not stay forever. */
const RECORD_MAX_AGE_SECONDS = 30 * 24 * 3_600;

const compress = promisify(deflateRaw);
const decompress = promisify(inflateRaw);

/** Maximum size of a record. Most transactions take 2 to 6 KB, a page of 100 signatures about 9 KB. */
const RECORD_BYTES = 16 * 1024;
/** Records per set. The hash of a key selects a set, and one read fetches all of its records. */
const WAYS = 4;
const SET_BYTES = WAYS * RECORD_BYTES;

/** Magic number, which includes the format version. */
const MAGIC = 0x01545753;
/** Offsets in a record, whose numbers are little-endian. `key` is the SHA-256 of the key, `body` is compressed. */
const offsets = { magic: 0, key: 4, writtenAt: 36, bytes: 40, checksum: 44, body: 48 } as const;

const digestOf = (key: string): Buffer => createHash('sha256').update(key, 'latin1').digest();

const isRecord = (record: Buffer): boolean => record.readUInt32LE(offsets.magic) === MAGIC;

const isRecordOf = (record: Buffer, digest: Buffer): boolean =>
  isRecord(record) && record.compare(digest, 0, digest.length, offsets.key, offsets.writtenAt) === 0;

/** In seconds; 0 for a record that was never written, so that it is replaced first. */
const timeOf = (record: Buffer): number => (isRecord(record) ? record.readUInt32LE(offsets.writtenAt) : 0);

/** null if the record is too old or damaged. */
function bodyOf(record: Buffer): Buffer | null {
  if (timeOf(record) + RECORD_MAX_AGE_SECONDS < Date.now() / 1_000) return null;
  const body = record.subarray(offsets.body, offsets.body + record.readUInt32LE(offsets.bytes));
  return crc32(body) === record.readUInt32LE(offsets.checksum) ? body : null;
}

function recordOf(digest: Buffer, body: Buffer): Buffer {
  const head = Buffer.alloc(offsets.body);
  head.writeUInt32LE(MAGIC, offsets.magic);
  digest.copy(head, offsets.key);
  head.writeUInt32LE(Math.floor(Date.now() / 1_000), offsets.writtenAt);
  head.writeUInt32LE(body.length, offsets.bytes);
  head.writeUInt32LE(crc32(body), offsets.checksum);
  return Buffer.concat([head, body]);
}

/**
 * Store of immutable responses in one file of limited size, which all workers share without locks. The hash of a key
 * gives the few places where its record may be; the oldest record there is replaced. A record that does not match its
 * key and checksum, for example after a crash or a concurrent write, counts as absent. Errors count as absence too.
 */
export class DiskStore implements ResponseStore {
  readonly #path: string;
  readonly #file: Promise<FileHandle>;
  readonly #sets: number;
  readonly #pending = new Map<string, Buffer>();
  #pendingBytes = 0;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;

  /**
   * @param maxBytes - size of the file, which is sparse until it is used.
   * @param onError - called if the file cannot be opened; the store then stays empty.
   */
  constructor(path: string, maxBytes: number, onError: (error: unknown) => void) {
    this.#sets = Math.max(1, Math.floor(maxBytes / SET_BYTES));
    this.#path = path;
    this.#file = this.#open(path);
    this.#file.catch(onError);
  }

  get(key: string, callback: (body: Buffer | null) => void): void {
    const pending = this.#pending.get(key);
    if (pending !== undefined) callback(pending);
    else this.#read(digestOf(key)).then(callback, () => callback(null));
  }

  set(key: string, body: Buffer): void {
    const { responseMaxBytes, pendingMaxBytes } = diskStoreLimits;
    if (body.length > responseMaxBytes || this.#pendingBytes + body.length > pendingMaxBytes) return;
    if (this.#isClosed || this.#pending.has(key)) return;
    this.#pending.set(key, body);
    this.#pendingBytes += body.length;
    const write = (): Promise<void> => this.#write(digestOf(key), body).catch(() => undefined);
    this.#writing = this.#writing.then(write).then(() => {
      this.#pending.delete(key);
      this.#pendingBytes -= body.length;
    });
  }

  /** Waits until pending responses are written, then closes the file. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
    await this.#file.then((file) => file.close()).catch(() => undefined);
  }

  async #open(path: string): Promise<FileHandle> {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    await file.truncate(this.#sets * SET_BYTES);
    return file;
  }

  #positionOf(digest: Buffer): number {
    return (digest.readUIntLE(0, 6) % this.#sets) * SET_BYTES;
  }

  async #readSet(digest: Buffer): Promise<Buffer[]> {
    const file = await this.#file;
    const { buffer } = await file.read(Buffer.alloc(SET_BYTES), 0, SET_BYTES, this.#positionOf(digest));
    return Array.from({ length: WAYS }, (_, way) =>
      buffer.subarray(way * RECORD_BYTES, (way + 1) * RECORD_BYTES),
    );
  }

  async #read(digest: Buffer): Promise<Buffer | null> {
    const record = (await this.#readSet(digest)).find((one) => isRecordOf(one, digest));
    const body = record === undefined ? null : bodyOf(record);
    return body && decompress(body, { maxOutputLength: diskStoreLimits.responseMaxBytes });
  }

  async #write(digest: Buffer, body: Buffer): Promise<void> {
    const record = recordOf(digest, await compress(body, { level: 1 }));
    const { bavail, bsize } = await statfs(this.#path);
    if (record.length > RECORD_BYTES || bavail * bsize < diskStoreLimits.freeMinBytes) return;
    const records = await this.#readSet(digest);
    const own = records.findIndex((one) => isRecordOf(one, digest));
    const times = records.map(timeOf);
    const way = own >= 0 ? own : times.indexOf(Math.min(...times));
    await (await this.#file).write(record, 0, record.length, this.#positionOf(digest) + way * RECORD_BYTES);
  }
}
