import type { ByteReader } from '../../base/bytes.ts';
import type { Address } from '../../solana/address.ts';
import { pubkey, readOption, readOrNull } from '../../solana/codec.ts';
import { parseExtension } from '../../solana/parsed/account/token.ts';
import { readBool } from '../../solana/parsed/bincode.ts';
import { readList, readText, readVariant } from '../borsh.ts';
import { type Creator, type TokenRecord, tokenStandards } from './nft.ts';

const METADATA_V1 = 4;

const readCreator = (reader: ByteReader): Creator => ({
  address: pubkey.read(reader),
  verified: readBool(reader),
  share: reader.u8(),
});

const readCollection = (reader: ByteReader) => ({
  verified: readBool(reader),
  address: pubkey.read(reader),
});

function skipUses(reader: ByteReader): null {
  readVariant(reader, ['Burn', 'Multiple', 'Single']);
  // Skip the remaining and total uses, u64 each.
  reader.skipBytes(8 + 8);
  return null;
}

/**
 * Fields added in later versions. A shortened creator list leaves stale bytes behind, so if any of these fields is
 * unreadable, all of them count as absent. Source: `meta_deser_unchecked`.
 */
function readTail(reader: ByteReader) {
  const tail = readOrNull(reader.bytes(reader.remaining), (rest) => {
    // Skip the edition nonce.
    readOption(rest, (nonce) => nonce.u8());
    const tokenStandard = readOption(rest, (standard) => readVariant(standard, tokenStandards));
    const collection = readOption(rest, readCollection);
    readOption(rest, skipUses);
    return { tokenStandard, collection };
  });
  return tail ?? { tokenStandard: null, collection: null };
}

/** Decodes a metadata account of 679, 607 or fewer bytes. Source: mpl-token-metadata, `state/metadata.rs`. */
export function decodeMetaplexMetadata(data: Uint8Array) {
  if (data[0] !== METADATA_V1) return null;
  return readOrNull(data.subarray(1), (reader) => ({
    updateAuthority: pubkey.read(reader),
    mint: pubkey.read(reader),
    name: readText(reader),
    symbol: readText(reader),
    uri: readText(reader),
    sellerFeeBasisPoints: reader.u16(),
    creators: readOption(reader, (creators) => readList(creators, readCreator)) ?? [],
    primarySaleHappened: readBool(reader),
    isMutable: readBool(reader),
    ...readTail(reader),
  }));
}

export type MetaplexMetadata = NonNullable<ReturnType<typeof decodeMetaplexMetadata>>;

/** Source: mpl-token-metadata, `state/master_edition.rs`, `state/edition.rs`. */
export type MetaplexEdition =
  | Readonly<{ type: 'master'; supply: bigint; maxSupply: bigint | null }>
  | Readonly<{ type: 'print'; parent: Address; edition: bigint }>;

const EDITION_V1 = 1;
const MASTER_EDITION_V1 = 2;
const MASTER_EDITION_V2 = 6;

export function decodeMetaplexEdition(data: Uint8Array): MetaplexEdition | null {
  return readOrNull(data, (reader) => {
    const key = reader.u8();
    if (key === EDITION_V1) return { type: 'print', parent: pubkey.read(reader), edition: reader.u64() };
    if (key !== MASTER_EDITION_V1 && key !== MASTER_EDITION_V2) return null;
    return { type: 'master', supply: reader.u64(), maxSupply: readOption(reader, (max) => max.u64()) };
  });
}

const TOKEN_RECORD = 11;

const tokenStates = ['Unlocked', 'Locked', 'Listed'] as const;

/** `TokenDelegateRole` names. `allRoles` is indexed by discriminant; readVariant rejects unused indexes (undefined). */
const delegateRoles = ['Sale', 'Transfer', 'Utility', 'Staking', 'Standard', 'LockedTransfer'] as const;
const MIGRATION = 255;
const allRoles: readonly string[] = Object.assign(Array.from<string>({ length: MIGRATION }), delegateRoles, {
  [MIGRATION]: 'Migration',
});

/** Source: mpl-token-metadata, `state/programmable.rs`. */
export function decodeTokenRecord(address: Address, data: Uint8Array): TokenRecord | null {
  if (data[0] !== TOKEN_RECORD) return null;
  return readOrNull(data.subarray(1), (reader) => {
    reader.skipBytes(1); // Bump.
    return {
      address,
      key: 'TokenRecord',
      state: readVariant(reader, tokenStates),
      rule_set_revision: readOption(reader, (revision) => revision.u64()),
      delegate: readOption(reader, pubkey.read),
      token_delegate_role: readOption(reader, (role) => readVariant(role, allRoles)),
      // Accounts created before this field was added end here.
      locked_transfer: reader.remaining === 0 ? null : readOption(reader, pubkey.read),
    };
  });
}

/** Source: spl-token-metadata-interface, spl-token-group-interface. */
export type Token2022Metadata = Readonly<{
  updateAuthority: Address | null;
  name: string;
  symbol: string;
  uri: string;
  additionalMetadata: readonly (readonly [name: string, value: string])[];
  group: Address | null;
}>;

const TOKEN_METADATA = 19;
const TOKEN_GROUP_MEMBER = 23;

export function readToken2022Metadata(data: Uint8Array): Token2022Metadata | null {
  const { state } = parseExtension(data, TOKEN_METADATA, 'mint');
  if (state === undefined) return null;
  const member = parseExtension(data, TOKEN_GROUP_MEMBER, 'mint').state as { group: Address } | undefined;
  return { ...(state as unknown as Omit<Token2022Metadata, 'group'>), group: member?.group ?? null };
}
