import { ByteReader } from '../../../base/bytes.ts';
import type { Address } from '../../address.ts';
import { InvalidEncoding, pubkey, readOption, utf8 } from '../../codec.ts';
import type { Types } from '../members.ts';
import type { Members } from '../wire-order.ts';
import { token2022Variants } from './token-2022.ts';
import {
  confidentialMintBurn,
  confidentialTransfer,
  confidentialTransferFee,
  permissionedBurn,
} from './token-confidential.ts';
import { parseInterfaceData } from './token-interfaces.ts';
import { nameAddresses, type ParsedParts, type Variant, variants } from './variant.ts';

/** Indexed by u16 type. Source: `UiExtensionType`. */
const extensionTypes = `uninitialized transferFeeConfig transferFeeAmount mintCloseAuthority
  confidentialTransferMint confidentialTransferAccount defaultAccountState immutableOwner memoTransfer
  nonTransferable interestBearingConfig cpiGuard permanentDelegate nonTransferableAccount transferHook
  transferHookAccount confidentialTransferFeeConfig confidentialTransferFeeAmount metadataPointer tokenMetadata
  groupPointer tokenGroup groupMemberPointer tokenGroupMember confidentialMintBurn scaledUiAmount pausable
  pausableAccount permissionedBurn`.split(/\s+/);

/** Indexed by u8 type. Source: `UiAuthorityType`. */
const authorityTypes = `mintTokens freezeAccount accountOwner closeAccount transferFeeConfig withheldWithdraw
  closeMint interestRate permanentDelegate confidentialTransferMint transferHookProgramId
  confidentialTransferFeeConfig metadataPointer groupPointer groupMemberPointer scaledUiAmount pause
  permissionedBurn`.split(/\s+/);

/** Authority types of token accounts; all other types belong to mints. */
const accountAuthorities: ReadonlySet<string> = new Set(['accountOwner', 'closeAccount']);

const setAuthority: Variant = (data, given) => {
  const authorityType = authorityTypes[data.u8()];
  if (authorityType === undefined) throw new InvalidEncoding('unknown authority type');
  const newAuthority = readOption(data, pubkey.read);
  const accounts = nameAddresses(
    [accountAuthorities.has(authorityType) ? 'account' : 'mint', '!authority'],
    given,
  );
  return accounts && { type: 'setAuthority', info: { ...accounts, authorityType, newAuthority } };
};

function readExtensionTypes(data: ByteReader): string[] {
  const names: string[] = [];
  while (data.remaining > 0) {
    const name = extensionTypes[data.u16()];
    if (name === undefined) throw new InvalidEncoding('unknown extension type');
    names.push(name);
  }
  return names;
}

const own: Types = {
  extensionTypes: readExtensionTypes,
  'extensionTypes?': (data) => (data.remaining === 0 ? undefined : readExtensionTypes(data)),
  rest: (data) => utf8(data.bytes(data.remaining)),
};

/** Indexed by u8 discriminant. Sources: transaction-status/src/parse_token.rs; spl-token-2022-interface for layouts. */
const tokenVariants = variants(
  `
  initializeMint mint rentSysvar: decimals u8, mintAuthority pubkey, freezeAuthority pubkey?
  initializeAccount account mint owner rentSysvar
  initializeMultisig multisig rentSysvar signers+: m u8
  transfer source destination !authority: amount u64text
  approve source delegate !owner: amount u64text
  revoke source !owner
  @setAuthority
  mintTo mint account !mintAuthority: amount u64text
  burn account mint !authority: amount u64text
  closeAccount account destination !owner
  freezeAccount account mint !freezeAuthority
  thawAccount account mint !freezeAuthority
  transferChecked source mint destination !authority: tokenAmount tokenAmount
  approveChecked source mint delegate !owner: tokenAmount tokenAmount
  mintToChecked mint account !mintAuthority: tokenAmount tokenAmount
  burnChecked account mint !authority: tokenAmount tokenAmount
  initializeAccount2 account mint rentSysvar: owner pubkey
  syncNative account
  initializeAccount3 account mint: owner pubkey
  initializeMultisig2 multisig signers+: m u8
  initializeMint2 mint: decimals u8, mintAuthority pubkey, freezeAuthority pubkey?
  getAccountDataSize mint: extensionTypes extensionTypes?
  initializeImmutableOwner account
  amountToUiAmount mint: amount u64text
  uiAmountToAmount mint: uiAmount rest
  initializeMintCloseAuthority mint: newAuthority pubkey~
  @transferFee
  @confidentialTransfer
  @defaultAccountState
  reallocate account payer systemProgram !owner: extensionTypes extensionTypes
  @memoTransfer
  createNativeMint payer nativeMint systemProgram
  initializeNonTransferableMint mint
  @interestBearingMint
  @cpiGuard
  initializePermanentDelegate mint: delegate pubkey
  @transferHook
  @confidentialTransferFee
  withdrawExcessLamports source destination !authority
  @metadataPointer
  @groupPointer
  @groupMemberPointer
  @confidentialMintBurn
  @scaledUiAmount
  @pausable
  unwrapLamports source destination !authority: amount u64text?
  @permissionedBurn
`,
  {
    ...{ ...token2022Variants, setAuthority, confidentialTransfer, confidentialTransferFee },
    ...{ confidentialMintBurn, permissionedBurn },
  },
  own,
);

/** Indexed by u8 discriminant; empty data means 0. Source: transaction-status/src/parse_associated_token.rs */
export const associatedTokenAccountVariants = variants(`
  create source account wallet mint systemProgram tokenProgram
  createIdempotent source account wallet mint systemProgram tokenProgram
  recoverNested nestedSource nestedMint destination nestedOwner ownerMint wallet tokenProgram
`);

const BATCH = 255;

/** Each instruction consists of an account count, a data length and the data. */
function readBatch(data: ByteReader, given: readonly Address[]): Members[] {
  const instructions: Members[] = [];
  let position = 0;
  while (data.remaining > 0) {
    const count = data.u8();
    const inner = data.bytes(data.u8());
    const accounts = given.slice(position, position + count);
    position += count;
    const parsed = accounts.length < count || inner[0] === BATCH ? null : parseTokenData(inner, accounts);
    if (parsed === null) throw new InvalidEncoding('invalid instruction in a batch');
    instructions.push(parsed);
  }
  return instructions;
}

export function parseTokenData(bytes: Uint8Array, given: readonly Address[]): ParsedParts | null {
  const data = new ByteReader(bytes);
  const discriminant = data.u8();
  if (discriminant === BATCH) return { type: 'batch', info: { instructions: readBatch(data, given) } };
  const row = tokenVariants[discriminant];
  // Interface discriminators never start with a byte that the token program uses.
  return row === undefined ? parseInterfaceData(bytes, given) : row(data, given);
}
