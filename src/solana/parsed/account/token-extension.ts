import { ByteReader } from '../../../base/bytes.ts';
import { decimalText } from '../../../base/text/float-decimal.ts';
import { type Address, addressFromBytes } from '../../address.ts';
import { findExtension } from '../../token/extensions.ts';
import { decodedOrNull, utf8 } from '../bincode.ts';
import type { Members } from '../wire-order.ts';

type Read = (data: ByteReader) => Members;

const UNPARSEABLE = 'unparseableExtension';

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

const address = (data: ByteReader): Address => addressFromBytes(data.bytes(32));

const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);

/** All zeros mean none. */
function maybeAddress(data: ByteReader): Address | null {
  const bytes = data.bytes(32);
  return isZero(bytes) ? null : addressFromBytes(bytes);
}

/** ElGamal key in base64; all zeros mean none. */
function maybeElGamal(data: ByteReader): string | null {
  const bytes = data.bytes(32);
  return isZero(bytes) ? null : base64(bytes);
}

const i16 = (data: ByteReader): number => (data.u16() << 16) >> 16;

/** Borsh string. */
const text = (data: ByteReader): string => utf8(data.bytes(data.u32()));

const transferFee = (data: ByteReader): Members => ({
  epoch: data.u64(),
  maximumFee: data.u64(),
  transferFeeBasisPoints: data.u16(),
});

const transferFeeConfig: Read = (data) => ({
  transferFeeConfigAuthority: maybeAddress(data),
  withdrawWithheldAuthority: maybeAddress(data),
  withheldAmount: data.u64(),
  olderTransferFee: transferFee(data),
  newerTransferFee: transferFee(data),
});

const accountStates = ['uninitialized', 'initialized', 'frozen'];

const confidentialTransferAccount: Read = (data) => ({
  approved: data.bool(),
  elgamalPubkey: base64(data.bytes(32)),
  pendingBalanceLo: base64(data.bytes(64)),
  pendingBalanceHi: base64(data.bytes(64)),
  availableBalance: base64(data.bytes(64)),
  decryptableAvailableBalance: base64(data.bytes(36)),
  allowConfidentialCredits: data.bool(),
  allowNonConfidentialCredits: data.bool(),
  pendingBalanceCreditCounter: data.u64(),
  maximumPendingBalanceCreditCounter: data.u64(),
  expectedPendingBalanceCreditCounter: data.u64(),
  actualPendingBalanceCreditCounter: data.u64(),
});

const confidentialTransferFeeConfig: Read = (data) => ({
  authority: maybeAddress(data),
  // A missing key is shown as zeros, not null.
  withdrawWithheldAuthorityElgamalPubkey: base64(data.bytes(32)),
  harvestToMintEnabled: data.bool(),
  withheldAmount: base64(data.bytes(64)),
});

const confidentialMintBurn: Read = (data) => ({
  confidentialSupply: base64(data.bytes(64)),
  decryptableSupply: base64(data.bytes(36)),
  supplyElgamalPubkey: base64(data.bytes(32)),
  pendingBurn: base64(data.bytes(64)),
});

const interestBearingConfig: Read = (data) => ({
  rateAuthority: maybeAddress(data),
  initializationTimestamp: data.i64(),
  preUpdateAverageRate: i16(data),
  lastUpdateTimestamp: data.i64(),
  currentRate: i16(data),
});

function tokenMetadata(data: ByteReader): Members {
  const head = {
    updateAuthority: maybeAddress(data),
    mint: address(data),
    name: text(data),
    symbol: text(data),
    uri: text(data),
  };
  const additionalMetadata: [string, string][] = [];
  for (let left = data.u32(); left > 0; left--) additionalMetadata.push([text(data), text(data)]);
  return { ...head, additionalMetadata };
}

const scaledUiAmountConfig: Read = (data) => ({
  authority: maybeAddress(data),
  multiplier: decimalText(data.f64()),
  newMultiplierEffectiveTimestamp: data.i64(),
  newMultiplier: decimalText(data.f64()),
});

const pointer =
  (member: string): Read =>
  (data) => ({ authority: maybeAddress(data), [member]: maybeAddress(data) });

/** Extension type. Without `read` only the name is shown. */
type Kind = Readonly<{ name: string; of: 'mint' | 'account' | 'both'; read?: Read; isVariable?: true }>;

/** `read` is never called for a mint extension in an account, or the reverse. */
const onMint = (name: string, read: Read): Kind => ({ name, of: 'mint', read });
const onAccount = (name: string, read: Read): Kind => ({ name, of: 'account', read });
const named = (name: string): Kind => ({ name, of: 'both' });

const confidentialTransferMint: Read = (data) => ({
  authority: maybeAddress(data),
  autoApproveNewAccounts: data.bool(),
  auditorElgamalPubkey: maybeElGamal(data),
});

const tokenGroup: Read = (data) => ({
  updateAuthority: maybeAddress(data),
  mint: address(data),
  size: data.u64(),
  maxSize: data.u64(),
});

/** By u16 type. Layouts from spl-token-2022-interface, its metadata and group interfaces. */
const kinds: readonly Kind[] = [
  named('uninitialized'),
  onMint('transferFeeConfig', transferFeeConfig),
  onAccount('transferFeeAmount', (data) => ({ withheldAmount: data.u64() })),
  onMint('mintCloseAuthority', (data) => ({ closeAuthority: maybeAddress(data) })),
  onMint('confidentialTransferMint', confidentialTransferMint),
  onAccount('confidentialTransferAccount', confidentialTransferAccount),
  onMint('defaultAccountState', (data) => ({ accountState: accountStates[data.u8()] ?? accountStates[0] })),
  named('immutableOwner'),
  onAccount('memoTransfer', (data) => ({ requireIncomingTransferMemos: data.bool() })),
  named('nonTransferable'),
  onMint('interestBearingConfig', interestBearingConfig),
  onAccount('cpiGuard', (data) => ({ lockCpi: data.bool() })),
  onMint('permanentDelegate', (data) => ({ delegate: maybeAddress(data) })),
  named('nonTransferableAccount'),
  onMint('transferHook', pointer('programId')),
  onAccount('transferHookAccount', (data) => ({ transferring: data.bool() })),
  onMint('confidentialTransferFeeConfig', confidentialTransferFeeConfig),
  onAccount('confidentialTransferFeeAmount', (data) => ({ withheldAmount: base64(data.bytes(64)) })),
  onMint('metadataPointer', pointer('metadataAddress')),
  { name: 'tokenMetadata', of: 'mint', read: tokenMetadata, isVariable: true },
  onMint('groupPointer', pointer('groupAddress')),
  onMint('tokenGroup', tokenGroup),
  onMint('groupMemberPointer', pointer('memberAddress')),
  onMint('tokenGroupMember', (data) => ({
    mint: address(data),
    group: address(data),
    memberNumber: data.u64(),
  })),
  onMint('confidentialMintBurn', confidentialMintBurn),
  onMint('scaledUiAmountConfig', scaledUiAmountConfig),
  onMint('pausableConfig', (data) => ({ authority: maybeAddress(data), paused: data.bool() })),
  named('pausableAccount'),
  onMint('permissionedBurnConfig', (data) => ({ authority: maybeAddress(data) })),
];

/** The state fills all bytes, except for metadata. */
function readState({ read, isVariable }: Kind, value: Uint8Array): Members | null {
  return decodedOrNull(() => {
    const data = new ByteReader(value);
    const state = read?.(data) ?? null;
    return data.remaining > 0 && !isVariable ? null : state;
  });
}

/**
 * Parses an extension of a Token-2022 mint or account.
 *
 * @param data - of the mint or account
 * @param type - found by `readExtensions`
 * @see account-decoder/src/parse_token_extension.rs
 */
export function parseExtension(data: Uint8Array, type: number, of: 'mint' | 'account'): Members {
  const kind = kinds[type];
  if (kind !== undefined && kind.read === undefined) return { extension: kind.name };
  // Of two with one type, nodes show the first twice.
  const value = kind?.of === of ? findExtension(data, type) : null;
  const state = kind === undefined || value === null ? null : readState(kind, value);
  return state === null ? { extension: UNPARSEABLE } : { extension: kind?.name, state };
}
