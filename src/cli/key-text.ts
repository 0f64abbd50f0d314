import type { KeyCommands } from '../app/commands/keys.ts';
import { MAX_TIME_MS } from '../base/max-time.ts';
import { tableText } from './table-text.ts';

type Key = Awaited<ReturnType<KeyCommands['list']>>[number];
type NewKey = Awaited<ReturnType<KeyCommands['create']>>;
type IdentifiedKey = Awaited<ReturnType<KeyCommands['identify']>>;

/** Caps the time, because old rows may hold times later than Date supports. */
const day = (time: number): string =>
  new Date(Math.min(time, MAX_TIME_MS)).toISOString().slice(0, 16).replace('T', ' ');
const dayOr = (time: number | null, otherwise: string): string => (time === null ? otherwise : day(time));

/** Text for a new key, with its secret. No other text contains a secret. */
export function newKeyText({ secret, key }: Pick<NewKey, 'secret' | 'key'>): string {
  return [
    secret,
    '',
    `The key "${key.name}" (${key.id}, product ${key.product}, plan ${key.planId}) ` +
      (key.expiresAt === null ? 'does not expire.' : `expires ${day(key.expiresAt)} UTC.`),
    'Store it now: it is shown only once.',
    '',
  ].join('\n');
}

export function keyTable(keys: readonly Key[]): string {
  if (keys.length === 0) return 'No keys. Create one with "solway keys create --name NAME".\n';
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

export function identifiedKeyText({ wellFormed, key }: IdentifiedKey): string {
  if (!wellFormed) return 'No key found: the format or the checksum is invalid.\n';
  if (key === null) return 'This is a well-formed key, but not a key of this service.\n';
  const used = key.lastUsedAt === null ? 'never used' : `last used ${day(key.lastUsedAt)} UTC`;
  return (
    `Key "${key.name}" (${key.id}, product ${key.product}) of customer ${key.customerId}: ` +
    `${key.state}, ${used}.\n`
  );
}
