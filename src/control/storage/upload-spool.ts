import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessAborted } from '../../base/concurrency/unless-aborted.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { bootId, identityOf, isRunning } from '../../base/process-identity.ts';
import { Failure } from '../../protocol/errors.ts';
import { buildBlocks, type FileBlocks, splitIntoLeaves } from './file-blocks.ts';

/** Error codes of a disk that takes no more. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** What a file system's error is to whoever wants to store something. A Failure stays what it is. */
export function toStorageFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  const code = (thrown as NodeJS.ErrnoException | null)?.code ?? '';
  return new Failure(FULL.has(code) ? 'STORAGE_FULL' : 'STORAGE_UNAVAILABLE', { cause: thrown });
}

/** What a promise gives; null where there is no such file. @throws what it is rejected with otherwise. */
export async function nullIfMissing<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw thrown;
  }
}

/** `<run of the machine>.<pid>.<when the process started>.<folder of it>`; the first and third may be unknown. */
const NAME = /^([\w-]*)\.(\d{1,10})\.(\d*)\.[\w-]{36}$/;

/** Names of those that this very process has: its pid alone cannot tell them from those of an earlier life. */
const ownFolders = new Set<string>();

/** A folder of this process alone, among those of others. */
type ProcessFolder = Readonly<{
  path: string;
  /** Whether no other process that lives had one when this was opened. */
  isAlone: boolean;
  /** Removes it, with what is in it. Never rejects. */
  close(): Promise<void>;
}>;

/** Whose folder it is: of this process, of another that lives, or of none. */
function ownershipOf(name: string): 'me' | 'another' | null {
  if (ownFolders.has(name)) return 'me';
  const [, boot, pid, started = ''] = NAME.exec(name) ?? [];
  const lives =
    pid !== undefined &&
    Number(pid) !== process.pid &&
    boot === bootId() &&
    isRunning({ pid: Number(pid), started });
  return lives ? 'another' : null;
}

/**
 * Makes a folder for this process below the one that is named, and removes whatever else is there, but for the folders
 * of processes of this machine that live. @throws Error of the file system.
 */
async function openProcessFolder(parent: string): Promise<ProcessFolder> {
  const { pid, started } = identityOf(process.pid);
  const name = `${bootId()}.${pid}.${started}.${randomUUID()}`;
  const path = join(parent, name);
  ownFolders.add(name);
  makeFolder(path, 0o700);
  let isAlone = true;
  for (const other of await readdir(parent)) {
    const ownership = ownershipOf(other);
    if (ownership === 'another') isAlone = false;
    if (ownership === null) await rm(join(parent, other), { recursive: true, force: true });
  }
  const close = async (): Promise<void> => {
    ownFolders.delete(name);
    // What comes in this moment may stand in the way: the next to open removes the rest.
    await rm(path, { recursive: true, force: true }).catch(() => {});
  };
  return { path, isAlone, close };
}

/** Bytes at the beginning of a file that `mediaTypeOf` wants to see. */
const MEDIA_HEAD_BYTES = 16;

type Signature = readonly [type: string, at: number, text: string];

/**
 * Formats that begin with a mark of their own. Source: MIME Sniffing Standard §6 (images, audio and video) and
 * glTF 2.0 §4.4 (GLB). Only what shows a picture or plays: nothing of these can run as a page.
 */
const signatures: readonly (readonly [Signature, ...Signature[]])[] = [
  [['image/png', 0, '\x89PNG\r\n\x1a\n']],
  [['image/jpeg', 0, '\xff\xd8\xff']],
  [['image/gif', 0, 'GIF87a']],
  [['image/gif', 0, 'GIF89a']],
  [
    ['image/webp', 0, 'RIFF'],
    ['image/webp', 8, 'WEBPVP'],
  ],
  [['image/avif', 4, 'ftypavif']],
  [
    ['audio/wave', 0, 'RIFF'],
    ['audio/wave', 8, 'WAVE'],
  ],
  [['audio/mpeg', 0, 'ID3']],
  [['video/mp4', 4, 'ftypisom']],
  [['video/mp4', 4, 'ftypmp4']],
  [['video/webm', 0, '\x1a\x45\xdf\xa3']],
  [['model/gltf-binary', 0, 'glTF\x02\0\0\0']],
];

/**
 * The media type that a file's first bytes show; null for any other. It is the same whoever sends the file, so that
 * nobody can give another's picture a type that no browser shows.
 */
export function mediaTypeOf(head: Uint8Array): string | null {
  const text = Buffer.from(head.subarray(0, MEDIA_HEAD_BYTES)).toString('latin1');
  const found = signatures.find((parts) =>
    parts.every(([, at, signature]) => text.startsWith(signature, at)),
  );
  return found?.[0][0] ?? null;
}

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
