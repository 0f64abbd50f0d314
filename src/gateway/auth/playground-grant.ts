import { timingSafeEqual } from 'node:crypto';
import { digestApiKey } from './api-key.ts';
import type { KeyId } from './key-record.ts';

/** How long a grant is valid, in milliseconds. */
export const GRANT_MS = 5 * 60_000;

/**
 * Grant format (spaces added): svc_try_ 7hQ2mKpZ mfqlv9xz 0c5f…. The prefix is followed by the id of the key, the end in
 * milliseconds (base 36) and 128 bits of an HMAC over the text before it, under the key's pepper. All gateways verify it
 * without a lookup. It cannot be confused with a key: the digest of a key covers a text with another prefix.
 */
const PATTERN = /^(svc_try_([1-9A-HJ-NP-Za-km-z]{8})([0-9a-z]{8}))([0-9a-f]{32})$/;
const MAC_LENGTH = 32;

export type PlaygroundGrant = Readonly<{ keyId: KeyId; endsAtMs: number; body: string; mac: string }>;

const macOf = (body: string, pepper: Buffer): string =>
  digestApiKey(body, pepper).toString('hex').slice(0, MAC_LENGTH);

/** @param endsAtMs - Unix milliseconds. @param pepper - that of the key. */
export function createGrant(keyId: string, endsAtMs: number, pepper: Buffer): string {
  const body = `svc_try_${keyId}${endsAtMs.toString(36).padStart(8, '0')}`;
  return body + macOf(body, pepper);
}

/** Checks only the pattern. */
export function parseGrant(credential: string): PlaygroundGrant | null {
  const match = PATTERN.exec(credential);
  if (match === null) return null;
  const [, body = '', id, end = '', mac = ''] = match;
  return { keyId: id as KeyId, endsAtMs: Number.parseInt(end, 36), body, mac };
}

export const isGrantOf = ({ body, mac }: PlaygroundGrant, pepper: Buffer): boolean =>
  timingSafeEqual(Buffer.from(macOf(body, pepper)), Buffer.from(mac));
