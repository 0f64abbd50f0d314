import { randomUUID } from 'node:crypto';
import { appendFile, readdir, readFile, rename, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { nullIfMissing } from '../../../base/files.ts';
import { makeFolder } from '../../../base/make-folder.ts';
import { checkedLine, readCheckedLine } from '../../checked-line.ts';
import { parseOwnedName, processOwnedName, releaseId } from '../../process-owned.ts';
import type { NewLogRow } from '../log-store.ts';

const SUFFIX = '.jsonl';
/** A file that is longer gets no more rows. */
const FILE_BYTES = 1_048_576;

export const logOutboxOptions = { maxBytes: 268_435_456 };

type OutboxFile = {
  readonly id: string;
  readonly path: string;
  bytes: number;
  rows: number;
  /** Its rows may have been stored already. */
  isSuspect: boolean;
  /** Gets no more rows. */
  isSealed: boolean;
  /** The last append. */
  writing: Promise<void>;
};

export type OutboxBatch = Readonly<{ files: readonly OutboxFile[]; rows: NewLogRow[]; isSuspect: boolean }>;

/** Appends all of the text or, if the disk is full, nothing: the caller appends it again. */
async function writeWhole({ path, bytes }: OutboxFile, text: string): Promise<void> {
  try {
    await appendFile(path, text, { mode: 0o600 });
  } catch (error) {
    await nullIfMissing(truncate(path, bytes));
    throw error;
  }
}

const countLines = (text: string): number => text.split('\n').length - 1;

/** Rows in files until they are stored. They survive the process, but not a failure of the machine. */
export class LogOutbox {
  readonly #folder: string;
  readonly #maxBytes: number;
  /** Oldest first. */
  readonly #files: OutboxFile[] = [];
  readonly losses = {
    /** Rows dropped because the files were full. */
    dropped: 0,
    corruptLines: 0,
  };

  constructor(folder: string, maxBytes: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  get rows(): number {
    return this.#files.reduce((rows, file) => rows + file.rows, 0);
  }

  get #bytes(): number {
    return this.#files.reduce((bytes, file) => bytes + file.bytes, 0);
  }

  /** Appends rows, and drops the oldest files if they exceed the limit. Calls must not overlap. */
  async append(rows: readonly NewLogRow[]): Promise<void> {
    let lines: string[] = [];
    let bytes = 0;
    for (const row of rows) {
      const line = checkedLine(row);
      lines.push(line);
      bytes += Buffer.byteLength(line);
      if (bytes < FILE_BYTES) continue;
      await this.#appendLines(lines, bytes);
      [lines, bytes] = [[], 0];
    }
    if (lines.length > 0) await this.#appendLines(lines, bytes);
    await this.#dropExcess();
  }

  /** Returns the rows of the oldest files; null: there are none. @param maxBytes - at least one file is returned. */
  async read(maxBytes: number): Promise<OutboxBatch | null> {
    const files: OutboxFile[] = [];
    let bytes = 0;
    for (const file of this.#files) {
      bytes += file.bytes;
      if (files.length > 0 && bytes > maxBytes) break;
      files.push(file);
    }
    if (files.length === 0) return null;
    for (const file of files) file.isSealed = true;
    const rows: NewLogRow[] = [];
    await Promise.allSettled(files.map(({ writing }) => writing));
    for (const { path } of files) rows.push(...(await this.#rowsOf(path)));
    return { files, rows, isSuspect: files.some((file) => file.isSuspect) };
  }

  async remove({ files }: OutboxBatch): Promise<void> {
    for (const file of files) {
      await rm(file.path, { force: true });
      releaseId(file.id);
      const at = this.#files.indexOf(file);
      if (at >= 0) this.#files.splice(at, 1);
    }
  }

  /** Takes over the files of processes that have ended. @returns the number of their rows. */
  async adoptOrphans(): Promise<number> {
    const names = (await nullIfMissing(readdir(this.#folder))) ?? [];
    let rows = 0;
    for (const name of names.sort()) {
      const owned = parseOwnedName(name);
      if (owned === null || owned.owner !== null || owned.suffix !== SUFFIX) continue;
      const file = this.#newFile();
      // Another process may have been faster.
      if ((await nullIfMissing(rename(join(this.#folder, name), file.path).then(() => true))) === null) {
        releaseId(file.id);
        continue;
      }
      const text = await readFile(file.path, 'utf8');
      Object.assign(file, {
        bytes: Buffer.byteLength(text),
        rows: countLines(text),
        isSuspect: true,
        isSealed: true,
      });
      this.#files.unshift(file);
      rows += file.rows;
    }
    return rows;
  }

  /** Leaves the remaining files to `adoptOrphans`. */
  close(): void {
    for (const { id } of this.#files.splice(0)) releaseId(id);
  }

  #newFile(): OutboxFile {
    const id = randomUUID();
    const path = join(this.#folder, processOwnedName(id) + SUFFIX);
    return { id, path, bytes: 0, rows: 0, isSuspect: false, isSealed: false, writing: Promise.resolve() };
  }

  async #appendLines(lines: readonly string[], bytes: number): Promise<void> {
    let file = this.#files.at(-1);
    if (file === undefined || file.isSealed || file.bytes >= FILE_BYTES) {
      makeFolder(this.#folder, 0o700);
      file = this.#newFile();
      this.#files.push(file);
    }
    file.writing = writeWhole(file, lines.join(''));
    await file.writing;
    file.bytes += bytes;
    file.rows += lines.length;
  }

  async #rowsOf(path: string): Promise<NewLogRow[]> {
    const lines = ((await nullIfMissing(readFile(path, 'utf8'))) ?? '').split('\n');
    // Empty, or cut off when the process ended.
    lines.pop();
    const rows = lines.map(readCheckedLine).filter((row) => row !== undefined);
    this.losses.corruptLines += lines.length - rows.length;
    return rows as NewLogRow[];
  }

  async #dropExcess(): Promise<void> {
    while (this.#files.length > 1 && this.#bytes > this.#maxBytes) {
      const [oldest] = this.#files as [OutboxFile];
      this.losses.dropped += oldest.rows;
      await this.remove({ files: [oldest], rows: [], isSuspect: false });
    }
  }
}
