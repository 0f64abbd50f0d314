import type { ByteWriter } from '../../../src/base/bytes.ts';
import { programs } from '../../../src/solana/programs.ts';
import { base64, bytes, fill, k, key, type Rows, row } from './row.ts';

const elGamal = fill(32, 5);
const balance = fill(36, 6);
/** Auditor ciphertexts, which are not shown. */
const forAuditor = fill(128, 7);
const shownKey = base64(32, 5);
const shownBalance = base64(36, 6);
const none = fill(32, 0);
const I8_MINUS_ONE = 255;

const transfer = (...head: number[]): ByteWriter =>
  bytes(...head)
    .bytes(balance)
    .bytes(forAuditor);

const transfers = [
  row('initializeConfidentialTransferMint', bytes(27, 0).bytes(key(9)).u8(1).bytes(elGamal), 1, {
    mint: k(1),
    authority: k(9),
    autoApproveNewAccounts: true,
    auditorElGamalPubkey: shownKey,
  }),
  row('initializeConfidentialTransferMint', bytes(27, 0).bytes(none).u8(0).bytes(none), 1, {
    mint: k(1),
    autoApproveNewAccounts: false,
    auditorElGamalPubkey: null,
  }),
  row('updateConfidentialTransferMint', bytes(27, 1).u8(1).bytes(none), 2, {
    mint: k(1),
    confidentialTransferMintAuthority: k(2),
    autoApproveNewAccounts: true,
    auditorElGamalPubkey: null,
  }),
  row('configureConfidentialTransferAccount', bytes(27, 2).bytes(balance).u64(65_536n).u8(0), 4, {
    account: k(1),
    mint: k(2),
    proofContextStateAccount: k(3),
    owner: k(4),
    decryptableZeroBalance: shownBalance,
    maximumPendingBalanceCreditCounter: 65_536,
    proofInstructionOffset: 0,
  }),
  row(
    'configureConfidentialTransferAccount',
    bytes(27, 2).bytes(balance).u64(1n).u8(I8_MINUS_ONE),
    5,
    {
      account: k(1),
      mint: k(2),
      instructionsSysvar: k(3),
      multisigOwner: k(4),
      signers: [k(5)],
      decryptableZeroBalance: shownBalance,
      maximumPendingBalanceCreditCounter: 1,
      proofInstructionOffset: -1,
    },
    4,
  ),
  row('approveConfidentialTransferAccount', bytes(27, 3), 3, {
    account: k(1),
    mint: k(2),
    confidentialTransferAuditorAuthority: k(3),
  }),
  row('emptyConfidentialTransferAccount', bytes(27, 4, 1), 3, {
    account: k(1),
    instructionsSysvar: k(2),
    owner: k(3),
    proofInstructionOffset: 1,
  }),
  row('depositConfidentialTransfer', bytes(27, 5).u64(42n).u8(2), 3, {
    account: k(1),
    mint: k(2),
    owner: k(3),
    amount: 42,
    decimals: 2,
  }),
  // One proof in an instruction, the other in an account.
  row(
    'withdrawConfidentialTransfer',
    bytes(27, 6).u64(42n).u8(2).bytes(balance).u8(1).u8(0),
    5,
    {
      account: k(1),
      mint: k(2),
      instructionsSysvar: k(3),
      rangeProofContextStateAccount: k(4),
      owner: k(5),
      amount: 42,
      decimals: 2,
      newDecryptableAvailableBalance: shownBalance,
      equalityProofInstructionOffset: 1,
      rangeProofInstructionOffset: 0,
    },
    4,
  ),
  row(
    'confidentialTransfer',
    transfer(27, 7).u8(0).u8(0).u8(0),
    8,
    {
      source: k(1),
      mint: k(2),
      destination: k(3),
      equalityProofContextStateAccount: k(4),
      ciphertextValidityProofContextStateAccount: k(5),
      rangeProofContextStateAccount: k(6),
      multisigOwner: k(7),
      signers: [k(8)],
      newSourceDecryptableAvailableBalance: shownBalance,
      equalityProofInstructionOffset: 0,
      ciphertextValidityProofInstructionOffset: 0,
      rangeProofInstructionOffset: 0,
    },
    4,
  ),
  row(
    'confidentialTransfer',
    transfer(27, 7).u8(1).u8(2).u8(3),
    5,
    {
      source: k(1),
      mint: k(2),
      destination: k(3),
      instructionsSysvar: k(4),
      owner: k(5),
      newSourceDecryptableAvailableBalance: shownBalance,
      equalityProofInstructionOffset: 1,
      ciphertextValidityProofInstructionOffset: 2,
      rangeProofInstructionOffset: 3,
    },
    4,
  ),
  // The authority comes first; missing proof accounts stay unnamed.
  row(
    'confidentialTransfer',
    transfer(27, 7).u8(0).u8(0).u8(0),
    5,
    {
      source: k(1),
      mint: k(2),
      destination: k(3),
      equalityProofContextStateAccount: k(4),
      owner: k(5),
      newSourceDecryptableAvailableBalance: shownBalance,
      equalityProofInstructionOffset: 0,
      ciphertextValidityProofInstructionOffset: 0,
      rangeProofInstructionOffset: 0,
    },
    4,
  ),
  row('applyPendingConfidentialTransferBalance', bytes(27, 8).u64(7n).bytes(balance), 2, {
    account: k(1),
    owner: k(2),
    expectedPendingBalanceCreditCounter: 7,
    newDecryptableAvailableBalance: shownBalance,
  }),
  ...[
    'enableConfidentialTransferConfidentialCredits',
    'disableConfidentialTransferConfidentialCredits',
    'enableConfidentialTransferNonConfidentialCredits',
    'disableConfidentialTransferNonConfidentialCredits',
  ].map((type, at) => row(type, bytes(27, 9 + at), 2, { account: k(1), owner: k(2) })),
  row(
    'confidentialTransferWithFee',
    transfer(27, 13).u8(1).u8(0).u8(2).u8(0).u8(3),
    7,
    {
      source: k(1),
      mint: k(2),
      destination: k(3),
      instructionsSysvar: k(4),
      transferAmountCiphertextValidityProofContextStateAccount: k(5),
      feeCiphertextValidityProofContextStateAccount: k(6),
      owner: k(7),
      newSourceDecryptableAvailableBalance: shownBalance,
      equalityProofInstructionOffset: 1,
      transferAmountCiphertextValidityProofInstructionOffset: 0,
      feeSigmaProofInstructionOffset: 2,
      feeCiphertextValidityProofInstructionOffset: 0,
      rangeProofInstructionOffset: 3,
    },
    4,
  ),
  row('configureConfidentialAccountWithRegistry', bytes(27, 14), 3, {
    account: k(1),
    mint: k(2),
    registry: k(3),
  }),
];

const fees = [
  row('initializeConfidentialTransferFeeConfig', bytes(37, 0).bytes(key(9)).bytes(none), 1, {
    mint: k(1),
    authority: k(9),
    withdrawWithheldAuthorityElGamalPubkey: base64(32, 0),
  }),
  row('withdrawWithheldConfidentialTransferTokensFromMint', bytes(37, 1, 0).bytes(balance), 4, {
    mint: k(1),
    feeRecipient: k(2),
    proofContextStateAccount: k(3),
    withdrawWithheldAuthority: k(4),
    proofInstructionOffset: 0,
    newDecryptableAvailableBalance: shownBalance,
  }),
  row(
    'withdrawWithheldConfidentialTransferTokensFromAccounts',
    bytes(37, 2, 2, 1).bytes(balance),
    7,
    {
      mint: k(1),
      feeRecipient: k(2),
      instructionsSysvar: k(3),
      multisigWithdrawWithheldAuthority: k(4),
      signers: [k(5)],
      sourceAccounts: [k(6), k(7)],
      proofInstructionOffset: 1,
      newDecryptableAvailableBalance: shownBalance,
    },
    6,
  ),
  row(
    'harvestWithheldConfidentialTransferTokensToMint',
    bytes(37, 3),
    2,
    {
      mint: k(1),
      sourceAccounts: [k(2)],
    },
    1,
  ),
  row('enableConfidentialTransferFeeHarvestToMint', bytes(37, 4), 2, { account: k(1), owner: k(2) }),
  row('disableConfidentialTransferFeeHarvestToMint', bytes(37, 5), 2, { account: k(1), owner: k(2) }),
];

const offsets = {
  equalityProofInstructionOffset: 0,
  ciphertextValidityProofInstructionOffset: 1,
  rangeProofInstructionOffset: 0,
};

const mintsAndBurns = [
  row('initializeConfidentialMintBurnMint', bytes(42, 0).bytes(elGamal).bytes(balance), 1, {
    mint: k(1),
    supplyElGamalPubkey: shownKey,
    decryptableSupply: shownBalance,
  }),
  row('rotateConfidentialMintBurnSupplyElGamalPubkey', bytes(42, 1).bytes(elGamal).u8(0), 3, {
    mint: k(1),
    proofContextStateAccount: k(2),
    owner: k(3),
    newSupplyElGamalPubkey: shownKey,
    proofInstructionOffset: 0,
  }),
  row('updateConfidentialMintBurnDecryptableSupply', bytes(42, 2).bytes(balance), 2, {
    mint: k(1),
    owner: k(2),
    newDecryptableSupply: shownBalance,
  }),
  row(
    'confidentialMint',
    transfer(42, 3).u8(0).u8(1).u8(0),
    6,
    {
      destination: k(1),
      mint: k(2),
      instructionsSysvar: k(3),
      equalityProofContextStateAccount: k(4),
      rangeProofContextStateAccount: k(5),
      owner: k(6),
      newDecryptableSupply: shownBalance,
      ...offsets,
    },
    3,
  ),
  row('confidentialBurn', transfer(42, 4).u8(0).u8(1).u8(0), 3, {
    destination: k(1),
    mint: k(2),
    owner: k(3),
    newDecryptableAvailableBalance: shownBalance,
    ...offsets,
  }),
  row('applyPendingBurn', bytes(42, 5), 2, { mint: k(1), owner: k(2) }),
];

const permissionedBurns = [
  row('initializePermissionedBurnConfig', bytes(46, 0).bytes(key(9)), 1, { mint: k(1), authority: k(9) }),
  row('permissionedBurn', bytes(46, 1).u64(42n), 4, {
    account: k(1),
    mint: k(2),
    permissionedBurnAuthority: k(3),
    authority: k(4),
    amount: '42',
  }),
  row(
    'permissionedBurnChecked',
    bytes(46, 2).u64(42n).u8(2),
    5,
    {
      account: k(1),
      mint: k(2),
      permissionedBurnAuthority: k(3),
      multisigAuthority: k(4),
      signers: [k(5)],
      tokenAmount: { amount: '42', decimals: 2, uiAmount: 0.42, uiAmountString: '0.42' },
    },
    4,
  ),
  row(
    'permissionedConfidentialBurn',
    transfer(46, 3).u8(0).u8(1).u8(0),
    7,
    {
      account: k(1),
      mint: k(2),
      instructionsSysvar: k(3),
      equalityProofContextStateAccount: k(4),
      rangeProofContextStateAccount: k(5),
      permissionedBurnAuthority: k(6),
      authority: k(7),
      newDecryptableAvailableBalance: shownBalance,
      ...offsets,
    },
    4,
  ),
  row('permissionedConfidentialBurn', transfer(46, 3).u8(0).u8(1).u8(0), 4, {
    account: k(1),
    mint: k(2),
    permissionedBurnAuthority: k(3),
    authority: k(4),
    newDecryptableAvailableBalance: shownBalance,
    ...offsets,
  }),
];

/** Source: spl-token-2022-interface, the extensions that encrypt amounts, and permissioned burns. */
export const confidential: Rows = {
  program: 'spl-token',
  programId: programs.token2022,
  rows: [...transfers, ...fees, ...mintsAndBurns, ...permissionedBurns],
};
