import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../base/make-folder.ts';
import { journalLine } from './journal-line.ts';
import { journalName, releaseJournal } from './journal-name.ts';
import type { StoredUsage } from './usage-rows.ts';

/** What holds when nothing else is said. */
export const usageJournalOptions = {
  /** Bytes of the file; rows beyond it are in memory only. */
  maxBytes: 67_108_864,
} as const;

/** Rows of one write where the file is written anew. */
const PART_ROWS = 1_000;

/**
 * What was counted and is not in the store yet, in a file of this process: `<folder>/<whose>.<epoch>.jsonl`. It holds
 * rows as they were at some flush; a later state of a row is another line. Calls of one journal come one at a time.
 */
export class UsageJournal {
  readonly #folder: string;
  readonly #epoch: string;
  readonly #path: string;
  readonly #maxBytes: number;
  #file: FileHandle | null = null;
  #bytes = 0;

  /** @param folder - made when the first row comes, for its owner only. */
  constructor(folder: string, epoch: string, maxBytes: number = usageJournalOptions.maxBytes) {
    this.#folder = folder;
    this.#epoch = epoch;
    this.#path = join(folder, journalName(epoch));
    this.#maxBytes = maxBytes;
  }

  /** Bytes that lie in the file. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds rows; they are on the disk when it resolves.
   * @param waiting - all rows that the store does not have, those added among them: when the file is full it is
   * written anew with these alone.
   * @returns how many rows found no room.
   * @throws what the file system throws; the file is then as it was.
   */
  async append(rows: readonly StoredUsage[], pendingRows: Iterable<StoredUsage>): Promise<number> {
    if (rows.length === 0) return 0;
    const text = Buffer.from(rows.map(journalLine).join(''));
    const file = await this.#openFile();
    if (this.#bytes + text.length > this.#maxBytes) return this.#rewrite(pendingRows);
    try {
      await file.appendFile(text);
      await file.datasync();
      this.#bytes += text.length;
      return 0;
    } catch (error) {
      // A line that was begun would spoil the one behind it.
      await file.truncate(this.#bytes).catch(() => undefined);
      throw error;
    }
  }

  /** Forgets everything: the store has it. */
  async clear(): Promise<void> {
    if (this.#bytes === 0) return;
    await this.#file?.truncate(0);
    this.#bytes = 0;
  }

  /** Ends writing. What is in the file stays for the next start; an empty one is removed. */
  async close(): Promise<void> {
    const wasOpen = this.#file !== null;
    const isEmpty = this.#bytes === 0;
    await this.#closeFile();
    if (wasOpen && isEmpty) await rm(this.#path, { force: true });
    releaseJournal(this.#epoch);
  }

  async #openFile(): Promise<FileHandle> {
    // Somebody who could not see that this process lives took the file for one that was left behind.
    if (this.#file !== null && (await this.#file.stat()).nlink === 0) await this.#closeFile();
    if (this.#file !== null) return this.#file;
    makeFolder(this.#folder, 0o700);
    this.#file = await open(this.#path, 'a', 0o600);
    this.#bytes = (await this.#file.stat()).size;
    return this.#file;
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    this.#bytes = 0;
    await file?.close();
  }

  /** Under another name first: a kill in between leaves the old file or the new one, each of them whole. */
  async #rewrite(pendingRows: Iterable<StoredUsage>): Promise<number> {
    const draft = `${this.#path}.new`;
    await rm(draft, { force: true });
    const file = await open(draft, 'a', 0o600);
    try {
      const { bytes, skippedRows } = await this.#writeWithinLimit(file, pendingRows);
      await file.datasync();
      await rename(draft, this.#path);
      await this.#closeFile();
      this.#file = file;
      this.#bytes = bytes;
      return skippedRows;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async #writeWithinLimit(
    file: FileHandle,
    rows: Iterable<StoredUsage>,
  ): Promise<Readonly<{ bytes: number; skippedRows: number }>> {
    let bytes = 0;
    let skippedRows = 0;
    let part: string[] = [];
    for (const row of rows) {
      const line = journalLine(row);
      const length = Buffer.byteLength(line);
      if (bytes + length > this.#maxBytes) {
        skippedRows++;
        continue;
      }
      bytes += length;
      if (part.push(line) < PART_ROWS) continue;
      await file.appendFile(part.join(''));
      part = [];
    }
    await file.appendFile(part.join(''));
    return { bytes, skippedRows };
  }
}
