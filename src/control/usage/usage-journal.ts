import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chunk } from '../../base/chunk.ts';
import { nullIfMissing } from '../../base/files.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { usageStatuses } from '../../gateway/metering/usage-status.ts';
import { isNetworkName } from '../../protocol/call.ts';
import { products } from '../../protocol/product.ts';
import { checkedLine, readCheckedLine } from '../checked-line.ts';
import { parseOwnedName, processOwnedName, releaseId } from '../process-owned.ts';
import { RejectedRows, rowKeyOf, type StoredUsage, type UsageSink } from './usage-rows.ts';

const SUFFIX = '.jsonl';
const DRAFT_SUFFIX = '.new';

/** Lists journals of exited processes and removes their drafts. */
async function findOrphanedJournals(folder: string) {
  const orphaned: { path: string; runId: string }[] = [];
  const names = (await nullIfMissing(readdir(folder))) ?? [];
  for (const name of names.sort()) {
    const owned = parseOwnedName(name);
    if (owned === null || owned.owner !== null) continue;
    const path = join(folder, name);
    if (owned.suffix === SUFFIX) orphaned.push({ path, runId: owned.id });
    else if (owned.suffix === SUFFIX + DRAFT_SUFFIX) await rm(path, { force: true });
  }
  return orphaned;
}

const rowFields = [
  ...(['minute', 'keyId', 'product', 'method', 'status', 'requests', 'bytesIn', 'bytesOut'] as const),
  ...(['credits', 'messages', 'latency', 'network', 'code'] as const),
];

/** Number of fields in lines of older versions, which have no network and code. */
const FIELDS_WITHOUT_OUTCOME = 11;

/**
 * Format: checked-line.ts.
 * Example: 2c1a971e [29000000,"7hQ2mKpZ","rpc","getSlot","ok",3,210,96,3,0,"12:2,13:1","devnet",""]
 */
export const journalLine = (row: StoredUsage): string => checkedLine(rowFields.map((field) => row[field]));

/** @param line - without its line feed. */
export const readJournalLine = (line: string): StoredUsage | null => rowOf(readCheckedLine(line));

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** The checksum proves that a line is intact; this check proves that its format is known. */
function rowOf(values: unknown): StoredUsage | null {
  if (!Array.isArray(values)) return null;
  const all: readonly unknown[] = values.length === FIELDS_WITHOUT_OUTCOME ? [...values, null, ''] : values;
  if (all.length !== rowFields.length) return null;
  const row = Object.fromEntries(rowFields.map((field, index) => [field, all[index]])) as StoredUsage;
  const { minute, keyId, product, method, status, latency, network, code } = row;
  const isValid =
    [minute, row.requests, row.bytesIn, row.bytesOut, row.credits, row.messages].every(isCount) &&
    (keyId === null || typeof keyId === 'string') &&
    Object.hasOwn(products, product) &&
    typeof method === 'string' &&
    usageStatuses.includes(status) &&
    typeof latency === 'string' &&
    (network === null || isNetworkName(network)) &&
    typeof code === 'string';
  return isValid ? row : null;
}

/** Maximum journal size. Rows that do not fit stay in memory only. */
export const usageJournalOptions = { maxBytes: 67_108_864 };

const PART_ROWS = 1_000;
/** A smaller file is not compacted. */
const COMPACT_MIN_BYTES = 1_048_576;

/** File of rows that are not in the store yet. The last line for a row is its newest state. Calls must not overlap. */
export class UsageJournal {
  readonly #folder: string;
  readonly #runId: string;
  readonly #path: string;
  readonly #maxBytes: number;
  #file: FileHandle | null = null;
  #bytes = 0;
  /** Size after the last rewrite. */
  #rewrittenBytes = 0;

  constructor(folder: string, runId: string, maxBytes = usageJournalOptions.maxBytes) {
    this.#folder = folder;
    this.#runId = runId;
    this.#path = join(folder, processOwnedName(runId) + SUFFIX);
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Appends rows durably. After an error, the file is unchanged.
   * @param pendingRows - all rows that the store lacks; a full file is rewritten with only these rows.
   * @returns number of rows that did not fit.
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
      // A partial line would corrupt the next line.
      await file.truncate(this.#bytes).catch(() => undefined);
      throw error;
    }
  }

  /** Rewrites the file with only the pending rows, if they are at most about half of it. */
  async compact(pendingRows: Iterable<StoredUsage>): Promise<void> {
    if (this.#bytes > 2 * this.#rewrittenBytes + COMPACT_MIN_BYTES) await this.#rewrite(pendingRows);
  }

  async clear(): Promise<void> {
    if (this.#bytes === 0) return;
    await this.#file?.truncate(0);
    this.#bytes = 0;
    this.#rewrittenBytes = 0;
  }

  /** Stops writing. A file with rows stays for the next start; an empty file is removed. */
  async close(): Promise<void> {
    const wasOpen = this.#file !== null;
    const isEmpty = this.#bytes === 0;
    await this.#closeFile();
    if (wasOpen && isEmpty) await rm(this.#path, { force: true });
    // From now on, `recoverJournals` may process the file.
    releaseId(this.#runId);
  }

  async #openFile(): Promise<FileHandle> {
    // No link is left: another process mistook the file for an orphan and removed it.
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

  /** Writes to a draft first, so that a crash leaves either the complete old file or the complete new file. */
  async #rewrite(pendingRows: Iterable<StoredUsage>): Promise<number> {
    const draft = this.#path + DRAFT_SUFFIX;
    await rm(draft, { force: true });
    const file = await open(draft, 'a', 0o600);
    try {
      const { bytes, skippedRows } = await this.#writeWithinLimit(file, pendingRows);
      await file.datasync();
      await rename(draft, this.#path);
      await this.#closeFile();
      this.#file = file;
      this.#bytes = bytes;
      this.#rewrittenBytes = bytes;
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

/** Longer than any row. A longer line counts as corrupt and must not fill the memory. */
const LINE_MAX_BYTES = 65_536;

export type JournalCorruption = {
  /** Corrupt lines, not counting an incomplete last line. */
  lines: number;
};

/** Yields batches in file order, each with the last state of its rows. Counts corrupt lines in `corruption`. */
export async function* readJournal(
  path: string,
  batchRows: number,
  corruption: JournalCorruption,
): AsyncGenerator<StoredUsage[]> {
  const batch = new Map<string, StoredUsage>();
  for await (const line of linesOf(path)) {
    const row = readJournalLine(line);
    if (row === null) corruption.lines++;
    else batch.set(rowKeyOf(row), row);
    if (batch.size < batchRows) continue;
    yield [...batch.values()];
    batch.clear();
  }
  if (batch.size > 0) yield [...batch.values()];
}

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

export type RecoveredJournal = Readonly<{
  path: string;
  rows: number;
  corruptLines: number;
  /** Rows whose minutes were already deleted. */
  lateRows: number;
}>;

/**
 * Stores the rows from journals of exited processes under their epochs, then removes the journals, except the rows that
 * the sink rejects. Idempotent. @returns the last rejection; null: none.
 */
export async function recoverJournals(
  sink: UsageSink,
  folder: string,
  onRecovered: (journal: RecoveredJournal) => void,
): Promise<RejectedRows | null> {
  let rejection: RejectedRows | null = null;
  for (const { path, runId } of await findOrphanedJournals(folder)) {
    const rejected: StoredUsage[] = [];
    const corruption: JournalCorruption = { lines: 0 };
    let rows = 0;
    let lateRows = 0;
    for await (const batch of readJournal(path, sink.batchRows, corruption)) {
      try {
        lateRows += await sink.write(runId, batch);
      } catch (error) {
        if (!(error instanceof RejectedRows)) throw error;
        rejection = error;
        lateRows += error.lateRows;
        rejected.push(...error.rows);
      }
      rows += batch.length;
    }
    if (rejected.length === 0) await rm(path, { force: true });
    else if (rejected.length < rows + corruption.lines) await replaceRows(path, rejected);
    const stored = rows - rejected.length;
    const corruptLines = corruption.lines;
    if (stored + corruptLines > 0) onRecovered({ path, rows: stored, corruptLines, lateRows });
  }
  return rejection;
}

/** Writes to a draft first. See `UsageJournal`. */
async function replaceRows(path: string, rows: readonly StoredUsage[]): Promise<void> {
  const draft = path + DRAFT_SUFFIX;
  const parts = chunk(rows, PART_ROWS).map((part) => part.map(journalLine).join(''));
  await writeFile(draft, parts, { mode: 0o600, flush: true });
  await rename(draft, path);
}
