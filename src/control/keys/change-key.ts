import type { Transaction } from 'kysely';
import type { KeyTable, Schema } from '../database/schema.ts';
import { nextVersion, transactAndNotify, writeAudit } from '../database/transaction.ts';
import { checkExpiry, checkName, omitUndefined, requirePlan } from './create-key.ts';
import { auditEntry, beforeAndAfter, KeyRefusedError, type KeyRegister, requireKey } from './key-register.ts';
import { type KeyView, viewKey } from './key-view.ts';
import { checkRules, detailOfRules, type KeyRulesInput, type RuleColumns } from './rule-columns.ts';

/** What may be changed of a key; what is left out stays. */
export type KeyChange = {
  readonly [Field in keyof Changeable]?: Changeable[Field] | undefined;
};

type Changeable = KeyRulesInput & Readonly<{ name: string; expiresAt: number | null }>;

type Columns = RuleColumns & Pick<KeyTable, 'name' | 'expires_at'>;

/** What the audit log says of the columns, by their names in the control API. */
const detailOf = (row: Columns) => ({
  name: row.name,
  expiresAt: row.expires_at,
  ...detailOfRules(row),
});

/** @throws KeyRefusedError wrong-state */
function checkChangeable(row: KeyTable, now: number): void {
  const hasEnded = row.expires_at !== null && row.expires_at <= now;
  if (row.state !== 'revoked' && !hasEnded) return;
  const state = row.state === 'revoked' ? 'revoked' : 'expired';
  throw new KeyRefusedError(
    'wrong-state',
    `key ${row.id} cannot be changed: it is ${state}, which is final: create a new key`,
  );
}

async function columnsAfter(
  trx: Transaction<Schema>,
  register: KeyRegister,
  row: KeyTable,
  change: KeyChange,
): Promise<Columns> {
  const { isPublic, expiresAt, name, ...use } = viewKey(row, register.now());
  const plan = await requirePlan(trx, row.plan_id);
  const requested: KeyRulesInput = { ...use, ...omitUndefined(change) };
  // Rates that the plan no longer allows are capped by it and do not stand in the way of other changes.
  const rate = change.rate === undefined ? null : requested.rate;
  const addressPerSecond = change.addressPerSecond === undefined ? null : requested.addressPerSecond;
  const ruledKey = { product: row.product, isPublic, plan };
  const columns = checkRules({ ...requested, rate, addressPerSecond }, ruledKey);
  const { rate_per_second, rate_burst, address_per_second } = row;
  return {
    ...columns,
    ...(change.rate === undefined && { rate_per_second, rate_burst }),
    ...(change.addressPerSecond === undefined && { address_per_second }),
    name: checkName(change.name ?? name),
    expires_at: change.expiresAt === undefined ? expiresAt : checkExpiry(change.expiresAt, register.now()),
  };
}

/** A key that is being replaced never gets more time than its rotation left it. */
function endOf(row: KeyTable, expiresAt: number | null): number | null {
  if (row.replaced_by === null || row.expires_at === null) return expiresAt;
  return Math.min(row.expires_at, expiresAt ?? Infinity);
}

/** The keys of a family that work or may work again. */
function activeFamily(trx: Transaction<Schema>, familyId: string, now: number): Promise<KeyTable[]> {
  return trx
    .selectFrom('api_key')
    .selectAll()
    .where('family_id', '=', familyId)
    .where('state', '!=', 'revoked')
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
    .orderBy('id')
    .execute();
}

/**
 * Changes what a key may be used for, how it is called and when it ends: for all living keys of its family, at once. A
 * key that is being replaced is not lengthened by it.
 * @throws KeyRefusedError
 */
export function changeKey(register: KeyRegister, id: string, change: KeyChange): Promise<KeyView> {
  return transactAndNotify(register.store, async (trx) => {
    const version = await nextVersion(trx);
    const row = await requireKey(trx, id, register);
    const now = register.now();
    checkChangeable(row, now);
    const columns = await columnsAfter(trx, register, row, change);
    const detail = beforeAndAfter(detailOf(row), detailOf(columns));
    if (Object.keys(detail).length === 0) return viewKey(row, now);
    for (const member of await activeFamily(trx, row.family_id, now)) {
      const expiresAt =
        change.expiresAt === undefined ? member.expires_at : endOf(member, columns.expires_at);
      await trx
        .updateTable('api_key')
        .set({ ...columns, expires_at: expiresAt, version: await nextVersion(trx) })
        .where('id', '=', member.id)
        .execute();
    }
    await writeAudit(trx, version, auditEntry(register, 'key.change', row, detail));
    return viewKey(await requireKey(trx, id, register), now);
  });
}
