import { rm } from 'node:fs/promises';
import type { Store } from '../database/open.ts';
import { leftJournals } from './journal-name.ts';
import { type JournalDamage, readJournal } from './journal-replay.ts';
import { storeUsage } from './store-usage.ts';

/** A journal of an earlier run, when all of it is in the store. */
export type TakenUp = Readonly<{
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
export async function takeUpJournals(
  store: Store,
  folder: string,
  batchRows: number,
  onTakenUp: (journal: TakenUp) => void,
): Promise<void> {
  for (const { path, epoch } of await leftJournals(folder)) {
    const damage: JournalDamage = { lines: 0 };
    let rows = 0;
    let lateRows = 0;
    for await (const batch of readJournal(path, batchRows, damage)) {
      lateRows += await storeUsage(store, epoch, batch);
      rows += batch.length;
    }
    await rm(path, { force: true });
    if (rows + damage.lines > 0) onTakenUp({ path, rows, damagedLines: damage.lines, lateRows });
  }
}
