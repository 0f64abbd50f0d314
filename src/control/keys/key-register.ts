import type { Transaction } from 'kysely';
import type { Store } from '../database/open.ts';
import type { KeyTable, Schema } from '../database/schema.ts';
import type { AuditEntry } from '../database/transaction.ts';
import type { Peppers } from '../pepper.ts';

/** Where a change came from, when it came over the network. */
export type ChangeOrigin = Readonly<{
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
}>;

/** What every operation on keys needs. */
export type KeyRegister = Readonly<{
  store: Store;
  peppers: Peppers;
  /** Who acts, for the audit log: `cli:alice`, `user:anna@example.com`, `first start`. */
  actor: string;
  /** From where; absent for what is done on the machine itself. */
  origin?: ChangeOrigin;
  /** Only keys of this customer exist for the operations; absent: those of all. */
  customerId?: string;
  /** How many keys may exist that are not spent (spent-keys.ts). */
  keysMax: number;
  /** How many of them one customer may have; the house has no limit of its own. Default `keyLimits.customerKeysMax`. */
  customerKeysMax?: number;
  /** Unix milliseconds. */
  now: () => number;
}>;

/** What holds of keys when nothing else is said. */
export const keyLimits = {
  /** Keys of one customer that are not spent. */
  customerKeysMax: 10_000,
  /** Addresses, origins or methods that one key names. */
  cidrsMax: 100,
  originsMax: 100,
  methodsMax: 200,
  /** Calls a second from one address with a public key for which no number was given. */
  publicAddressPerSecond: 10,
} as const;

/** Why an operation on keys was refused; the text says what to do about it. */
export class KeyRefusedError extends Error {
  readonly reason: 'not-found' | 'wrong-state' | 'invalid' | 'limit';
  /** The field that is wrong, by its name in the control API. */
  readonly field: string | null;

  constructor(reason: KeyRefusedError['reason'], message: string, field: string | null = null) {
    super(message);
    this.name = 'KeyRefusedError';
    this.reason = reason;
    this.field = field;
  }
}

/** Refuses a field with what to write there. @throws KeyRefusedError invalid, always */
export function refuseField(field: string, message: string): never {
  throw new KeyRefusedError('invalid', message, field);
}

/**
 * The key's row, inside a transaction that holds the change counter. Keys of other customers than the register's are
 * as if they were not there.
 * @throws KeyRefusedError not-found
 */
export async function requireKey(
  trx: Transaction<Schema>,
  id: string,
  { customerId }: Pick<KeyRegister, 'customerId'>,
): Promise<KeyTable> {
  const row = await trx
    .selectFrom('api_key')
    .selectAll()
    .where('id', '=', id)
    .$if(customerId !== undefined, (query) => query.where('customer_id', '=', customerId!))
    .executeTakeFirst();
  if (row !== undefined) return row;
  throw new KeyRefusedError('not-found', 'there is no such key: see the list of keys for the ids');
}

/** The audit entry of something this register's actor does to a key. */
export function auditEntry(
  register: KeyRegister,
  action: string,
  key: Pick<KeyTable, 'id' | 'customer_id'>,
  detail: AuditEntry['detail'] = {},
): AuditEntry {
  return {
    at: register.now(),
    actor: register.actor,
    action,
    keyId: key.id,
    customerId: key.customer_id,
    ...register.origin,
    detail,
  };
}

type Detail = AuditEntry['detail'][string];

/** What changed of a row, as `before.name` and `after.name`; what stayed is left out. */
export function beforeAndAfter(
  before: Readonly<Record<string, Detail>>,
  after: Readonly<Record<string, Detail>>,
): AuditEntry['detail'] {
  const changed = Object.keys(after).filter((name) => before[name] !== after[name]);
  return Object.fromEntries(
    changed.flatMap((name) => [
      [`before.${name}`, before[name] ?? null],
      [`after.${name}`, after[name] ?? null],
    ]),
  );
}
