import type { ByteReader } from '../../../base/bytes.ts';
import type { Members } from '../wire-order.ts';
import { authorityMembers, authorized } from './authorized.ts';
import {
  byU8,
  decryptableBalance,
  exactly,
  maybeAddress,
  maybeElGamalKey,
  type Read,
  readI8,
  skipAuditorAmount,
} from './extension-data.ts';
import { proofAccount, proven } from './token-proofs.ts';
import { nameAddresses, type Variant, variant } from './variant.ts';

const mintMembers = (data: ByteReader): Members => ({
  autoApproveNewAccounts: data.bool(),
  auditorElGamalPubkey: maybeElGamalKey(data),
});

const configureAccount: Variant = (data, given) => {
  if (given.length < 4) return null;
  const said = exactly((rest) => ({
    decryptableZeroBalance: decryptableBalance(rest),
    maximumPendingBalanceCreditCounter: rest.u64(),
    proofInstructionOffset: readI8(rest),
  }))(data);
  const named = nameAddresses(['account', 'mint'], given);
  const proof = proofAccount(said.proofInstructionOffset as number, given[2]);
  const info = { ...named, ...proof, ...authorityMembers('owner', given, 3), ...said };
  return { type: 'configureConfidentialTransferAccount', info };
};

const emptyAccount: Variant = (data, given) => {
  if (given.length < 3) return null;
  const said = exactly((rest) => ({ proofInstructionOffset: readI8(rest) }))(data);
  const proof = proofAccount(said.proofInstructionOffset as number, given[1]);
  const info = { account: given[0], ...proof, ...authorityMembers('owner', given, 2), ...said };
  return { type: 'emptyConfidentialTransferAccount', info };
};

const deposit: Read = (data) => ({ amount: data.u64(), decimals: data.u8() });

const withdraw: Read = (data) => ({
  ...deposit(data),
  newDecryptableAvailableBalance: decryptableBalance(data),
});

const transfer: Read = (data) => {
  const newSourceDecryptableAvailableBalance = decryptableBalance(data);
  skipAuditorAmount(data);
  return { newSourceDecryptableAvailableBalance };
};

const applyPendingBalance: Read = (data) => ({
  expectedPendingBalanceCreditCounter: data.u64(),
  newDecryptableAvailableBalance: decryptableBalance(data),
});

const switchCredits = (type: string): Variant => authorized(type, ['account'], 'owner');

/** Source: transaction-status/src/parse_token/extension/confidential_transfer.rs */
export const confidentialTransfer = byU8([
  variant(
    'initializeConfidentialTransferMint',
    ['mint'],
    exactly((data) => ({ authority: maybeAddress(data) ?? undefined, ...mintMembers(data) })),
  ),
  variant(
    'updateConfidentialTransferMint',
    ['mint', 'confidentialTransferMintAuthority'],
    exactly(mintMembers),
  ),
  configureAccount,
  variant('approveConfidentialTransferAccount', ['account', 'mint', 'confidentialTransferAuditorAuthority']),
  emptyAccount,
  authorized('depositConfidentialTransfer', ['account', 'mint'], 'owner', exactly(deposit)),
  proven('withdrawConfidentialTransfer', {
    accounts: ['account', 'mint'],
    authority: 'owner',
    minimum: 4,
    read: withdraw,
    proofs: ['equalityProof', 'rangeProof'],
  }),
  proven('confidentialTransfer', {
    accounts: ['source', 'mint', 'destination'],
    authority: 'owner',
    minimum: 4,
    read: transfer,
    proofs: ['equalityProof', 'ciphertextValidityProof', 'rangeProof'],
  }),
  authorized('applyPendingConfidentialTransferBalance', ['account'], 'owner', exactly(applyPendingBalance)),
  switchCredits('enableConfidentialTransferConfidentialCredits'),
  switchCredits('disableConfidentialTransferConfidentialCredits'),
  switchCredits('enableConfidentialTransferNonConfidentialCredits'),
  switchCredits('disableConfidentialTransferNonConfidentialCredits'),
  proven('confidentialTransferWithFee', {
    accounts: ['source', 'mint', 'destination'],
    authority: 'owner',
    minimum: 4,
    read: transfer,
    proofs: [
      'equalityProof',
      'transferAmountCiphertextValidityProof',
      'feeSigmaProof',
      'feeCiphertextValidityProof',
      'rangeProof',
    ],
  }),
  variant('configureConfidentialAccountWithRegistry', ['account', 'mint', 'registry']),
]);
