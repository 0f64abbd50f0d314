import { decodeNonce, NONCE_BYTES } from '../../nonce.ts';
import type { AccountParts } from './parsed-account.ts';

/**
 * A nonce account, which may have more room than it needs. One that is not initialized looks like any allocated
 * account and is not shown as a nonce.
 * Source: account-decoder/src/parse_nonce.rs
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
