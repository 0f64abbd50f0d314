import { expressionBuilder, type Kysely, type Transaction } from 'kysely';
import { DEFAULT_CUSTOMER_ID } from '../accounts/roles.ts';
import { limitReached } from '../api/api-error.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import { type KeyRegister, keyLimits } from './key-register.ts';

const EXPIRED_RETENTION_MS = 30 * 24 * 3_600_000;

/**
 * Matches keys that are not revoked and did not expire more than 30 days ago. Other keys do not count toward quotas,
 * need no pepper and are not loaded.
 */
export function notExpired(now: number) {
  const key = expressionBuilder<Schema, 'api_key'>();
  return key.and([
    key('api_key.state', '!=', 'revoked'),
    key.or([
      key('api_key.expires_at', 'is', null),
      key('api_key.expires_at', '>', now - EXPIRED_RETENTION_MS),
    ]),
  ]);
}

/** Counts the keys that `notExpired` matches, by default across all customers. */
export async function countKeys(db: Kysely<Schema>, now: number, customerId?: string): Promise<number> {
  const { count } = await db
    .selectFrom('api_key')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where(notExpired(now))
    .$if(customerId !== undefined, (query) => query.where('customer_id', '=', customerId!))
    .executeTakeFirstOrThrow();
  return count;
}

const counts = new WeakMap<Store, Readonly<{ count: number; version: number }>>();

/**
 * True if the limit cannot have been reached. Each new key advances the change counter, so the counter's growth since
 * the last count bounds the number of new keys. This avoids counting a million rows while the counter is locked.
 */
function isBelowLimit({ store, keysMax }: KeyRegister, version: number): boolean {
  const lastCount = counts.get(store) ?? { count: 0, version: 0 };
  return version >= lastCount.version && lastCount.count + version - lastCount.version < keysMax;
}

/** @param version - number of the change that creates the key. @throws ApiError 409 */
export async function assertKeyQuota(
  trx: Transaction<Schema>,
  register: KeyRegister,
  customerId: string,
  version: number,
): Promise<void> {
  const { store, keysMax, customerKeysMax = keyLimits.customerKeysMax } = register;
  if (!isBelowLimit(register, version)) {
    const count = await countKeys(trx, register.now());
    counts.set(store, { count, version });
    if (count >= keysMax)
      throw limitReached(
        `The service has ${count} keys, which is the maximum. Revoke keys or raise keys.keys_max.`,
      );
  }
  if (customerId === DEFAULT_CUSTOMER_ID) return;
  const own = await countKeys(trx, register.now(), customerId);
  if (own < customerKeysMax) return;
  throw limitReached(
    `This customer has ${own} keys, which is the maximum. Revoke keys, or ask the operator to raise ` +
      'keys.customer_keys_max',
  );
}
