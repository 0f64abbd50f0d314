import type { Transaction } from 'kysely';
import type { KeyTable, Schema } from '../database/schema.ts';
import { nextVersion, transactAndNotify, writeAudit } from '../database/transaction.ts';
import { insertKey, type NewKey } from './create-key.ts';
import { assertKeyQuota } from './key-quota.ts';
import {
  auditEntry,
  beforeAndAfter,
  KeyRefusedError,
  type KeyRegister,
  refuseField,
  requireKey,
} from './key-register.ts';
import { type KeyView, viewKey } from './key-view.ts';

/** Longest overlap of a rotation, in milliseconds. */
export const OVERLAP_MAX_MS = 90 * 24 * 3_600_000;
/** The overlap that is taken when none is given, in milliseconds. */
export const OVERLAP_DEFAULT_MS = 24 * 3_600_000;

/** @throws KeyRefusedError wrong-state */
function checkRotatable(row: KeyTable, now: number): void {
  const { state } = viewKey(row, now);
  if (state === 'active') return;
  const remedies = {
    rotating: `it is already being replaced by ${row.replaced_by}: rotate that one`,
    disabled: 'it is disabled: enable it first',
    expired: 'it has expired: create a new key',
    revoked: 'it is revoked: create a new key',
  };
  throw new KeyRefusedError('wrong-state', `key ${row.id} cannot be rotated, ${remedies[state]}`);
}

/** @throws KeyRefusedError invalid */
export function checkOverlap(overlapMs: number): void {
  if (Number.isSafeInteger(overlapMs) && overlapMs >= 0 && overlapMs <= OVERLAP_MAX_MS) return;
  refuseField('overlapMs', 'the overlap of a rotation is 0 to 90 days');
}

/**
 * Makes a new key in the family of an active one. The old key goes on for `overlapMs` (0: it ends at once), and
 * the new one inherits all that the old one is and may, its expiry too: a rotation never lengthens what was granted.
 * @throws KeyRefusedError
 */
export function rotateKey(
  register: KeyRegister,
  id: string,
  overlapMs: number = OVERLAP_DEFAULT_MS,
): Promise<NewKey & { old: KeyView }> {
  return transactAndNotify(register.store, async (trx) => {
    const version = await nextVersion(trx);
    const now = register.now();
    // One time for the whole rotation, so that old and new key meet exactly.
    const atNow = { ...register, now: () => now };
    checkOverlap(overlapMs);
    const row = await requireKey(trx, id, register);
    checkRotatable(row, now);
    await assertKeyQuota(trx, register, row.customer_id, version);
    const { row: newRow, ...created } = await insertKey(atNow, trx, version, row);
    await writeAudit(trx, version, auditEntry(atNow, 'key.create', newRow, { rotationOf: id }));
    const old = await retire(trx, row, newRow.id, Math.min(row.expires_at ?? Infinity, now + overlapMs));
    const detail = { replacedBy: newRow.id, ...beforeAndAfter(endOf(row), endOf(old)) };
    await writeAudit(trx, old.version, auditEntry(atNow, 'key.rotate', row, detail));
    return { ...created, old: viewKey(old, now) };
  });
}

const endOf = (row: KeyTable) => ({ state: row.state, expiresAt: row.expires_at });

async function retire(
  trx: Transaction<Schema>,
  row: KeyTable,
  replacedBy: string,
  expiresAt: number,
): Promise<KeyTable> {
  const version = await nextVersion(trx);
  const change = { state: 'rotating', replaced_by: replacedBy, expires_at: expiresAt, version } as const;
  await trx.updateTable('api_key').set(change).where('id', '=', row.id).execute();
  return { ...row, ...change };
}
