import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Returns a random token of 256 bits for a link, and the digest that is stored instead of it. */
export function createLinkToken(): { token: string; digest: string } {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, digest: digestOf(token) };
}

/** Returns null if the text cannot be a token. */
export const linkTokenDigest = (token: string): string | null => (TOKEN.test(token) ? digestOf(token) : null);
