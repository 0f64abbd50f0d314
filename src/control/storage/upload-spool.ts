import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessAborted } from '../../base/concurrency/unless-aborted.ts';
import { Failure } from '../../protocol/errors.ts';
import { buildBlocks, type FileBlocks, splitIntoLeaves } from './file-blocks.ts';
import { MEDIA_HEAD_BYTES, mediaTypeOf } from './media-type.ts';
import { openProcessFolder, type ProcessFolder } from './process-folder.ts';
import { toStorageFailure } from './storage-failure.ts';

/** A whole file that is on the disk, and not yet anywhere else. */
export type SpooledFile = Readonly<{
  path: string;
  cid: string;
  bytes: number;
  /** What its first bytes say it is; null when they say nothing. */
  type: string | null;
  blocks: FileBlocks;
}>;

/** Files while they come: each under a name of its own in a folder of this process, which nothing outlives. */
export class UploadSpool {
  readonly #folder: ProcessFolder;
  readonly #fileMaxBytes: number;

  private constructor(folder: ProcessFolder, fileMaxBytes: number) {
    this.#folder = folder;
    this.#fileMaxBytes = fileMaxBytes;
  }

  /**
   * Removes what runs that died have left in the folder. Several processes of one machine may have it, of several
   * machines not.
   */
  static async open(folder: string, fileMaxBytes: number): Promise<UploadSpool> {
    return new UploadSpool(await openProcessFolder(folder), fileMaxBytes);
  }

  /** Whether no other process had the folder when it was opened: what is half done there is left by the dead. */
  get isAlone(): boolean {
    return this.#folder.isAlone;
  }

  /** Removes what still comes. */
  close(): Promise<void> {
    return this.#folder.close();
  }

  /**
   * Writes a file to the disk while it comes, and finds its blocks.
   * @throws Failure FILE_TOO_LARGE, STORAGE_FULL, STORAGE_UNAVAILABLE, CLIENT_GONE when the signal is aborted, and
   * what `bytes` throws. Nothing is left then.
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

  /** Removes a file, unless it was moved away. */
  async remove({ path }: SpooledFile): Promise<void> {
    await rm(path, { force: true });
  }

  /** A small file, written as safely as large ones. @returns where it is. */
  async write(text: string): Promise<string> {
    const path = this.#newPath();
    try {
      const handle = await open(path, 'wx', 0o600);
      try {
        await handle.writeFile(text);
        await handle.sync();
      } finally {
        await handle.close();
      }
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
    return join(this.#folder.path, randomUUID());
  }
}

/** Bytes as they come, until the signal says that nobody waits for them any more. @throws Failure CLIENT_GONE then. */
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
    // Not waited for: what comes no further may not answer to this either.
    if (!isOver) pieces.return?.().catch(() => {});
  }
}

/** The way of leaves through the disk, with what is learned of the file on it. */
class SpoolWriter {
  bytes = 0;
  head: Uint8Array = new Uint8Array(0);
  /** What went wrong here, and not with the bytes that came. */
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

  /** Sees to it that all of it is on the disk. */
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
