import { base16 } from 'multiformats/bases/base16';
import { base32, base32upper } from 'multiformats/bases/base32';
import { base36 } from 'multiformats/bases/base36';
import { base58btc } from 'multiformats/bases/base58';
import { base64url } from 'multiformats/bases/base64';
import { CID } from 'multiformats/cid';

/** Longer than any CID with a 64-byte hash. */
const TEXT_MAX_CHARACTERS = 160;

const decoder = base32.decoder
  .or(base58btc.decoder)
  .or(base36.decoder)
  .or(base16.decoder)
  .or(base32upper.decoder)
  .or(base64url.decoder);

/**
 * The canonical form of a CID: version 1 in lower-case base32.
 * @param text - a CID in any common encoding, or anything else.
 * @returns null for an invalid CID.
 */
export function canonicalCid(text: string): string | null {
  if (text.length > TEXT_MAX_CHARACTERS) return null;
  try {
    return CID.parse(text, decoder).toV1().toString(base32.encoder);
  } catch {
    return null;
  }
}
