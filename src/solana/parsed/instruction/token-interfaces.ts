import { createHash } from 'node:crypto';
import { ByteReader } from '../../../base/bytes.ts';
import type { Address } from '../../address.ts';
import { uiTokenAmount } from '../../encoding/ui-token-amount.ts';
import { readAddress, readBool, readOption, Undecodable, utf8 } from '../bincode.ts';
import type { Members } from '../wire-order.ts';
import { confidentialBurn, MINT_BURN_PROOFS, proven } from './token-confidential.ts';
import {
  authorized,
  byU8,
  exactly,
  maybeAddress,
  type ParsedParts,
  type Variant,
  variant,
} from './variant.ts';

/** Borsh string. */
const text = (data: ByteReader): string => utf8(data.bytes(data.u32()));

/** Three fields have fixed names; others have a key. */
function field(data: ByteReader): string {
  const number = data.u8();
  if (number > 3) throw new Undecodable('metadata field');
  return ['name', 'symbol', 'uri'][number] ?? text(data);
}

const metadata = (type: string, accounts: readonly string[], read: (data: ByteReader) => Members): Variant =>
  variant(type, ['metadata', ...accounts], exactly(read));

const group = (type: string, accounts: readonly string[], read: (data: ByteReader) => Members): Variant =>
  variant(type, accounts, exactly(read));

/** By the name whose SHA-256 starts the instruction. */
const byName: Readonly<Record<string, Variant>> = {
  'spl_token_metadata_interface:initialize_account': metadata(
    'initializeTokenMetadata',
    ['updateAuthority', 'mint', 'mintAuthority'],
    (data) => ({ name: text(data), symbol: text(data), uri: text(data) }),
  ),
  'spl_token_metadata_interface:updating_field': metadata(
    'updateTokenMetadataField',
    ['updateAuthority'],
    (data) => ({ field: field(data), value: text(data) }),
  ),
  'spl_token_metadata_interface:remove_key_ix': metadata(
    'removeTokenMetadataKey',
    ['updateAuthority'],
    (data) => ({ idempotent: readBool(data), key: text(data) }),
  ),
  'spl_token_metadata_interface:update_the_authority': metadata(
    'updateTokenMetadataAuthority',
    ['updateAuthority'],
    (data) => ({ newAuthority: maybeAddress(data) }),
  ),
  'spl_token_metadata_interface:emitter': metadata('emitTokenMetadata', [], (data) => ({
    start: readOption(data, () => data.u64()) ?? undefined,
    end: readOption(data, () => data.u64()) ?? undefined,
  })),
  'spl_token_group_interface:initialize_token_group': group(
    'initializeTokenGroup',
    ['group', 'mint', 'mintAuthority'],
    (data) => ({ updateAuthority: maybeAddress(data), maxSize: data.u64() }),
  ),
  'spl_token_group_interface:update_group_max_size': group(
    'updateTokenGroupMaxSize',
    ['group', 'updateAuthority'],
    (data) => ({ maxSize: data.u64() }),
  ),
  'spl_token_group_interface:update_authority': group(
    'updateTokenGroupAuthority',
    ['group', 'updateAuthority'],
    (data) => ({ newAuthority: maybeAddress(data) }),
  ),
  'spl_token_group_interface:initialize_member': group(
    'initializeTokenGroupMember',
    ['member', 'memberMint', 'memberMintAuthority', 'group', 'groupUpdateAuthority'],
    () => ({}),
  ),
};

const DISCRIMINATOR_BYTES = 8;

const byDiscriminator: ReadonlyMap<string, Variant> = new Map(
  Object.entries(byName).map(([name, row]) => [
    createHash('sha256')
      .update(name)
      .digest('hex')
      .slice(0, DISCRIMINATOR_BYTES * 2),
    row,
  ]),
);

/**
 * Metadata and group interfaces of Token-2022. Source:
 * transaction-status/src/parse_token/extension/token_metadata.rs and token_group.rs
 */
export function parseInterfaceData(bytes: Uint8Array, given: readonly Address[]): ParsedParts | null {
  const data = new ByteReader(bytes);
  const discriminator = Buffer.from(data.bytes(DISCRIMINATOR_BYTES)).toString('hex');
  return byDiscriminator.get(discriminator)?.(data, given) ?? null;
}

const burnt = ['account', 'mint', 'permissionedBurnAuthority'];

/** Source: transaction-status/src/parse_token/extension/permissioned_burn.rs */
export const permissionedBurn = byU8([
  variant(
    'initializePermissionedBurnConfig',
    ['mint'],
    exactly((data) => ({ authority: readAddress(data) })),
  ),
  authorized(
    'permissionedBurn',
    burnt,
    'authority',
    exactly((data) => ({ amount: String(data.u64()) })),
  ),
  authorized(
    'permissionedBurnChecked',
    burnt,
    'authority',
    exactly((data) => ({ tokenAmount: uiTokenAmount(data.u64(), data.u8()) })),
  ),
  proven('permissionedConfidentialBurn', {
    accounts: ['account', 'mint'],
    reserved: ['permissionedBurnAuthority'],
    authority: 'authority',
    minimum: 4,
    read: confidentialBurn,
    proofs: MINT_BURN_PROOFS,
  }),
]);
