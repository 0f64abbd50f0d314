import { timingSafeEqual } from 'node:crypto';
import { digestApiKey, parseApiKey } from '../../access/api-key.ts';
import type { KeyTable } from '../database/schema.ts';
import type { KeyRegister } from './key-register.ts';
import { type KeyView, viewKey } from './key-view.ts';

/** What a text turned out to be. */
export type Whose = Readonly<{
  /** Whether it has the form of a key: pattern and checksum. */
  wellFormed: boolean;
  /** Whether the whole text is a key here, its secret included. */
  matches: boolean;
  /** Which, and whose; null where it does not match. */
  key: KeyView | null;
}>;

/** The row of the key that a text is, whatever its state. The text is looked up by its public id and kept nowhere. */
export async function findByText(
  { store, peppers }: Pick<KeyRegister, 'store' | 'peppers'>,
  text: string,
): Promise<KeyTable | null> {
  const parsed = parseApiKey(text);
  if (typeof parsed === 'string') return null;
  const row = await store.db.selectFrom('api_key').selectAll().where('id', '=', parsed.id).executeTakeFirst();
  const pepper = row === undefined ? undefined : peppers.secrets.get(row.pepper_version);
  if (row === undefined || pepper === undefined) return null;
  return timingSafeEqual(digestApiKey(text, pepper), Buffer.from(row.digest, 'hex')) ? row : null;
}

/** Whether a text is a key of this service, and whose: of all customers. */
export async function whoseKey(register: KeyRegister, text: string): Promise<Whose> {
  const trimmed = text.trim();
  const wellFormed = typeof parseApiKey(trimmed) !== 'string';
  const row = await findByText(register, trimmed);
  return { wellFormed, matches: row !== null, key: row === null ? null : viewKey(row, register.now()) };
}
