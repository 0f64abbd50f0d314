import { base16 } from 'multiformats/bases/base16';
import { base32, base32upper } from 'multiformats/bases/base32';
import { base36 } from 'multiformats/bases/base36';
import { base58btc } from 'multiformats/bases/base58';
import { base64url } from 'multiformats/bases/base64';
import { CID } from 'multiformats/cid';

const TEXT_MAX_CHARACTERS = 160;

const decoder = base32.decoder
  .or(base58btc.decoder)
  .or(base36.decoder)
  .or(base16.decoder)
  .or(base32upper.decoder)
  .or(base64url.decoder);

/** Converts a CID to version 1 in lower-case base32; null if invalid. @param text - CID in any common encoding. */
export function canonicalCid(text: string): string | null {
  if (text.length > TEXT_MAX_CHARACTERS) return null;
  try {
    return CID.parse(text, decoder).toV1().toString(base32.encoder);
  } catch {
    return null;
  }
}

export type Range = Readonly<{ start: number; end: number }>;

const ONE_RANGE = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i;

function boundsOf(first: string, last: string, bytes: number): Range | 'unsatisfiable' | null {
  if (first === '') {
    const length = Number(last);
    return length === 0 ? 'unsatisfiable' : { start: Math.max(0, bytes - length), end: bytes };
  }
  const start = Number(first);
  const end = last === '' ? bytes : Math.min(Number(last) + 1, bytes);
  if (last !== '' && Number(last) < start) return null;
  return start >= bytes ? 'unsatisfiable' : { start, end };
}

/** Returns null, to send the whole file, if it is empty or no single valid range is given. Source: RFC 9110 §14.2. */
export function rangeOf(header: string | undefined, bytes: number): Range | 'unsatisfiable' | null {
  const [, first = '', last = ''] = ONE_RANGE.exec(header ?? '') ?? [];
  if (bytes === 0 || (first === '' && last === '')) return null;
  return boundsOf(first, last, bytes);
}

/** Whether If-None-Match contains the tag, strong or weak. Source: RFC 9110 §13.1.2. */
export function hasTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
}
