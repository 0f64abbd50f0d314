import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessAborted } from '../../base/concurrency/unless-aborted.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { Failure } from '../../protocol/errors.ts';
import { parseOwnedName, processOwnedName, releaseId } from '../process-owned.ts';
import { buildBlocks, type FileBlocks, splitIntoLeaves } from './file-blocks.ts';

const STORAGE_FULL_CODES = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Converts a file system error to a Failure. */
export function toStorageFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  const code = (thrown as NodeJS.ErrnoException | null)?.code ?? '';
  return new Failure(STORAGE_FULL_CODES.has(code) ? 'STORAGE_FULL' : 'STORAGE_UNAVAILABLE', {
    cause: thrown,
  });
}

/** Deletes everything except folders of running processes. Returns false if another process has a folder. */
async function removeLeftovers(folder: string): Promise<boolean> {
  let isAlone = true;
  for (const name of await readdir(folder)) {
    const owner = parseOwnedName(name)?.owner ?? null;
    if (owner === 'another') isAlone = false;
    if (owner === null) await rm(join(folder, name), { recursive: true, force: true });
  }
  return isAlone;
}

/** Enough for the longest signature. */
const MEDIA_HEAD_BYTES = 16;

type Signature = readonly [type: string, ...parts: (readonly [at: number, text: string])[]];

/**
 * Magic numbers of images, audio, video and 3D models; none of these types can run scripts. Sources: MIME Sniffing
 * Standard §6, glTF 2.0 §4.4.
 */
const signatures: readonly Signature[] = [
  ['image/png', [0, '\x89PNG\r\n\x1a\n']],
  ['image/jpeg', [0, '\xff\xd8\xff']],
  ['image/gif', [0, 'GIF87a']],
  ['image/gif', [0, 'GIF89a']],
  ['image/webp', [0, 'RIFF'], [8, 'WEBPVP']],
  ['image/avif', [4, 'ftypavif']],
  ['audio/wave', [0, 'RIFF'], [8, 'WAVE']],
  ['audio/mpeg', [0, 'ID3']],
  ['video/mp4', [4, 'ftypisom']],
  ['video/mp4', [4, 'ftypmp4']],
  ['video/webm', [0, '\x1a\x45\xdf\xa3']],
  ['model/gltf-binary', [0, 'glTF\x02\0\0\0']],
];

/** Detects the media type from the first bytes, because clients may declare a wrong type. */
export function mediaTypeOf(head: Uint8Array): string | null {
  const text = Buffer.from(head.subarray(0, MEDIA_HEAD_BYTES)).toString('latin1');
  const found = signatures.find(([, ...parts]) => parts.every(([at, part]) => text.startsWith(part, at)));
  return found?.[0] ?? null;
}

/** A file that is complete and durable in the spool, but not in the backend yet. */
export type SpooledFile = Readonly<{
  path: string;
  cid: string;
  bytes: number;
  type: string | null;
  blocks: FileBlocks;
}>;

/** Temporary files of incoming uploads, in one folder per process. */
export class UploadSpool {
  /** Whether no other process used the parent folder at startup. If true, unfinished work found there is orphaned. */
  readonly isAlone: boolean;
  readonly #id: string;
  readonly #folder: string;
  readonly #fileMaxBytes: number;

  private constructor(id: string, folder: string, isAlone: boolean, fileMaxBytes: number) {
    this.#id = id;
    this.#folder = folder;
    this.isAlone = isAlone;
    this.#fileMaxBytes = fileMaxBytes;
  }

  /** Processes on one machine may share `parent`; different machines may not. */
  static async open(parent: string, fileMaxBytes: number): Promise<UploadSpool> {
    const id = randomUUID();
    const folder = join(parent, processOwnedName(id));
    makeFolder(folder, 0o700);
    return new UploadSpool(id, folder, await removeLeftovers(parent), fileMaxBytes);
  }

  /** Never rejects. The next start deletes anything that a concurrent write leaves behind. */
  async close(): Promise<void> {
    releaseId(this.#id);
    await rm(this.#folder, { recursive: true, force: true }).catch(() => {});
  }

  /**
   * Writes an upload to disk and computes its blocks. If it throws, no file remains.
   * @throws Failure FILE_TOO_LARGE, STORAGE_FULL, STORAGE_UNAVAILABLE, CLIENT_GONE; and errors from `bytes`.
   */
  async receive(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<SpooledFile> {
    const { path, handle } = await this.#create(bytes);
    const writer = new SpoolWriter(handle, this.#fileMaxBytes);
    try {
      const blocks = await buildBlocks(writer.writeThrough(splitIntoLeaves(untilAborted(bytes, signal))));
      await writer.finish();
      const type = mediaTypeOf(writer.head);
      return { path, cid: blocks.root.toString(), bytes: writer.bytes, type, blocks };
    } catch (thrown) {
      await handle.close().catch(() => {});
      await rm(path, { force: true }).catch(() => {});
      throw writer.failure ?? thrown;
    }
  }

  async remove({ path }: SpooledFile): Promise<void> {
    await rm(path, { force: true });
  }

  /** Writes a small file durably and returns its path. */
  async write(text: string): Promise<string> {
    const path = this.#newPath();
    try {
      await writeFile(path, text, { flag: 'wx', mode: 0o600, flush: true });
      return path;
    } catch (thrown) {
      await rm(path, { force: true });
      throw thrown;
    }
  }

  async #create(bytes: AsyncIterable<Uint8Array>): Promise<{ path: string; handle: FileHandle }> {
    const path = this.#newPath();
    try {
      return { path, handle: await open(path, 'wx', 0o600) };
    } catch (thrown) {
      await bytes[Symbol.asyncIterator]().return?.();
      throw toStorageFailure(thrown);
    }
  }

  #newPath(): string {
    return join(this.#folder, randomUUID());
  }
}

async function* untilAborted(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const pieces = bytes[Symbol.asyncIterator]();
  let isOver = false;
  try {
    while (true) {
      const next = await unlessAborted(pieces.next(), signal);
      isOver = next.done === true;
      if (next.done === true) return;
      yield next.value;
    }
  } catch (thrown) {
    throw signal.aborted ? new Failure('CLIENT_GONE') : thrown;
  } finally {
    // Not awaited, because a stalled source may never resolve.
    if (!isOver) pieces.return?.().catch(() => {});
  }
}

class SpoolWriter {
  bytes = 0;
  head: Uint8Array = new Uint8Array(0);
  /** Write failure, as opposed to a failure of the source. */
  failure: Failure | null = null;
  readonly #handle: FileHandle;
  readonly #fileMaxBytes: number;

  constructor(handle: FileHandle, fileMaxBytes: number) {
    this.#handle = handle;
    this.#fileMaxBytes = fileMaxBytes;
  }

  async *writeThrough(leaves: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    for await (const leaf of leaves) {
      if (this.bytes === 0) this.head = Uint8Array.from(leaf.subarray(0, MEDIA_HEAD_BYTES));
      this.bytes += leaf.length;
      await this.#recordFailure(this.#write(leaf));
      yield leaf;
    }
  }

  async finish(): Promise<void> {
    await this.#recordFailure(this.#handle.sync());
    await this.#recordFailure(this.#handle.close());
  }

  async #recordFailure(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (thrown) {
      this.failure = toStorageFailure(thrown);
      throw this.failure;
    }
  }

  async #write(leaf: Buffer): Promise<void> {
    if (this.bytes > this.#fileMaxBytes) {
      throw new Failure('FILE_TOO_LARGE', { facts: { fileMaxBytes: this.#fileMaxBytes } });
    }
    for (let at = 0; at < leaf.length; ) {
      at += (await this.#handle.write(leaf, at, leaf.length - at)).bytesWritten;
    }
  }
}
