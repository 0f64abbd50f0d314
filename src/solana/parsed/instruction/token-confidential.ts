import { membersReader } from '../members.ts';
import type { Members } from '../wire-order.ts';
import { authorityMembers, byU8, exactly, nameAddresses, type Variant, variants } from './variant.ts';

// A proof is given as the i8 offset of the instruction that verifies it. 0: a context account holds the result.

/** The proof account comes between `names` and the authority. @param text - must include `proofInstructionOffset`. */
function withOneProof(type: string, names: readonly string[], authority: string, text: string): Variant {
  const read = exactly(membersReader(text));
  const at = names.length;
  return (data, given) => {
    if (given.length < at + 2) return null;
    const members = read(data);
    const proof = members.proofInstructionOffset === 0 ? 'proofContextStateAccount' : 'instructionsSysvar';
    const accounts = nameAddresses([...names, proof, `!${authority}`], given);
    return { type, info: { ...accounts, ...members } };
  };
}

type Offsets = ReadonlyMap<string, number>;

/** The instructions sysvar comes first, unless every proof is in a context account. */
function proofAccountNames(offsets: Offsets): string[] {
  const contexts = [...offsets].filter(([, offset]) => offset === 0);
  const names = contexts.map(([proof]) => `${proof}ContextStateAccount`);
  return contexts.length === offsets.size ? names : ['instructionsSysvar', ...names];
}

const offsetMembers = (offsets: Offsets): Members =>
  Object.fromEntries([...offsets].map(([proof, offset]) => [`${proof}InstructionOffset`, offset]));

type ProofLayout = Readonly<{
  accounts: readonly string[];
  /** Accounts between the proofs and the authority. */
  reserved?: readonly string[];
  authority?: string;
  minimum?: number;
  data: string;
  proofs?: readonly string[];
}>;

/** Default proofs, in the order of their offsets and accounts. */
const TRANSFER_PROOFS = ['equalityProof', 'ciphertextValidityProof', 'rangeProof'];

/** Like nodes, names proof accounts only as long as enough accounts remain for `reserved` and the authority. */
function withProofs(type: string, layout: ProofLayout): Variant {
  const { accounts, reserved = [], authority = 'owner', minimum = 4, proofs = TRANSFER_PROOFS } = layout;
  const read = membersReader(layout.data);
  return (data, given) => {
    if (given.length < minimum) return null;
    let offsets: Offsets = new Map();
    const members = exactly((rest) => {
      const first = read(rest);
      offsets = new Map(proofs.map((proof) => [proof, (rest.u8() << 24) >> 24]));
      return { ...first, ...offsetMembers(offsets) };
    })(data);
    const available = given.length - accounts.length - reserved.length - 1;
    const names = [...accounts, ...proofAccountNames(offsets).slice(0, Math.max(0, available)), ...reserved];
    const named = nameAddresses(names, given);
    if (named === null) return null;
    return { type, info: { ...named, ...authorityMembers(authority, given, names.length), ...members } };
  };
}

const transfer: ProofLayout = {
  accounts: ['source', 'mint', 'destination'],
  data: 'newSourceDecryptableAvailableBalance balance, _ skippedAuditorAmount',
};

/** Source: transaction-status/src/parse_token/extension/confidential_transfer.rs */
export const confidentialTransfer = byU8(
  variants(
    `
    initializeConfidentialTransferMint mint: authority zeroable?, autoApproveNewAccounts flag,
      auditorElGamalPubkey elGamal~!
    updateConfidentialTransferMint mint confidentialTransferMintAuthority: autoApproveNewAccounts flag,
      auditorElGamalPubkey elGamal~!
    @configureAccount
    approveConfidentialTransferAccount account mint confidentialTransferAuditorAuthority
    @emptyAccount
    depositConfidentialTransfer account mint !owner: amount u64, decimals u8!
    @withdraw
    @transfer
    applyPendingConfidentialTransferBalance account !owner: expectedPendingBalanceCreditCounter u64,
      newDecryptableAvailableBalance balance!
    enableConfidentialTransferConfidentialCredits account !owner
    disableConfidentialTransferConfidentialCredits account !owner
    enableConfidentialTransferNonConfidentialCredits account !owner
    disableConfidentialTransferNonConfidentialCredits account !owner
    @transferWithFee
    configureConfidentialAccountWithRegistry account mint registry
  `,
    {
      configureAccount: withOneProof(
        'configureConfidentialTransferAccount',
        ['account', 'mint'],
        'owner',
        'decryptableZeroBalance balance, maximumPendingBalanceCreditCounter u64, proofInstructionOffset i8',
      ),
      emptyAccount: withOneProof(
        'emptyConfidentialTransferAccount',
        ['account'],
        'owner',
        'proofInstructionOffset i8',
      ),
      withdraw: withProofs('withdrawConfidentialTransfer', {
        accounts: ['account', 'mint'],
        data: 'amount u64, decimals u8, newDecryptableAvailableBalance balance',
        proofs: ['equalityProof', 'rangeProof'],
      }),
      transfer: withProofs('confidentialTransfer', transfer),
      transferWithFee: withProofs('confidentialTransferWithFee', {
        ...transfer,
        proofs: [
          ...['equalityProof', 'transferAmountCiphertextValidityProof', 'feeSigmaProof'],
          ...['feeCiphertextValidityProof', 'rangeProof'],
        ],
      }),
    },
  ),
);

const withdrawFromMint = withOneProof(
  'withdrawWithheldConfidentialTransferTokensFromMint',
  ['mint', 'feeRecipient'],
  'withdrawWithheldAuthority',
  'proofInstructionOffset i8, newDecryptableAvailableBalance balance',
);

/** The source accounts come last; the data begins with their count. */
const withdrawFromAccounts: Variant = (data, given) => {
  const first = given.length - data.u8();
  const parts = withdrawFromMint(data, given.slice(0, Math.max(0, first)));
  const info = { ...parts?.info, sourceAccounts: given.slice(first) };
  return parts && { type: 'withdrawWithheldConfidentialTransferTokensFromAccounts', info };
};

/** In the last two variants, nodes call the mint `account`. Source: confidential_transfer_fee.rs in the same folder */
export const confidentialTransferFee = byU8(
  variants(
    `
    initializeConfidentialTransferFeeConfig mint: authority zeroable?,
      withdrawWithheldAuthorityElGamalPubkey elGamal!
    @withdrawFromMint
    @withdrawFromAccounts
    harvestWithheldConfidentialTransferTokensToMint mint sourceAccounts*
    enableConfidentialTransferFeeHarvestToMint account !owner
    disableConfidentialTransferFeeHarvestToMint account !owner
  `,
    { withdrawFromMint, withdrawFromAccounts },
  ),
);

const burnData = 'newDecryptableAvailableBalance balance, _ skippedAuditorAmount';
/** Nodes call the account `destination` even if tokens are burnt. */
const mintBurnLayout: ProofLayout = { accounts: ['destination', 'mint'], minimum: 3, data: burnData };

/** Source: confidential_mint_burn.rs in the same folder */
export const confidentialMintBurn = byU8(
  variants(
    `
    initializeConfidentialMintBurnMint mint: supplyElGamalPubkey elGamal, decryptableSupply balance!
    @rotateSupplyKey
    updateConfidentialMintBurnDecryptableSupply mint !owner: newDecryptableSupply balance!
    @confidentialMint
    @confidentialBurn
    applyPendingBurn mint !owner
  `,
    {
      rotateSupplyKey: withOneProof(
        'rotateConfidentialMintBurnSupplyElGamalPubkey',
        ['mint'],
        'owner',
        'newSupplyElGamalPubkey elGamal, proofInstructionOffset i8',
      ),
      confidentialMint: withProofs('confidentialMint', {
        ...mintBurnLayout,
        data: 'newDecryptableSupply balance, _ skippedAuditorAmount',
      }),
      confidentialBurn: withProofs('confidentialBurn', mintBurnLayout),
    },
  ),
);

/** Source: permissioned_burn.rs in the same folder */
export const permissionedBurn = byU8(
  variants(
    `
    initializePermissionedBurnConfig mint: authority pubkey!
    permissionedBurn account mint permissionedBurnAuthority !authority: amount u64text!
    permissionedBurnChecked account mint permissionedBurnAuthority !authority: tokenAmount tokenAmount!
    @permissionedConfidentialBurn
  `,
    {
      permissionedConfidentialBurn: withProofs('permissionedConfidentialBurn', {
        accounts: ['account', 'mint'],
        reserved: ['permissionedBurnAuthority'],
        authority: 'authority',
        data: burnData,
      }),
    },
  ),
);
