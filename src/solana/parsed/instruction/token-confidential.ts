import type { ByteReader } from '../../../base/bytes.ts';
import type { Address } from '../../address.ts';
import type { Members } from '../wire-order.ts';
import {
  authorityMembers,
  authorized,
  byU8,
  decryptableBalance,
  elGamalKey,
  exactly,
  maybeAddress,
  maybeElGamalKey,
  nameAddresses,
  type Read,
  readI8,
  skipAuditorAmount,
  type Variant,
  variant,
} from './variant.ts';

/**
 * Proofs of confidential transfers: an i8 offset to the verifying instruction, or 0 for a context account.
 */

/** Account of a single proof. */
const proofAccount = (offset: number, account: Address | undefined): Members =>
  offset === 0 ? { proofContextStateAccount: account } : { instructionsSysvar: account };

type Offsets = ReadonlyMap<string, number>;

const readOffsets = (data: ByteReader, proofs: readonly string[]): Offsets =>
  new Map(proofs.map((proof) => [proof, readI8(data)]));

/** Proof account names; the instructions sysvar comes first. */
function proofAccountNames(offsets: Offsets): string[] {
  const contexts = [...offsets].filter(([, offset]) => offset === 0);
  const names = contexts.map(([proof]) => `${proof}ContextStateAccount`);
  return contexts.length === offsets.size ? names : ['instructionsSysvar', ...names];
}

const offsetMembers = (offsets: Offsets): Members =>
  Object.fromEntries([...offsets].map(([proof, offset]) => [`${proof}InstructionOffset`, offset]));

/** Instruction with several proofs. */
type Proven = Readonly<{
  /** Accounts before the proofs. */
  accounts: readonly string[];
  /** Optional accounts between proofs and authority. */
  reserved?: readonly string[];
  authority: string;
  /** Minimum number of accounts. */
  minimum: number;
  /** Data before the proof offsets. */
  read: Read;
  proofs: readonly string[];
}>;

/** As in nodes, accounts count as proofs while enough remain for the required ones. */
export function proven(type: string, form: Proven): Variant {
  const { accounts, reserved = [], authority, minimum, read, proofs } = form;
  return (data, given) => {
    if (given.length < minimum) return null;
    let offsets: Offsets = new Map();
    const said = exactly((rest) => {
      const members = read(rest);
      offsets = readOffsets(rest, proofs);
      return { ...members, ...offsetMembers(offsets) };
    })(data);
    const room = given.length - accounts.length - reserved.length - 1;
    const names = [...accounts, ...proofAccountNames(offsets).slice(0, Math.max(0, room)), ...reserved];
    const named = nameAddresses(names, given);
    if (named === null) return null;
    return { type, info: { ...named, ...authorityMembers(authority, given, names.length), ...said } };
  };
}

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

const withdrawal: Read = (data) => ({
  proofInstructionOffset: readI8(data),
  newDecryptableAvailableBalance: decryptableBalance(data),
});

/** Fees go from the mint to `feeRecipient`, or from the `sources` accounts at the end. */
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
  // Nodes call the mint the account.
  authorized('enableConfidentialTransferFeeHarvestToMint', ['account'], 'owner'),
  authorized('disableConfidentialTransferFeeHarvestToMint', ['account'], 'owner'),
]);

/** In the order of offsets and accounts. */
export const MINT_BURN_PROOFS = ['equalityProof', 'ciphertextValidityProof', 'rangeProof'];

/** New balance member under its own name. */
const leaves =
  (name: string): Read =>
  (data: ByteReader) => {
    const balance = decryptableBalance(data);
    skipAuditorAmount(data);
    return { [name]: balance };
  };

/** Also used by the permissioned burn. */
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
  // Nodes call the burning account the destination.
  confidential('confidentialBurn', confidentialBurn),
  authorized('applyPendingBurn', ['mint'], 'owner'),
]);
