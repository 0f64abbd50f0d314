import type { Transaction } from 'kysely';
import type { AuditEntry } from '../database/change.ts';
import type { Store } from '../database/open.ts';
import type { KeyTable, Schema } from '../database/schema.ts';
import type { Peppers } from '../pepper.ts';

/** What every operation on keys needs. */
export type KeyRegister = Readonly<{
  store: Store;
  peppers: Peppers;
  /** Who acts, for the audit log: `cli:alice`, `first start`. */
  actor: string;
  /** How many keys may exist that are not spent (spent-keys.ts). */
  keysMax: number;
  /** Unix milliseconds. */
  now: () => number;
}>;

/** Why an operation on keys was refused; the text says what to do about it. */
export class KeyRefusedError extends Error {
  readonly reason: 'not-found' | 'wrong-state' | 'invalid' | 'limit';

  constructor(reason: KeyRefusedError['reason'], message: string) {
    super(message);
    this.name = 'KeyRefusedError';
    this.reason = reason;
  }
}

/** The key's row, inside a transaction that holds the change counter. @throws KeyRefusedError not-found */
export async function requireKey(trx: Transaction<Schema>, id: string): Promise<KeyTable> {
  const row = await trx.selectFrom('api_key').selectAll().where('id', '=', id).executeTakeFirst();
  if (row !== undefined) return row;
  throw new KeyRefusedError('not-found', 'there is no such key: see the list of keys for the ids');
}

/** The audit entry of something this register's actor does. */
export function auditEntry(
  register: KeyRegister,
  action: string,
  keyId: string,
  detail: AuditEntry['detail'] = {},
): AuditEntry {
  return { at: register.now(), actor: register.actor, action, keyId, detail };
}
