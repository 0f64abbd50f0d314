import type { Product } from '../../protocol/product.ts';
import { KeyRefusedError, type KeyRegister } from './key-register.ts';
import { type KeyView, viewKey } from './key-view.ts';

/** One more than a page of the control API: it tells whether there is another. */
const LIST_LIMIT_MAX = 1_001;

export type ListKeysOptions = Readonly<{
  product?: Product | undefined;
  /** Revoked keys are left out unless asked for. */
  withRevoked?: boolean;
  /** 1 to 1001. */
  limit?: number;
  /** Id of the last key of the page before. */
  after?: string | undefined;
}>;

/** Keys in the order of their ids: those of the register's customer, or all. */
export async function listKeys(register: KeyRegister, options: ListKeysOptions = {}): Promise<KeyView[]> {
  let query = register.store.db.selectFrom('api_key').selectAll().orderBy('id');
  if (register.customerId !== undefined) query = query.where('customer_id', '=', register.customerId);
  if (options.product !== undefined) query = query.where('product', '=', options.product);
  if (options.withRevoked !== true) query = query.where('state', '!=', 'revoked');
  if (options.after !== undefined) query = query.where('id', '>', options.after);
  const rows = await query.limit(Math.min(options.limit ?? LIST_LIMIT_MAX, LIST_LIMIT_MAX)).execute();
  return rows.map((row) => viewKey(row, register.now()));
}

/** One key and all keys of its family, the oldest first. @throws KeyRefusedError not-found */
export async function readFamily(
  register: KeyRegister,
  id: string,
): Promise<Readonly<{ key: KeyView; family: KeyView[] }>> {
  const { db } = register.store;
  const rows = await db
    .selectFrom('api_key')
    .selectAll()
    .where('family_id', '=', db.selectFrom('api_key').select('family_id').where('id', '=', id))
    .$if(register.customerId !== undefined, (query) => query.where('customer_id', '=', register.customerId!))
    .orderBy('created_at')
    .orderBy('id')
    .limit(LIST_LIMIT_MAX)
    .execute();
  const family = rows.map((row) => viewKey(row, register.now()));
  const key = family.find((one) => one.id === id);
  if (key !== undefined) return { key, family };
  throw new KeyRefusedError('not-found', 'there is no such key: see the list of keys for the ids');
}
