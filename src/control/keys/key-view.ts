import type { Network } from '../../protocol/call.ts';
import { type Product, products } from '../../protocol/product.ts';
import type { KeyTable } from '../database/schema.ts';

/** The state a person sees: the stored one, or `expired` when the time of a living key has passed. */
export type VisibleKeyStatus = KeyTable['state'] | 'expired';

/** A key as lists show it. Nothing in it helps to guess the secret. Times are Unix milliseconds. */
export type KeyView = {
  id: string;
  /** The start of the key as its owner sees it: prefix and id. */
  start: string;
  familyId: string;
  customerId: string;
  product: Product;
  name: string;
  state: VisibleKeyStatus;
  planId: string;
  createdAt: number;
  expiresAt: number | null;
  /** Id of the key that takes over from this one. */
  replacedBy: string | null;
  lastUsedAt: number | null;
  /** The address of the last use. */
  lastUsedFrom: string | null;
  isPublic: boolean;
  networks: Network[] | null;
  cidrs: string[] | null;
  origins: string[] | null;
  methods: string[] | null;
  rate: { perSecond: number; burst: number } | null;
  addressPerSecond: number | null;
  logsBodies: boolean;
  neverBack: boolean;
  /** When somebody reported it as leaked. */
  leakedAt: number | null;
};

function visibleState(row: KeyTable, now: number): VisibleKeyStatus {
  const living = row.state === 'active' || row.state === 'rotating';
  return living && row.expires_at !== null && row.expires_at <= now ? 'expired' : row.state;
}

const listOf = (joined: string): string[] | null => (joined === '' ? null : joined.split(','));

/** A key's own rate; one that was given whole has both numbers. */
function rateOf({ rate_per_second: perSecond, rate_burst: burst }: KeyTable): KeyView['rate'] {
  return perSecond === null ? null : { perSecond, burst: burst ?? perSecond };
}

/** The view of a row at time `now`. */
export function viewKey(row: KeyTable, now: number): KeyView {
  return {
    id: row.id,
    start: `${products[row.product].prefix}${row.id}`,
    familyId: row.family_id,
    customerId: row.customer_id,
    product: row.product,
    name: row.name,
    state: visibleState(row, now),
    planId: row.plan_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    replacedBy: row.replaced_by,
    lastUsedAt: row.last_used_at,
    lastUsedFrom: row.last_used_from,
    isPublic: row.is_public !== 0,
    networks: listOf(row.networks) as Network[] | null,
    cidrs: listOf(row.cidrs),
    origins: listOf(row.origins),
    methods: listOf(row.methods),
    rate: rateOf(row),
    addressPerSecond: row.address_per_second,
    logsBodies: row.logs_bodies !== 0,
    neverBack: row.never_back !== 0,
    leakedAt: row.leaked_at,
  };
}
