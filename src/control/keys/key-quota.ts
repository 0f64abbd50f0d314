import { expressionBuilder, type Kysely, type Transaction } from 'kysely';
import { DEFAULT_CUSTOMER_ID } from '../accounts/roles.ts';
import type { Store } from '../database/open.ts';
import type { Schema } from '../database/schema.ts';
import { KeyRefusedError, type KeyRegister, keyLimits } from './key-register.ts';

/** How long an expired key still counts as one that somebody may ask about. */
const EXPIRED_RETENTION_MS = 30 * 24 * 3_600_000;

/**
 * The condition that a key is not spent: neither revoked nor expired for more than 30 days. Both are final, so a
 * spent key takes no room, needs no pepper and is not loaded.
 * @param now - Unix milliseconds.
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

/**
 * How many keys there are that are not spent (spent-keys.ts).
 * @param now - Unix milliseconds.
 * @param customerId - whose; absent: everybody's.
 */
export async function countKeys(db: Kysely<Schema>, now: number, customerId?: string): Promise<number> {
  const { count } = await db
    .selectFrom('api_key')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where(notExpired(now))
    .$if(customerId !== undefined, (query) => query.where('customer_id', '=', customerId!))
    .executeTakeFirstOrThrow();
  return count;
}

/** How many keys there were before the change that took `version`. */
type KeyCount = Readonly<{ count: number; version: number }>;

const counts = new WeakMap<Store, KeyCount>();

/**
 * Whether there is room for sure. Every key that was made since took a number of the change counter, whichever gateway
 * made it, so that a million keys need not be counted for each new one while the counter is held.
 */
function isBelowLimit({ store, keysMax }: KeyRegister, version: number): boolean {
  const lastCount = counts.get(store) ?? { count: 0, version: 0 };
  return version >= lastCount.version && lastCount.count + version - lastCount.version < keysMax;
}

/**
 * Whether another key may be made for a customer.
 * @param version - of the change that makes it.
 * @throws KeyRefusedError limit
 */
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
    if (count >= keysMax) {
      throw new KeyRefusedError(
        'limit',
        `there are ${count} keys and no more are allowed: revoke some or raise keys.keys_max`,
      );
    }
  }
  if (customerId === DEFAULT_CUSTOMER_ID) return;
  const own = await countKeys(trx, register.now(), customerId);
  if (own < customerKeysMax) return;
  throw new KeyRefusedError(
    'limit',
    `there are ${own} keys of this customer and no more are allowed: revoke some, or ask the operator to raise ` +
      'keys.customer_keys_max',
  );
}
