import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { makeFolder } from '../../base/make-folder.ts';
import { bootId, identityOf, isRunning } from '../../base/process-identity.ts';
import { usageStatuses } from '../../gateway/metering/usage-meter.ts';
import { products } from '../../protocol/product.ts';
import type { Store } from '../database/open.ts';
import { rowKeyOf, type StoredUsage, storeUsage } from './usage-rows.ts';

/** `<run of the machine>.<pid>.<when the process started>.<epoch>.jsonl`; the first and third may be unknown. */
const NAME = /^([\w-]*)\.(\d{1,10})\.(\d*)\.([\w-]{36})\.jsonl(\.new)?$/;

/** Epochs of this very process: its pid alone cannot tell them from those of an earlier life. */
const ownEpochs = new Set<string>();

/** A journal of a process that is gone. */
type OrphanedJournal = Readonly<{ path: string; epoch: string }>;

/** The name of this process's journal for an epoch. */
function journalName(epoch: string): string {
  const { pid, started } = identityOf(process.pid);
  ownEpochs.add(epoch);
  return `${bootId()}.${pid}.${started}.${epoch}.jsonl`;
}

/** This process writes no more for the epoch: what it left behind may be taken up. */
function releaseJournal(epoch: string): void {
  ownEpochs.delete(epoch);
}

function isHeld(boot: string, pid: number, started: string, epoch: string): boolean {
  if (ownEpochs.has(epoch)) return true;
  return pid !== process.pid && boot === bootId() && isRunning({ pid, started });
}

/** The journals in a folder whose processes live no more; drafts of such are removed. None where there is no folder. */
async function findOrphanedJournals(folder: string): Promise<OrphanedJournal[]> {
  const orphaned: OrphanedJournal[] = [];
  for (const name of await namesIn(folder)) {
    const [, boot = '', pid, started = '', epoch = '', draft] = NAME.exec(name) ?? [];
    if (pid === undefined || isHeld(boot, Number(pid), started, epoch)) continue;
    const path = join(folder, name);
    if (draft === undefined) orphaned.push({ path, epoch });
    else await rm(path, { force: true });
  }
  return orphaned;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * A line of the journal: CRC-32 of what follows as 8 hex digits, a space, a row as a JSON array, a line break.
 *
 *     1c291ca3 [29000000,"7hQ2mKpZ","rpc","getSlot","ok",3,210,96,3,0,"12:2,13:1"]
 */
export function journalLine(row: StoredUsage): string {
  const text = JSON.stringify([
    row.minute,
    row.keyId,
    row.product,
    row.method,
    row.status,
    row.requests,
    row.bytesIn,
    row.bytesOut,
    row.credits,
    row.messages,
    row.latency,
  ]);
  return `${crc32(text).toString(16).padStart(8, '0')} ${text}\n`;
}

/** Reads a line without its break; null when it is not whole. */
export function readJournalLine(line: string): StoredUsage | null {
  const text = line.slice(9);
  if (line[8] !== ' ' || line.slice(0, 8) !== crc32(text).toString(16).padStart(8, '0')) return null;
  try {
    return rowOf(JSON.parse(text));
  } catch {
    return null;
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** The checksum says that it was written so; this, that it was a program of this kind. */
function rowOf(fields: unknown): StoredUsage | null {
  if (!Array.isArray(fields) || fields.length !== 11) return null;
  const [minute, keyId, product, method, status, requests, bytesIn, bytesOut, credits, messages, latency] =
    fields;
  const counts = [minute, requests, bytesIn, bytesOut, credits, messages];
  const isWhole =
    counts.every(isCount) &&
    (keyId === null || typeof keyId === 'string') &&
    Object.hasOwn(products, product) &&
    typeof method === 'string' &&
    usageStatuses.includes(status) &&
    typeof latency === 'string';
  if (!isWhole) return null;
  return { minute, keyId, product, method, status, requests, bytesIn, bytesOut, credits, messages, latency };
}

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

/** No row is as long: what goes on for longer without a break is no journal, and is not kept in memory. */
const LINE_MAX_BYTES = 65_536;

/** What a journal held besides its rows. */
export type JournalDamage = {
  /** Lines that were not whole, but for one at the very end: that one was being written when the process ended. */
  lines: number;
};

/**
 * The rows of a journal, some at a time, in the order in which they were written; of a row that comes more than once
 * among them, its last state.
 * @param damage - is counted up while the rows are read.
 * @throws what the file system throws.
 */
export async function* readJournal(
  path: string,
  batchRows: number,
  damage: JournalDamage,
): AsyncGenerator<StoredUsage[]> {
  const batch = new Map<string, StoredUsage>();
  for await (const line of linesOf(path)) {
    const row = readJournalLine(line);
    if (row === null) damage.lines++;
    else batch.set(rowKeyOf(row), row);
    if (batch.size < batchRows) continue;
    yield [...batch.values()];
    batch.clear();
  }
  if (batch.size > 0) yield [...batch.values()];
}

/** The lines that end with a break. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8' })) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length <= LINE_MAX_BYTES) continue;
    yield '';
    rest = rest.slice(-LINE_MAX_BYTES);
  }
}

/** A journal of an earlier run, when all of it is in the store. */
export type RecoveredJournal = Readonly<{
  path: string;
  rows: number;
  /** Lines that could not be read, and with them the states of rows that they held. */
  damagedLines: number;
  /** Rows whose minutes are deleted already. */
  lateRows: number;
}>;

/**
 * Stores what earlier runs counted and could not store, under their own epochs, and removes their journals. Doing so
 * twice, or in two processes at once, does no harm.
 * @throws what the store or the file system throws; what is left is there for the next time.
 */
export async function recoverJournals(
  store: Store,
  folder: string,
  batchRows: number,
  onRecovered: (journal: RecoveredJournal) => void,
): Promise<void> {
  for (const { path, epoch } of await findOrphanedJournals(folder)) {
    const damage: JournalDamage = { lines: 0 };
    let rows = 0;
    let lateRows = 0;
    for await (const batch of readJournal(path, batchRows, damage)) {
      lateRows += await storeUsage(store, epoch, batch);
      rows += batch.length;
    }
    await rm(path, { force: true });
    if (rows + damage.lines > 0) onRecovered({ path, rows, damagedLines: damage.lines, lateRows });
  }
}
