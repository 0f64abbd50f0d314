import type { ByteReader } from '../../../base/bytes.ts';
import { Undecodable } from '../bincode.ts';

/** Token-2022 extensions by their u16 type, as instructions name them. Source: `UiExtensionType`. */
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

/** Authorities by their u8 type, and what each has power over. Source: `UiAuthorityType`. */
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

/** A kind of authority and the kind of account that it governs. */
export function readAuthorityType(data: ByteReader): { name: string; owned: 'mint' | 'account' } {
  const name = authorityTypes[data.u8()];
  if (name === undefined) throw new Undecodable('authority type');
  return { name, owned: accountAuthorities.has(name) ? 'account' : 'mint' };
}

/** The extension types that fill the rest of the data. */
export function readExtensionTypes(data: ByteReader): string[] {
  const names: string[] = [];
  while (data.remaining > 0) {
    const name = extensionTypes[data.u16()];
    if (name === undefined) throw new Undecodable('extension type');
    names.push(name);
  }
  return names;
}
