import { ByteReader } from '../../../base/bytes.ts';
import { type Address, addressFromBytes } from '../../address.ts';
import type { Extension } from '../../token/extensions.ts';
import { decodedOrNull, utf8 } from '../bincode.ts';
import type { Members } from '../wire-order.ts';

type Read = (data: ByteReader) => Members;

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

const address = (data: ByteReader): Address => addressFromBytes(data.bytes(32));

const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);

/** An address of which all zeros mean none. */
function maybeAddress(data: ByteReader): Address | null {
  const bytes = data.bytes(32);
  return isZero(bytes) ? null : addressFromBytes(bytes);
}

/** An ElGamal key, shown in base64; all zeros mean none. */
function maybeElGamal(data: ByteReader): string | null {
  const bytes = data.bytes(32);
  return isZero(bytes) ? null : base64(bytes);
}

const i16 = (data: ByteReader): number => (data.u16() << 16) >> 16;

/** A string with a u32 length before it, as borsh writes it. */
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
  withdrawWithheldAuthorityElgamalPubkey: maybeElGamal(data),
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
  multiplier: String(data.f64()),
  newMultiplierEffectiveTimestamp: data.i64(),
  newMultiplier: String(data.f64()),
});

const pointer =
  (member: string): Read =>
  (data) => ({ authority: maybeAddress(data), [member]: maybeAddress(data) });

/**
 * By its u16 type: the name of an extension, and how to read its state; without one the name says all.
 * Layouts from spl-token-2022-interface, its metadata and group interfaces.
 */
const extensions: readonly (readonly [name: string, read?: Read])[] = [
  ['uninitialized'],
  ['transferFeeConfig', transferFeeConfig],
  ['transferFeeAmount', (data) => ({ withheldAmount: data.u64() })],
  ['mintCloseAuthority', (data) => ({ closeAuthority: maybeAddress(data) })],
  [
    'confidentialTransferMint',
    (data) => ({
      authority: maybeAddress(data),
      autoApproveNewAccounts: data.bool(),
      auditorElgamalPubkey: maybeElGamal(data),
    }),
  ],
  ['confidentialTransferAccount', confidentialTransferAccount],
  ['defaultAccountState', (data) => ({ accountState: accountStates[data.u8()] ?? accountStates[0] })],
  ['immutableOwner'],
  ['memoTransfer', (data) => ({ requireIncomingTransferMemos: data.bool() })],
  ['nonTransferable'],
  ['interestBearingConfig', interestBearingConfig],
  ['cpiGuard', (data) => ({ lockCpi: data.bool() })],
  ['permanentDelegate', (data) => ({ delegate: maybeAddress(data) })],
  ['nonTransferableAccount'],
  ['transferHook', pointer('programId')],
  ['transferHookAccount', (data) => ({ transferring: data.bool() })],
  ['confidentialTransferFeeConfig', confidentialTransferFeeConfig],
  ['confidentialTransferFeeAmount', (data) => ({ withheldAmount: base64(data.bytes(64)) })],
  ['metadataPointer', pointer('metadataAddress')],
  ['tokenMetadata', tokenMetadata],
  ['groupPointer', pointer('groupAddress')],
  [
    'tokenGroup',
    (data) => ({
      updateAuthority: maybeAddress(data),
      mint: address(data),
      size: data.u64(),
      maxSize: data.u64(),
    }),
  ],
  ['groupMemberPointer', pointer('memberAddress')],
  ['tokenGroupMember', (data) => ({ mint: address(data), group: address(data), memberNumber: data.u64() })],
  ['confidentialMintBurn', confidentialMintBurn],
  ['scaledUiAmountConfig', scaledUiAmountConfig],
  ['pausableConfig', (data) => ({ authority: maybeAddress(data), paused: data.bool() })],
  ['pausableAccount'],
  ['permissionedBurn', (data) => ({ authority: maybeAddress(data) })],
];

/**
 * An extension of a Token-2022 mint or account, by its name and what it holds.
 * Source: account-decoder/src/parse_token_extension.rs
 */
export function parseExtension([type, value]: Extension): Members {
  const known = extensions[type];
  if (known === undefined) return { extension: 'unparseableExtension' };
  const [extension, read] = known;
  if (read === undefined) return { extension };
  const state = decodedOrNull(() => read(new ByteReader(value)));
  return state === null ? { extension: 'unparseableExtension' } : { extension, state };
}
