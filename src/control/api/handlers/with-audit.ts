import type { Transaction } from 'kysely';
import type { Schema } from '../../database/schema.ts';
import { type AuditEntry, nextVersion, transactAndNotify, writeAudit } from '../../database/transaction.ts';
import type { ApiContext } from '../handler.ts';
import type { ApiServices } from '../services.ts';

/** What a change was, for the audit log. */
export type AuditedChange = Pick<AuditEntry, 'action' | 'detail'> & Readonly<{ customerId: string | null }>;

/**
 * Makes a change in one transaction, with its line in the audit log. Changes come one after the other: what is looked at
 * inside stays as it is until the end.
 * @param work - changes, and says what it was; null for nothing to tell. What it throws undoes everything.
 */
export function withAudit<Result>(
  { store, now }: Pick<ApiServices, 'store' | 'now'>,
  { actor, address, userAgent, requestId }: ApiContext,
  work: (trx: Transaction<Schema>, version: number) => Promise<readonly [Result, AuditedChange | null]>,
): Promise<Result> {
  return transactAndNotify(store, async (trx) => {
    const version = await nextVersion(trx);
    const [result, change] = await work(trx, version);
    if (change !== null) {
      const from = { address, userAgent, requestId };
      await writeAudit(trx, version, { at: now(), actor, keyId: null, ...change, ...from });
    }
    return result;
  });
}
