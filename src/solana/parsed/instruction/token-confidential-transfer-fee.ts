import { authorityMembers, authorized } from './authorized.ts';
import {
  byU8,
  decryptableBalance,
  elGamalKey,
  exactly,
  maybeAddress,
  type Read,
  readI8,
} from './extension-data.ts';
import { proofAccount } from './token-proofs.ts';
import { nameAddresses, type Variant, variant } from './variant.ts';

const withdrawal: Read = (data) => ({
  proofInstructionOffset: readI8(data),
  newDecryptableAvailableBalance: decryptableBalance(data),
});

/** Fees go from the mint to `feeRecipient`, or from the `sources` accounts that stand last. */
const withdrawTo = (type: string, hasSources: boolean): Variant => {
  return (data, given) => {
    const first = given.length - (hasSources ? data.u8() : 0);
    if (first < 4) return null;
    const said = exactly(withdrawal)(data);
    const named = nameAddresses(['mint', 'feeRecipient'], given);
    const proof = proofAccount(said.proofInstructionOffset as number, given[2]);
    const authority = authorityMembers('withdrawWithheldAuthority', given.slice(0, first), 3);
    const sources = hasSources ? { sourceAccounts: given.slice(first) } : {};
    return { type, info: { ...named, ...proof, ...authority, ...sources, ...said } };
  };
};

/** Source: transaction-status/src/parse_token/extension/confidential_transfer_fee.rs */
export const confidentialTransferFee = byU8([
  variant(
    'initializeConfidentialTransferFeeConfig',
    ['mint'],
    exactly((data) => ({
      authority: maybeAddress(data) ?? undefined,
      withdrawWithheldAuthorityElGamalPubkey: elGamalKey(data),
    })),
  ),
  withdrawTo('withdrawWithheldConfidentialTransferTokensFromMint', false),
  withdrawTo('withdrawWithheldConfidentialTransferTokensFromAccounts', true),
  variant('harvestWithheldConfidentialTransferTokensToMint', ['mint'], (_, given) => ({
    sourceAccounts: given.slice(1),
  })),
  // The mint is what is switched, and nodes call it the account.
  authorized('enableConfidentialTransferFeeHarvestToMint', ['account'], 'owner'),
  authorized('disableConfidentialTransferFeeHarvestToMint', ['account'], 'owner'),
]);
