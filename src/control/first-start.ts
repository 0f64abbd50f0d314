import { type Product, products } from '../protocol/product.ts';
import { nextVersion, transactAndNotify } from './database/transaction.ts';
import { createKeyIn, type NewKey } from './keys/create-key.ts';
import type { KeyRegister } from './keys/key-register.ts';

/**
 * At the very first start, a key of each product; at every later one, none. Of several processes that start at
 * once on one store, one makes the keys.
 */
export function createFirstKeys(register: KeyRegister): Promise<NewKey[]> {
  return transactAndNotify(register.store, async (trx) => {
    await nextVersion(trx);
    const any = await trx.selectFrom('api_key').select('id').limit(1).executeTakeFirst();
    if (any !== undefined) return [];
    const created: NewKey[] = [];
    for (const product of Object.keys(products) as Product[]) {
      created.push(await createKeyIn(register, trx, { product, name: `first ${product} key` }));
    }
    return created;
  });
}
