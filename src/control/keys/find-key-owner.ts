import { timingSafeEqual } from 'node:crypto';
import { digestApiKey, findApiKeys, parseApiKey } from '../../gateway/auth/api-key.ts';
import type { KeyTable } from '../database/schema.ts';
import type { KeyRegister } from './key-register.ts';
import { type KeyView, viewKey } from './key-view.ts';

/** What a text turned out to hold. */
export type KeyOwnerResult = Readonly<{
  /** Whether something of the form of a key stands in it: pattern and checksum. */
  wellFormed: boolean;
  /** Whether that is a key here, its secret included. */
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

/** Whether a key of this service stands in a text, and whose: of all customers; the first of several. */
export async function findKeyOwner(register: KeyRegister, text: string): Promise<KeyOwnerResult> {
  const found = findApiKeys(text);
  for (const key of found) {
    const row = await findByText(register, key);
    if (row !== null) return { wellFormed: true, matches: true, key: viewKey(row, register.now()) };
  }
  return { wellFormed: found.length > 0, matches: false, key: null };
}
