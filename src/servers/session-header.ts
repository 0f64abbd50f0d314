import { hash } from 'node:crypto';

/** Header that names a session for monotonic reads. Lower case. */
export const SESSION_HEADER = 'x-solway-session';

/** Longer names are replaced by their hash. */
const NAME_LENGTH_MAX = 64;

/** The session named by the header; null for none. Repeated headers are joined. */
export function sessionOf(header: string | readonly string[] | null | undefined): string | null {
  if (header == null) return null;
  const name = (typeof header === 'string' ? header : header.join(', ')).trim();
  if (name === '') return null;
  return name.length <= NAME_LENGTH_MAX ? name : hash('sha256', name, 'base64url');
}
