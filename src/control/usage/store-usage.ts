import { setImmediate } from 'node:timers/promises';
import type { Store } from '../database/open.ts';
import { recordEpoch, type StoredUsage, upsertUsage } from './usage-rows.ts';

/**
 * Writes rows of process `epoch`, in one transaction.
 * @returns how many could not be taken, because their minutes are deleted already.
 */
export async function storeUsage(store: Store, epoch: string, rows: readonly StoredUsage[]): Promise<number> {
  const late = await store.db.transaction().execute(async (trx) => {
    const late = await upsertUsage(trx, epoch, rows);
    await recordEpoch(trx, epoch, Date.now());
    return late;
  });
  // An embedded store answers without letting anybody else have a turn.
  await setImmediate();
  return late;
}
