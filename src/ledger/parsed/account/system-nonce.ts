import { decodeNonce } from '../../nonce.ts';
import type { AccountParts } from './parsed-account.ts';

/**
 * A nonce account. One that is not initialized looks like any allocated account and is not shown as a nonce.
 * Source: account-decoder/src/parse_nonce.rs
 */
export function parseNonce(data: Uint8Array): AccountParts | null {
  const nonce = decodeNonce(data)?.data ?? null;
  if (nonce === null) return null;
  const feeCalculator = { lamportsPerSignature: String(nonce.lamportsPerSignature) };
  return {
    type: 'initialized',
    info: { authority: nonce.authority, blockhash: nonce.durableNonce, feeCalculator },
  };
}
