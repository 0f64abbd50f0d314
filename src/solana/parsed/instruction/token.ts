import { ByteReader } from '../../../base/bytes.ts';
import type { WritableJson } from '../../../base/json.ts';
import type { Address } from '../../address.ts';
import { uiTokenAmount } from '../../encoding/ui-token-amount.ts';
import { readAddress, readOption, Undecodable, utf8 } from '../bincode.ts';
import type { Members } from '../wire-order.ts';
import {
  cpiGuard,
  defaultAccountState,
  groupMemberPointer,
  groupPointer,
  interestBearingMint,
  memoTransfer,
  metadataPointer,
  pausable,
  scaledUiAmount,
  transferFee,
  transferHook,
} from './token-2022.ts';
import { confidentialMintBurn, confidentialTransfer, confidentialTransferFee } from './token-confidential.ts';
import { parseInterfaceData, permissionedBurn } from './token-interfaces.ts';
import { authorized, type ParsedParts, type Variant, variant } from './variant.ts';

/** By u16 type. Source: `UiExtensionType`. */
const extensionTypes = [
  'uninitialized',
  'transferFeeConfig',
  'transferFeeAmount',
  'mintCloseAuthority',
  'confidentialTransferMint',
  'confidentialTransferAccount',
  'defaultAccountState',
  'immutableOwner',
  'memoTransfer',
  'nonTransferable',
  'interestBearingConfig',
  'cpiGuard',
  'permanentDelegate',
  'nonTransferableAccount',
  'transferHook',
  'transferHookAccount',
  'confidentialTransferFeeConfig',
  'confidentialTransferFeeAmount',
  'metadataPointer',
  'tokenMetadata',
  'groupPointer',
  'tokenGroup',
  'groupMemberPointer',
  'tokenGroupMember',
  'confidentialMintBurn',
  'scaledUiAmount',
  'pausable',
  'pausableAccount',
  'permissionedBurn',
] as const;

/** By u8 type, with the account they govern. Source: `UiAuthorityType`. */
const authorityTypes = [
  'mintTokens',
  'freezeAccount',
  'accountOwner',
  'closeAccount',
  'transferFeeConfig',
  'withheldWithdraw',
  'closeMint',
  'interestRate',
  'permanentDelegate',
  'confidentialTransferMint',
  'transferHookProgramId',
  'confidentialTransferFeeConfig',
  'metadataPointer',
  'groupPointer',
  'groupMemberPointer',
  'scaledUiAmount',
  'pause',
  'permissionedBurn',
] as const;

const accountAuthorities: ReadonlySet<string> = new Set(['accountOwner', 'closeAccount']);

function readAuthorityType(data: ByteReader): { name: string; owned: 'mint' | 'account' } {
  const name = authorityTypes[data.u8()];
  if (name === undefined) throw new Undecodable('authority type');
  return { name, owned: accountAuthorities.has(name) ? 'account' : 'mint' };
}

/** Extension types up to the end of the data. */
function readExtensionTypes(data: ByteReader): string[] {
  const names: string[] = [];
  while (data.remaining > 0) {
    const name = extensionTypes[data.u16()];
    if (name === undefined) throw new Undecodable('extension type');
    names.push(name);
  }
  return names;
}

const amount = (data: ByteReader): Members => ({ amount: String(data.u64()) });

const tokenAmount = (data: ByteReader): { tokenAmount: WritableJson } => ({
  tokenAmount: uiTokenAmount(data.u64(), data.u8()),
});

const mintMembers = (data: ByteReader): Members => ({
  decimals: data.u8(),
  mintAuthority: readAddress(data),
  freezeAuthority: readOption(data, () => readAddress(data)) ?? undefined,
});

const multisigMembers = (signersAt: number) => (data: ByteReader, given: readonly Address[]) => ({
  m: data.u8(),
  signers: given.slice(signersAt),
});

const setAuthority: Variant = (data, given) => {
  const { name, owned } = readAuthorityType(data);
  const newAuthority = readOption(data, () => readAddress(data));
  return authorized('setAuthority', [owned], 'authority', () => ({ authorityType: name, newAuthority }))(
    data,
    given,
  );
};

const unwrapLamports = authorized('unwrapLamports', ['source', 'destination'], 'authority', (data) => ({
  amount: readOption(data, () => String(data.u64())) ?? undefined,
}));

const restOf = (data: ByteReader): Uint8Array => data.bytes(data.remaining);

/**
 * Both token programs, by u8 discriminant. Amounts are strings. Source:
 * transaction-status/src/parse_token.rs; layouts from spl-token-2022-interface.
 */
const tokenVariants: readonly Variant[] = [
  variant('initializeMint', ['mint', 'rentSysvar'], mintMembers),
  variant('initializeAccount', ['account', 'mint', 'owner', 'rentSysvar']),
  (data, given) =>
    given.length < 3
      ? null
      : variant('initializeMultisig', ['multisig', 'rentSysvar'], multisigMembers(2))(data, given),
  authorized('transfer', ['source', 'destination'], 'authority', amount),
  authorized('approve', ['source', 'delegate'], 'owner', amount),
  authorized('revoke', ['source'], 'owner'),
  setAuthority,
  authorized('mintTo', ['mint', 'account'], 'mintAuthority', amount),
  authorized('burn', ['account', 'mint'], 'authority', amount),
  authorized('closeAccount', ['account', 'destination'], 'owner'),
  authorized('freezeAccount', ['account', 'mint'], 'freezeAuthority'),
  authorized('thawAccount', ['account', 'mint'], 'freezeAuthority'),
  authorized('transferChecked', ['source', 'mint', 'destination'], 'authority', tokenAmount),
  authorized('approveChecked', ['source', 'mint', 'delegate'], 'owner', tokenAmount),
  authorized('mintToChecked', ['mint', 'account'], 'mintAuthority', tokenAmount),
  authorized('burnChecked', ['account', 'mint'], 'authority', tokenAmount),
  variant('initializeAccount2', ['account', 'mint', 'rentSysvar'], (data) => ({ owner: readAddress(data) })),
  variant('syncNative', ['account']),
  variant('initializeAccount3', ['account', 'mint'], (data) => ({ owner: readAddress(data) })),
  (data, given) =>
    given.length < 2 ? null : variant('initializeMultisig2', ['multisig'], multisigMembers(1))(data, given),
  variant('initializeMint2', ['mint'], mintMembers),
  variant('getAccountDataSize', ['mint'], (data) => {
    const extensionTypes = readExtensionTypes(data);
    return extensionTypes.length === 0 ? {} : { extensionTypes };
  }),
  variant('initializeImmutableOwner', ['account']),
  variant('amountToUiAmount', ['mint'], amount),
  variant('uiAmountToAmount', ['mint'], (data) => ({ uiAmount: utf8(restOf(data)) })),
  variant('initializeMintCloseAuthority', ['mint'], (data) => ({
    newAuthority: readOption(data, () => readAddress(data)),
  })),
  transferFee,
  confidentialTransfer,
  defaultAccountState,
  authorized('reallocate', ['account', 'payer', 'systemProgram'], 'owner', (data) => ({
    extensionTypes: readExtensionTypes(data),
  })),
  memoTransfer,
  variant('createNativeMint', ['payer', 'nativeMint', 'systemProgram']),
  variant('initializeNonTransferableMint', ['mint']),
  interestBearingMint,
  cpiGuard,
  variant('initializePermanentDelegate', ['mint'], (data) => ({ delegate: readAddress(data) })),
  transferHook,
  confidentialTransferFee,
  authorized('withdrawExcessLamports', ['source', 'destination'], 'authority'),
  metadataPointer,
  groupPointer,
  groupMemberPointer,
  confidentialMintBurn,
  scaledUiAmount,
  pausable,
  unwrapLamports,
  permissionedBurn,
];

const BATCH = 255;

/** Batched instruction: account count, data length, data. */
function readBatch(data: ByteReader, given: readonly Address[]): Members[] {
  const instructions: Members[] = [];
  let position = 0;
  while (data.remaining > 0) {
    const count = data.u8();
    const inner = data.bytes(data.u8());
    const accounts = given.slice(position, position + count);
    position += count;
    const parsed = accounts.length < count || inner[0] === BATCH ? null : parseTokenData(inner, accounts);
    if (parsed === null) throw new Undecodable('an instruction of the batch');
    instructions.push(parsed);
  }
  return instructions;
}

/** @returns null when not parsed. */
export function parseTokenData(bytes: Uint8Array, given: readonly Address[]): ParsedParts | null {
  const data = new ByteReader(bytes);
  const discriminant = data.u8();
  if (discriminant === BATCH) return { type: 'batch', info: { instructions: readBatch(data, given) } };
  const row = tokenVariants[discriminant];
  // Interface discriminators start with no byte that the program uses.
  return row === undefined ? parseInterfaceData(bytes, given) : row(data, given);
}
