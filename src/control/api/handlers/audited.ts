import type { Transaction } from 'kysely';
import { type AuditEntry, inChange, nextVersion, writeAudit } from '../../database/change.ts';
import type { Schema } from '../../database/schema.ts';
import type { ApiContext } from '../handler.ts';
import type { ApiServices } from '../services.ts';

/** What a change was, for the audit log. */
export type Told = Pick<AuditEntry, 'action' | 'detail'> & Readonly<{ customerId: string | null }>;

/**
 * Makes a change in one transaction, with its line in the audit log. Changes come one after the other: what is looked at
 * inside stays as it is until the end.
 * @param work - changes, and says what it was; null for nothing to tell. What it throws undoes everything.
 */
export function audited<Result>(
  { store, now }: Pick<ApiServices, 'store' | 'now'>,
  { actor, address, userAgent, requestId }: ApiContext,
  work: (trx: Transaction<Schema>, version: number) => Promise<readonly [Result, Told | null]>,
): Promise<Result> {
  return inChange(store, async (trx) => {
    const version = await nextVersion(trx);
    const [result, told] = await work(trx, version);
    if (told !== null) {
      const from = { address, userAgent, requestId };
      await writeAudit(trx, version, { at: now(), actor, keyId: null, ...told, ...from });
    }
    return result;
  });
}
