import { hash } from 'node:crypto';

/** The header with which a client says which of its requests must not see the chain go back, in lower case. */
export const SESSION_HEADER = 'x-solway-session';

/** Longer names are known by their digest. */
const NAME_LENGTH_MAX = 64;

/**
 * The session that a header names; null for none. Any text is a name.
 * @param header - its value, as it was sent; of several, one text.
 */
export function sessionOf(header: string | readonly string[] | null | undefined): string | null {
  if (header == null) return null;
  const name = (typeof header === 'string' ? header : header.join(', ')).trim();
  if (name === '') return null;
  return name.length <= NAME_LENGTH_MAX ? name : hash('sha256', name, 'base64url');
}
