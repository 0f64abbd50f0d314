import { createReadStream } from 'node:fs';
import { readJournalLine } from './journal-line.ts';
import { rowKeyOf, type StoredUsage } from './usage-rows.ts';

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
