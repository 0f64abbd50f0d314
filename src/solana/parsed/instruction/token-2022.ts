import type { ByteReader } from '../../../base/bytes.ts';
import type { WritableJson } from '../../../base/json.ts';
import { decimalText } from '../../../base/text/float-decimal.ts';
import { uiTokenAmount } from '../../encoding/ui-token-amount.ts';
import { readAddress, readOption, Undecodable } from '../bincode.ts';
import {
  authorityMembers,
  authorized,
  byU8,
  exactly,
  maybeAddress,
  nameAddresses,
  type Read,
  readI16,
  type Variant,
  variant,
} from './variant.ts';

const fee: Read = (data) => ({ transferFeeBasisPoints: data.u16(), maximumFee: data.u64() });

function checkedWithFee(data: ByteReader): { tokenAmount: WritableJson; feeAmount: WritableJson } {
  const amount = data.u64();
  const decimals = data.u8();
  return {
    tokenAmount: uiTokenAmount(amount, decimals),
    feeAmount: uiTokenAmount(data.u64(), decimals),
  };
}

/** The source accounts come last; the data holds their number. */
const withdrawFromAccounts: Variant = (data, given) => {
  const first = given.length - data.u8();
  if (first < 3) return null;
  const names = nameAddresses(['mint', 'feeRecipient'], given);
  const authority = authorityMembers('withdrawWithheldAuthority', given.slice(0, first), 2);
  return {
    type: 'withdrawWithheldTokensFromAccounts',
    info: { ...names, ...authority, sourceAccounts: given.slice(first) },
  };
};

/** Nodes write this multisig in lower case. */
const setTransferFee: Variant = (data, given) => {
  if (given.length < 2) return null;
  const name = 'transferFeeConfigAuthority';
  const { multisigTransferFeeConfigAuthority, ...authority } = authorityMembers(name, given, 1);
  const multisig = { [`multisig${name}`]: multisigTransferFeeConfigAuthority };
  return { type: 'setTransferFee', info: { mint: given[0], ...authority, ...multisig, ...fee(data) } };
};

/** Sources below: transaction-status/src/parse_token/extension/, one file each. */
export const transferFee = byU8([
  variant('initializeTransferFeeConfig', ['mint'], (data) => ({
    transferFeeConfigAuthority: readOption(data, () => readAddress(data)) ?? undefined,
    withdrawWithheldAuthority: readOption(data, () => readAddress(data)) ?? undefined,
    ...fee(data),
  })),
  authorized('transferCheckedWithFee', ['source', 'mint', 'destination'], 'authority', checkedWithFee),
  authorized('withdrawWithheldTokensFromMint', ['mint', 'feeRecipient'], 'withdrawWithheldAuthority'),
  withdrawFromAccounts,
  variant('harvestWithheldTokensToMint', ['mint'], (_, given) => ({ sourceAccounts: given.slice(1) })),
  setTransferFee,
]);

const accountState = exactly((data) => {
  const state = ['uninitialized', 'initialized', 'frozen'][data.u8()];
  if (state === undefined) throw new Undecodable('account state');
  return { accountState: state };
});

export const defaultAccountState = byU8([
  variant('initializeDefaultAccountState', ['mint'], accountState),
  authorized('updateDefaultAccountState', ['mint'], 'freezeAuthority', accountState),
]);

export const memoTransfer = byU8([
  authorized('enableRequiredMemoTransfers', ['account'], 'owner'),
  authorized('disableRequiredMemoTransfers', ['account'], 'owner'),
]);

export const cpiGuard = byU8([
  authorized('enableCpiGuard', ['account'], 'owner'),
  authorized('disableCpiGuard', ['account'], 'owner'),
]);

export const interestBearingMint = byU8([
  variant(
    'initializeInterestBearingConfig',
    ['mint'],
    exactly((data) => ({ rateAuthority: maybeAddress(data), rate: readI16(data) })),
  ),
  authorized(
    'updateInterestBearingConfigRate',
    ['mint'],
    'rateAuthority',
    exactly((data) => ({ newRate: readI16(data) })),
  ),
]);

/** Pointer extension; absent members are omitted. */
function pointer(name: string, member: string): Variant {
  const target: Read = (data) => ({ [member]: maybeAddress(data) ?? undefined });
  return byU8([
    variant(
      `initialize${name}`,
      ['mint'],
      exactly((data) => ({ authority: maybeAddress(data) ?? undefined, ...target(data) })),
    ),
    authorized(`update${name}`, ['mint'], 'authority', exactly(target)),
  ]);
}

export const transferHook = pointer('TransferHook', 'programId');
export const metadataPointer = pointer('MetadataPointer', 'metadataAddress');
export const groupPointer = pointer('GroupPointer', 'groupAddress');
export const groupMemberPointer = pointer('GroupMemberPointer', 'memberAddress');

export const scaledUiAmount = byU8([
  variant(
    'initializeScaledUiAmountConfig',
    ['mint'],
    exactly((data) => ({ authority: maybeAddress(data), multiplier: decimalText(data.f64()) })),
  ),
  authorized(
    'updateMultiplier',
    ['mint'],
    'authority',
    exactly((data) => ({ newMultiplier: decimalText(data.f64()), newMultiplierTimestamp: data.i64() })),
  ),
]);

export const pausable = byU8([
  variant(
    'initializePausableConfig',
    ['mint'],
    exactly((data) => ({ authority: maybeAddress(data) })),
  ),
  authorized('pause', ['mint'], 'authority'),
  authorized('resume', ['mint'], 'authority'),
]);
