import { timingSafeEqual } from 'node:crypto';
import { digestApiKey } from './api-key.ts';
import type { KeyId } from './key-record.ts';

/** How long a playground token is valid, in milliseconds. */
export const TOKEN_TTL_MS = 5 * 60_000;

/**
 * Format (spaces added): svc_try_ 7hQ2mKpZ mfqlv9xz 0c5f…. The prefix is followed by the id of the key, the expiry in
 * Unix milliseconds (base 36) and 128 bits of an HMAC over the text before it, under the key's pepper. All gateways
 * verify it without a lookup. It cannot be confused with a key: the digest of a key covers a text with another prefix.
 */
const PATTERN = /^(svc_try_([1-9A-HJ-NP-Za-km-z]{8})([0-9a-z]{8}))([0-9a-f]{32})$/;
const MAC_LENGTH = 32;

export type PlaygroundToken = Readonly<{ keyId: KeyId; expiresAtMs: number; body: string; mac: string }>;

const macOf = (body: string, pepper: Buffer): string =>
  digestApiKey(body, pepper).toString('hex').slice(0, MAC_LENGTH);

/** @param expiresAtMs - Unix milliseconds. @param pepper - that of the key. */
export function createPlaygroundToken(keyId: string, expiresAtMs: number, pepper: Buffer): string {
  const body = `svc_try_${keyId}${expiresAtMs.toString(36).padStart(8, '0')}`;
  return body + macOf(body, pepper);
}

/** Checks only the pattern. */
export function parsePlaygroundToken(text: string): PlaygroundToken | null {
  const match = PATTERN.exec(text);
  if (match === null) return null;
  const [, body = '', id, expiry = '', mac = ''] = match;
  return { keyId: id as KeyId, expiresAtMs: Number.parseInt(expiry, 36), body, mac };
}

export const isPlaygroundTokenOf = ({ body, mac }: PlaygroundToken, pepper: Buffer): boolean =>
  timingSafeEqual(Buffer.from(macOf(body, pepper)), Buffer.from(mac));
