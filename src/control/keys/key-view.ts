import { type Product, products } from '../../protocol/product.ts';
import type { KeyTable } from '../database/schema.ts';

/** The state a person sees: the stored one, or `expired` when the time of a living key has passed. */
export type VisibleState = KeyTable['state'] | 'expired';

/** A key as lists show it. Nothing in it helps to guess the secret. Times are Unix milliseconds. */
export type KeyView = Readonly<{
  id: string;
  /** The start of the key as its owner sees it: prefix and id. */
  start: string;
  familyId: string;
  product: Product;
  name: string;
  state: VisibleState;
  planId: string;
  createdAt: number;
  expiresAt: number | null;
  /** Id of the key that takes over from this one. */
  replacedBy: string | null;
  lastUsedAt: number | null;
}>;

function visibleState(row: KeyTable, now: number): VisibleState {
  const living = row.state === 'active' || row.state === 'rotating';
  return living && row.expires_at !== null && row.expires_at <= now ? 'expired' : row.state;
}

/** The view of a row at time `now`. */
export function viewKey(row: KeyTable, now: number): KeyView {
  return {
    id: row.id,
    start: `${products[row.product].prefix}${row.id}`,
    familyId: row.family_id,
    product: row.product,
    name: row.name,
    state: visibleState(row, now),
    planId: row.plan_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    replacedBy: row.replaced_by,
    lastUsedAt: row.last_used_at,
  };
}
