import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mapConcurrent } from '../../base/concurrency/map-concurrent.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { makeFolder } from '../../base/make-folder.ts';
import type { CachedDocument } from './document.ts';
import type { OffChainLimits } from './limits.ts';

/** Limits file operations in flight, because libuv's thread pool is shared. */
const FILE_CONCURRENCY = 2;
const NAME = /^[0-9a-f]{64}$/;
const DRAFT = /\.draft$/;
const FOLDER = /^[0-9a-f]{2}$/;

/**
 * LRU cache of documents in one folder, limited in number and total size. File names are hashes, so no URI can escape
 * the folder. Files are written under a temporary name and renamed, so they are complete; damaged files count as
 * absent. Only one process may use the folder. Methods never reject: if the disk fails, documents count as absent.
 */
export class DiskCache {
  readonly #folder: string;
  readonly #limits: OffChainLimits;
  readonly #now: () => number;
  /** Sizes by name, least recently used first. */
  readonly #files = new Map<string, number>();
  /** Pending contents by name; null: the file will be deleted. */
  readonly #pendingWrites = new Map<string, CachedDocument | null>();
  readonly #semaphore = new Semaphore(FILE_CONCURRENCY);
  bytes = 0;
  #settled: (() => void)[] = [];

  private constructor(folder: string, limits: OffChainLimits, now: () => number) {
    this.#folder = folder;
    this.#limits = limits;
    this.#now = now;
  }

  /** @throws a system error if the folder cannot be created or read. */
  static async open(folder: string, limits: OffChainLimits, now: () => number): Promise<DiskCache> {
    makeFolder(folder, 0o700);
    const cache = new DiskCache(folder, limits, now);
    await cache.#loadExisting();
    return cache;
  }

  get files(): number {
    return this.#files.size;
  }

  async get(uri: string): Promise<CachedDocument | null> {
    const name = sha256(uri);
    if (!this.#files.has(name)) return null;
    const file = await this.#semaphore.run(() => this.#read(name, uri)).catch(() => null);
    const cached = file === null ? null : parseCacheFile(file, uri);
    if (cached === null || cached.until <= this.#now()) {
      await this.#remove(name);
      return null;
    }
    this.#touch(name);
    return cached;
  }

  /** Whether a file exists; it may be expired or damaged. */
  has(uri: string): boolean {
    return this.#files.has(sha256(uri));
  }

  async set(uri: string, cached: CachedDocument): Promise<void> {
    const name = sha256(uri);
    const isWriting = this.#pendingWrites.has(name);
    if (!isWriting && this.#pendingWrites.size >= this.#limits.diskQueueMax) return;
    this.#pendingWrites.set(name, cached);
    if (!isWriting) await this.#writePending(name, uri);
  }

  async delete(uri: string): Promise<void> {
    const name = sha256(uri);
    if (this.#pendingWrites.has(name)) this.#pendingWrites.set(name, null);
    await this.#remove(name);
  }

  settled(): Promise<void> {
    return this.#pendingWrites.size === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.#settled.push(resolve));
  }

  #path(name: string): string {
    return join(this.#folder, name.slice(0, 2), name);
  }

  async #read(name: string, uri: string): Promise<Buffer | null> {
    const file = await open(this.#path(name), 'r');
    try {
      const { size } = await file.stat();
      const tooLarge = size > this.#limits.documentMaxBytes + cacheHeadMaxBytes(uri);
      return tooLarge ? null : await file.readFile();
    } finally {
      await file.close();
    }
  }

  /** At most one writer runs per name. */
  async #writePending(name: string, uri: string): Promise<void> {
    let done: CachedDocument | null | undefined;
    try {
      while (this.#pendingWrites.get(name) !== done) {
        const cached = this.#pendingWrites.get(name) ?? null;
        done = cached;
        if (cached === null) await this.#remove(name);
        else await this.#semaphore.run(() => this.#write(name, cacheFile(uri, cached)));
        await this.#evict();
      }
    } catch {
      // The disk may be full or broken. Readers get the fetched document anyway.
    }
    this.#pendingWrites.delete(name);
    if (this.#pendingWrites.size === 0) for (const settled of this.#settled.splice(0)) settled();
  }

  async #write(name: string, bytes: Buffer): Promise<void> {
    const path = this.#path(name);
    const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.draft`;
    await mkdir(join(this.#folder, name.slice(0, 2)), { recursive: true, mode: 0o700 });
    try {
      await writeFile(draft, bytes, { mode: 0o600, flag: 'wx' });
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
    this.#removeEntry(name);
    this.#addEntry(name, bytes.length);
  }

  async #evict(): Promise<void> {
    const { diskMaxBytes, diskFilesMax } = this.#limits;
    for (const oldest of this.#files.keys()) {
      if (this.bytes <= diskMaxBytes && this.#files.size <= diskFilesMax) return;
      await this.#remove(oldest);
    }
  }

  #addEntry(name: string, bytes: number): void {
    this.#files.set(name, bytes);
    this.bytes += bytes;
  }

  #removeEntry(name: string): void {
    this.bytes -= this.#files.get(name) ?? 0;
    this.#files.delete(name);
  }

  #touch(name: string): void {
    const bytes = this.#files.get(name);
    if (bytes === undefined) return;
    this.#files.delete(name);
    this.#files.set(name, bytes);
  }

  async #remove(name: string): Promise<void> {
    if (!this.#files.has(name)) return;
    this.#removeEntry(name);
    await rm(this.#path(name), { force: true }).catch(() => undefined);
  }

  async #loadExisting(): Promise<void> {
    const found: { name: string; bytes: number; at: number }[] = [];
    const folders = (await readdir(this.#folder)).filter((name) => FOLDER.test(name));
    for (const folder of folders) {
      const names = await readdir(join(this.#folder, folder));
      await mapConcurrent(names, FILE_CONCURRENCY, async (name) => {
        const path = join(this.#folder, folder, name);
        if (DRAFT.test(name)) await rm(path, { force: true }).catch(() => undefined);
        if (!NAME.test(name) || !name.startsWith(folder)) return;
        const { size, mtimeMs } = await stat(path);
        found.push({ name, bytes: size, at: mtimeMs });
      });
    }
    for (const { name, bytes } of found.sort((a, b) => a.at - b.at)) this.#addEntry(name, bytes);
    await this.#evict();
  }
}

/** Version of the file format: a JSON line with URI, length and digest (to detect damage), then the document. */
const FORMAT = 1;
const NEWLINE = 0x0a;
/** Length of the longest escape of a character, such as `\u0001`. */
const CHARACTER_MAX_BYTES = 6;
const HEAD_FIXED_MAX_BYTES = 512;

export const cacheHeadMaxBytes = (uri: string): number =>
  HEAD_FIXED_MAX_BYTES + uri.length * CHARACTER_MAX_BYTES;

/** Used for file names and checksums. */
export const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

type Head = Readonly<{
  format: number;
  uri: string;
  until: number;
  bytes: number | null;
  sha256: string | null;
}>;

export function cacheFile(uri: string, { document, until }: CachedDocument): Buffer {
  const [bytes, digest] = document === null ? [null, null] : [document.length, sha256(document)];
  const head: Head = { format: FORMAT, uri, until, bytes, sha256: digest };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), document ?? Buffer.alloc(0)]);
}

function headOf(line: Buffer): Partial<Head> | null {
  try {
    const head: unknown = JSON.parse(line.toString('utf8'));
    return head !== null && typeof head === 'object' ? head : null;
  } catch {
    return null;
  }
}

export function parseCacheFile(file: Buffer, uri: string): CachedDocument | null {
  const end = file.indexOf(NEWLINE);
  const head = end < 0 || end >= cacheHeadMaxBytes(uri) ? null : headOf(file.subarray(0, end));
  if (head?.format !== FORMAT || head.uri !== uri || !Number.isSafeInteger(head.until)) return null;
  const until = Number(head.until);
  const body = file.subarray(end + 1);
  if (head.bytes === null) return body.length === 0 ? { document: null, until } : null;
  if (head.bytes !== body.length || head.sha256 !== sha256(body)) return null;
  return { document: body, until };
}
