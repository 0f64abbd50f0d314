import { InvalidEncoding } from '../../codec.ts';
import { uiTokenAmount } from '../../encoding/ui-token-amount.ts';
import { membersReader, type Types } from '../members.ts';
import { authorityMembers, byU8, nameAddresses, type Variant, variants } from './variant.ts';

const fee = membersReader('transferFeeBasisPoints u16, maximumFee u64');

const transferCheckedWithFee: Variant = (data, given) => {
  const accounts = nameAddresses(['source', 'mint', 'destination', '!authority'], given);
  const [amount, decimals] = [data.u64(), data.u8()];
  const tokenAmount = uiTokenAmount(amount, decimals);
  const info = { ...accounts, tokenAmount, feeAmount: uiTokenAmount(data.u64(), decimals) };
  return accounts && { type: 'transferCheckedWithFee', info };
};

/** The source accounts come last; the data contains their count. */
const withdrawFromAccounts: Variant = (data, given) => {
  const first = given.length - data.u8();
  if (first < 3) return null;
  const names = nameAddresses(['mint', 'feeRecipient', '!withdrawWithheldAuthority'], given.slice(0, first));
  return {
    type: 'withdrawWithheldTokensFromAccounts',
    info: { ...names, sourceAccounts: given.slice(first) },
  };
};

/** Nodes do not capitalize the authority name after `multisig` in this instruction. */
const setTransferFee: Variant = (data, given) => {
  if (given.length < 2) return null;
  const name = 'transferFeeConfigAuthority';
  const { multisigTransferFeeConfigAuthority, ...authority } = authorityMembers(name, given, 1);
  const multisig = { [`multisig${name}`]: multisigTransferFeeConfigAuthority };
  return { type: 'setTransferFee', info: { mint: given[0], ...authority, ...multisig, ...fee(data) } };
};

const own: Types = {
  accountState: (data) => {
    const state = ['uninitialized', 'initialized', 'frozen'][data.u8()];
    if (state === undefined) throw new InvalidEncoding('unknown account state');
    return state;
  },
};

const extension = (rows: string, special: Readonly<Record<string, Variant>> = {}): Variant =>
  byU8(variants(rows, special, own));

/** Absent members are omitted. */
const pointer = (name: string, member: string): Variant =>
  extension(`
    initialize${name} mint: authority ${member} zeroable?!
    update${name} mint !authority: ${member} zeroable?!
  `);

/** A second u8 discriminant selects the instruction. Source: transaction-status/src/parse_token/extension/. */
export const token2022Variants: Readonly<Record<string, Variant>> = {
  transferFee: extension(
    `
    initializeTransferFeeConfig mint: transferFeeConfigAuthority withdrawWithheldAuthority pubkey?,
      transferFeeBasisPoints u16, maximumFee u64
    @transferCheckedWithFee
    withdrawWithheldTokensFromMint mint feeRecipient !withdrawWithheldAuthority
    @withdrawFromAccounts
    harvestWithheldTokensToMint mint sourceAccounts*
    @setTransferFee
  `,
    { transferCheckedWithFee, withdrawFromAccounts, setTransferFee },
  ),
  defaultAccountState: extension(`
    initializeDefaultAccountState mint: accountState accountState!
    updateDefaultAccountState mint !freezeAuthority: accountState accountState!
  `),
  memoTransfer: extension(`
    enableRequiredMemoTransfers account !owner
    disableRequiredMemoTransfers account !owner
  `),
  cpiGuard: extension(`
    enableCpiGuard account !owner
    disableCpiGuard account !owner
  `),
  interestBearingMint: extension(`
    initializeInterestBearingConfig mint: rateAuthority zeroable~, rate i16!
    updateInterestBearingConfigRate mint !rateAuthority: newRate i16!
  `),
  transferHook: pointer('TransferHook', 'programId'),
  metadataPointer: pointer('MetadataPointer', 'metadataAddress'),
  groupPointer: pointer('GroupPointer', 'groupAddress'),
  groupMemberPointer: pointer('GroupMemberPointer', 'memberAddress'),
  scaledUiAmount: extension(`
    initializeScaledUiAmountConfig mint: authority zeroable~, multiplier f64!
    updateMultiplier mint !authority: newMultiplier f64, newMultiplierTimestamp i64!
  `),
  pausable: extension(`
    initializePausableConfig mint: authority zeroable~!
    pause mint !authority
    resume mint !authority
  `),
};
