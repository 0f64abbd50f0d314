import { MAX_TIME_MS } from '../base/max-time.ts';
import { tableText } from './table-text.ts';

/** Key fields used in texts; the shape of the key view. */
type Key = Readonly<{
  id: string;
  start: string;
  product: string;
  name: string;
  state: string;
  planId: string;
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
}>;

/** Rows of old may have later times, which are written as the last. */
const day = (time: number): string =>
  new Date(Math.min(time, MAX_TIME_MS)).toISOString().slice(0, 16).replace('T', ' ');
const dayOr = (time: number | null, otherwise: string): string => (time === null ? otherwise : day(time));

/** A key's secret and what to know about it. The one place where a secret is written. */
export function newKeyText({ secret, key }: Readonly<{ secret: string; key: Key }>): string {
  return [
    secret,
    '',
    `The key "${key.name}" (${key.id}, product ${key.product}, plan ${key.planId}) ` +
      (key.expiresAt === null ? 'does not expire.' : `expires ${day(key.expiresAt)} UTC.`),
    'Keep it now: it is shown this once and nowhere stored.',
    '',
  ].join('\n');
}

/** Keys as a table for a terminal; times in UTC. */
export function keyTable(keys: readonly Key[]): string {
  if (keys.length === 0) return 'There are no keys: make one with "solway keys create --name NAME".\n';
  const rows = keys.map((key) => [
    key.id,
    key.product,
    key.state,
    key.planId,
    day(key.createdAt),
    dayOr(key.expiresAt, 'never'),
    dayOr(key.lastUsedAt, 'never'),
    key.name,
  ]);
  return tableText([['ID', 'PRODUCT', 'STATE', 'PLAN', 'CREATED', 'EXPIRES', 'LAST USED', 'NAME'], ...rows]);
}

/** Description of an identified text. */
export function identifiedKeyText({
  wellFormed,
  key,
}: Readonly<{ wellFormed: boolean; key: (Key & Readonly<{ customerId: string }>) | null }>): string {
  if (!wellFormed) return 'No key is in that: the form or the checksum is wrong.\n';
  if (key === null) return 'That has the form of a key, and is none of this service.\n';
  const used = key.lastUsedAt === null ? 'never used' : `last used ${day(key.lastUsedAt)} UTC`;
  return (
    `That is the key "${key.name}" (${key.id}, product ${key.product}) of customer ${key.customerId}: ` +
    `${key.state}, ${used}.\n`
  );
}
