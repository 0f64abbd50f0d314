import type { Kysely, Transaction } from 'kysely';
import { HOUSE_CUSTOMER_ID } from '../accounts/roles.ts';
import type { Store } from '../database/open.ts';
import type { Schema } from '../database/schema.ts';
import { KeyRefusedError, type KeyRegister, keyLimits } from './key-register.ts';
import { notSpent } from './spent-keys.ts';

/**
 * How many keys there are that are not spent (spent-keys.ts).
 * @param now - Unix milliseconds.
 * @param customerId - whose; absent: everybody's.
 */
export async function countKeys(db: Kysely<Schema>, now: number, customerId?: string): Promise<number> {
  const { count } = await db
    .selectFrom('api_key')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where(notSpent(now))
    .$if(customerId !== undefined, (query) => query.where('customer_id', '=', customerId!))
    .executeTakeFirstOrThrow();
  return count;
}

/** How many keys there were before the change that took `version`. */
type Counted = Readonly<{ count: number; version: number }>;

const counts = new WeakMap<Store, Counted>();

/**
 * Whether there is room for sure. Every key that was made since took a number of the change counter, whichever gateway
 * made it, so that a million keys need not be counted for each new one while the counter is held.
 */
function hasRoom({ store, keysMax }: KeyRegister, version: number): boolean {
  const counted = counts.get(store) ?? { count: 0, version: 0 };
  return version >= counted.version && counted.count + version - counted.version < keysMax;
}

/**
 * Whether another key may be made for a customer.
 * @param version - of the change that makes it.
 * @throws KeyRefusedError limit
 */
export async function checkRoom(
  trx: Transaction<Schema>,
  register: KeyRegister,
  customerId: string,
  version: number,
): Promise<void> {
  const { store, keysMax, customerKeysMax = keyLimits.customerKeysMax } = register;
  if (!hasRoom(register, version)) {
    const count = await countKeys(trx, register.now());
    counts.set(store, { count, version });
    if (count >= keysMax) {
      throw new KeyRefusedError(
        'limit',
        `there are ${count} keys and no more are allowed: revoke some or raise keys.keys_max`,
      );
    }
  }
  if (customerId === HOUSE_CUSTOMER_ID) return;
  const own = await countKeys(trx, register.now(), customerId);
  if (own < customerKeysMax) return;
  throw new KeyRefusedError(
    'limit',
    `there are ${own} keys of this customer and no more are allowed: revoke some, or ask the operator to raise ` +
      'keys.customer_keys_max',
  );
}
