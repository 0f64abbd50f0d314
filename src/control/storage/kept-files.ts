import type { FileHandle } from 'node:fs/promises';
import { lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../base/make-folder.ts';
import { type FileAbout, readAbout, writeAbout } from './about.ts';
import { unlessMissing } from './fault.ts';
import { CountedRoom, type FileRoom } from './file-room.ts';
import type { Incoming, IncomingFile } from './incoming.ts';
import type { Keeper } from './keeper.ts';
import type { StorageLimits } from './limits.ts';

/** A CID of version 1 in lower-case base32 with a SHA-256: of a raw block, or of a node. No other is a file's name. */
export const FILE_CID = /^baf(?:kre|ybe)[a-z2-7]{53}$/;

const ABOUT_SUFFIX = '.json';

/** Bytes of what is kept beside a file that are read: names and types are bounded when they are written. */
const ABOUT_MAX_BYTES = 8 * 1024;

/** Bytes that are read from a file at a time. */
const READ_BYTES = 128 * 1024;

/** A kept file that is open for reading. Whoever has it closes it. */
export type OpenFile = Readonly<
  FileAbout & {
    bytes: number;
    /** @param end - the first byte that is not read. */
    read(start: number, end: number): AsyncIterable<Uint8Array>;
    close(): Promise<void>;
  }
>;

/**
 * Files on this machine's disk, each under its content identifier, in folders by its last two characters. A file
 * that stands there is whole: it was moved there once all of it was on the disk. Beside it stands what whoever sent
 * it first said of it.
 */
export class KeptFiles implements Keeper {
  readonly #folder: string;
  readonly #incoming: Incoming;
  /** What this process knows of: what was there at the start, and what came here. */
  readonly room: CountedRoom;
  /** Where other processes keep files in the folder too: what all of them have room for. */
  readonly #shared: FileRoom | null;
  /** The last of the tasks on a file, while there are any. */
  readonly #underWay = new Map<string, Promise<void>>();

  private constructor(folder: string, incoming: Incoming, limits: StorageLimits, shared: FileRoom | null) {
    this.#folder = folder;
    this.#incoming = incoming;
    this.room = new CountedRoom(limits);
    this.#shared = shared;
  }

  /**
   * Looks at the names and sizes of all files.
   * @param folder - on the same file system as that of `incoming`.
   * @param shared - what several processes have room for together; null: this one counts for itself.
   */
  static async open(
    folder: string,
    incoming: Incoming,
    limits: StorageLimits,
    shared: FileRoom | null = null,
  ): Promise<KeptFiles> {
    makeFolder(folder, 0o700);
    const kept = new KeptFiles(folder, incoming, limits, shared);
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) await kept.#count(join(folder, entry.name));
    }
    return kept;
  }

  /** How many files there are, as far as this process knows. */
  get files(): number {
    return this.room.files;
  }

  /** Bytes of all those files. */
  get bytes(): number {
    return this.room.bytes;
  }

  /**
   * Keeps a file. One that is kept already stays as it is, with what was said of it first.
   * @param before - done first, once there is room for the file, and told whether it is kept already; when it fails,
   * the file is not kept, unless it was.
   * @throws Failure STORAGE_FULL, STORAGE_UNAVAILABLE; errors of the file system; what `before` throws.
   */
  async keep(
    file: IncomingFile,
    about: FileAbout,
    before?: (isKept: boolean) => Promise<void>,
  ): Promise<void> {
    await this.#oneByOne(file.cid, async () => {
      const isKept = await this.has(file.cid);
      if (!isKept) await this.#take(file);
      try {
        await before?.(isKept);
        if (!isKept) await this.#move(file, about);
        if (!isKept) this.#settle(file, true);
      } catch (thrown) {
        if (!isKept) this.#settle(file, false);
        throw thrown;
      }
    });
  }

  /** Whether a file of that CID is kept. */
  async has(cid: string): Promise<boolean> {
    return FILE_CID.test(cid) && (await unlessMissing(lstat(this.#path(cid)))) !== null;
  }

  /** Opens a kept file; null when there is none of that CID. */
  async open(cid: string): Promise<OpenFile | null> {
    if (!FILE_CID.test(cid)) return null;
    const handle = await unlessMissing(open(this.#path(cid), 'r'));
    if (handle === null) return null;
    try {
      const { size } = await handle.stat();
      const about = await this.#about(cid);
      return {
        ...about,
        bytes: size,
        read: (start, end) => pieces(handle, start, Math.min(end, size)),
        close: () => handle.close(),
      };
    } catch (thrown) {
      await handle.close();
      throw thrown;
    }
  }

  #path(cid: string): string {
    return join(this.#folder, cid.slice(-2), cid);
  }

  async #about(cid: string): Promise<FileAbout> {
    const handle = await unlessMissing(open(this.#path(cid) + ABOUT_SUFFIX, 'r'));
    if (handle === null) return readAbout('');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(ABOUT_MAX_BYTES));
      return readAbout(buffer.toString('utf8', 0, bytesRead));
    } finally {
      await handle.close();
    }
  }

  /** Adds up a folder, and removes what was said of files that never came to stand there, unless they still may. */
  async #count(folder: string): Promise<void> {
    const names = await readdir(folder);
    const files = new Set(names.filter((name) => FILE_CID.test(name)));
    for (const name of files) {
      this.room.count((await lstat(join(folder, name))).size);
    }
    if (!this.#incoming.isAlone) return;
    for (const name of names) {
      const isLeft = name.endsWith(ABOUT_SUFFIX) && !files.has(name.slice(0, -ABOUT_SUFFIX.length));
      if (isLeft) await rm(join(folder, name), { force: true });
    }
  }

  /** @throws Failure STORAGE_FULL, STORAGE_UNAVAILABLE */
  async #take({ cid, bytes }: IncomingFile): Promise<void> {
    if (this.#shared === null) this.room.take(bytes);
    else await this.#shared.take(cid, bytes);
  }

  #settle({ cid, bytes }: IncomingFile, isKept: boolean): void {
    if (this.#shared !== null) this.#shared.settle(cid, isKept);
    else if (!isKept) this.room.giveBack(bytes);
  }

  /** What is said of a file first, then the file: one that is there is complete. */
  async #move({ path, cid }: IncomingFile, about: FileAbout): Promise<void> {
    const to = this.#path(cid);
    const folder = join(to, '..');
    makeFolder(folder, 0o700);
    const aboutPath = await this.#incoming.write(writeAbout(about));
    try {
      await rename(aboutPath, to + ABOUT_SUFFIX);
      await rename(path, to);
      await syncFolder(folder);
      await syncFolder(this.#folder);
    } catch (thrown) {
      await rm(aboutPath, { force: true });
      await rm(to, { force: true });
      await rm(to + ABOUT_SUFFIX, { force: true });
      throw thrown;
    }
  }

  /** Runs tasks on one file one after another. */
  async #oneByOne(cid: string, task: () => Promise<void>): Promise<void> {
    const before = this.#underWay.get(cid) ?? Promise.resolve();
    const mine = before.then(task);
    const settled = mine.catch(() => {});
    this.#underWay.set(cid, settled);
    try {
      await mine;
    } finally {
      if (this.#underWay.get(cid) === settled) this.#underWay.delete(cid);
    }
  }
}

/** Names that were given in a folder outlast a loss of power from here on. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function* pieces(handle: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array, void> {
  for (let at = start; at < end; ) {
    const length = Math.min(READ_BYTES, end - at);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(length), 0, length, at);
    if (bytesRead === 0) throw new Error('a kept file became shorter');
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
