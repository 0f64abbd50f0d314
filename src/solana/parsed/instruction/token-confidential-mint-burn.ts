import type { ByteReader } from '../../../base/bytes.ts';
import { authorityMembers, authorized } from './authorized.ts';
import {
  byU8,
  decryptableBalance,
  elGamalKey,
  exactly,
  type Read,
  readI8,
  skipAuditorAmount,
} from './extension-data.ts';
import { proofAccount, proven } from './token-proofs.ts';
import { type Variant, variant } from './variant.ts';

/** The proofs of a confidential mint or burn, in the order of their offsets and accounts. */
export const MINT_BURN_PROOFS = ['equalityProof', 'ciphertextValidityProof', 'rangeProof'];

/** What a confidential mint or burn leaves behind, under the name it has there. */
const leaves =
  (name: string): Read =>
  (data: ByteReader) => {
    const balance = decryptableBalance(data);
    skipAuditorAmount(data);
    return { [name]: balance };
  };

/** A confidential burn's data before its proofs; the permissioned one has the same. */
export const confidentialBurn: Read = leaves('newDecryptableAvailableBalance');

const rotateSupplyKey: Variant = (data, given) => {
  if (given.length < 3) return null;
  const said = exactly((rest) => ({
    newSupplyElGamalPubkey: elGamalKey(rest),
    proofInstructionOffset: readI8(rest),
  }))(data);
  const proof = proofAccount(said.proofInstructionOffset as number, given[1]);
  const info = { mint: given[0], ...proof, ...authorityMembers('owner', given, 2), ...said };
  return { type: 'rotateConfidentialMintBurnSupplyElGamalPubkey', info };
};

const confidential = (type: string, read: Read): Variant =>
  proven(type, {
    accounts: ['destination', 'mint'],
    authority: 'owner',
    minimum: 3,
    read,
    proofs: MINT_BURN_PROOFS,
  });

/** Source: transaction-status/src/parse_token/extension/confidential_mint_burn.rs */
export const confidentialMintBurn = byU8([
  variant(
    'initializeConfidentialMintBurnMint',
    ['mint'],
    exactly((data) => ({
      supplyElGamalPubkey: elGamalKey(data),
      decryptableSupply: decryptableBalance(data),
    })),
  ),
  rotateSupplyKey,
  authorized(
    'updateConfidentialMintBurnDecryptableSupply',
    ['mint'],
    'owner',
    exactly((data) => ({ newDecryptableSupply: decryptableBalance(data) })),
  ),
  confidential('confidentialMint', leaves('newDecryptableSupply')),
  // The account that is burnt from stands first, and nodes call it the destination.
  confidential('confidentialBurn', confidentialBurn),
  authorized('applyPendingBurn', ['mint'], 'owner'),
]);
