import { rm } from 'node:fs/promises';
import type { Store } from '../database/open.ts';
import { findOrphanedJournals } from './journal-name.ts';
import { type JournalDamage, readJournal } from './journal-replay.ts';
import { storeUsage } from './store-usage.ts';

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
