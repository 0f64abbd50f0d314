import { decodeNonce, NONCE_BYTES } from '../../nonce.ts';
import type { AccountParts } from './parsed-account.ts';

/**
 * The account may be larger than needed. Uninitialized ones are not shown as nonces. Source:
 * account-decoder/src/parse_nonce.rs
 */
export function parseNonce(data: Uint8Array): AccountParts | null {
  const nonce = decodeNonce(data.subarray(0, NONCE_BYTES))?.data ?? null;
  if (nonce === null) return null;
  const feeCalculator = { lamportsPerSignature: String(nonce.lamportsPerSignature) };
  return {
    type: 'initialized',
    info: { authority: nonce.authority, blockhash: nonce.durableNonce, feeCalculator },
  };
}
