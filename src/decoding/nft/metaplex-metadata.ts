import type { ByteReader } from '../../base/bytes.ts';
import type { Address } from '../../solana/address.ts';
import { readAddress, readBool, readBorsh, readList, readOption, readText, readVariant } from '../borsh.ts';
import { type Creator, type TokenStandard, tokenStandards } from './nft.ts';

/** What an account of the metadata program says of a mint. Source: mpl-token-metadata, `state/metadata.rs`. */
export type MetaplexMetadata = Readonly<{
  updateAuthority: Address;
  mint: Address;
  name: string;
  symbol: string;
  uri: string;
  sellerFeeBasisPoints: number;
  creators: readonly Creator[];
  primarySaleHappened: boolean;
  isMutable: boolean;
  /** null in accounts that are older than the field, and in those whose end is corrupt. */
  tokenStandard: TokenStandard | null;
  collection: Readonly<{ address: Address; verified: boolean }> | null;
}>;

/** `Key::MetadataV1` */
const METADATA_V1 = 4;

const readCreator = (reader: ByteReader): Creator => {
  const address = readAddress(reader);
  const verified = readBool(reader);
  return { address, share: reader.u8(), verified };
};

const readCollection = (reader: ByteReader): MetaplexMetadata['collection'] => {
  const verified = readBool(reader);
  return { address: readAddress(reader), verified };
};

function skipUses(reader: ByteReader): null {
  readVariant(reader, ['Burn', 'Multiple', 'Single']);
  // How many are left and how many there were, a u64 each: not shown.
  reader.skipBytes(8 + 8);
  return null;
}

/**
 * What was added behind the first layout. Lists of creators that shrank have left old bytes there: when one of these
 * cannot be read, none counts. Source: `meta_deser_unchecked`.
 */
function readTail(reader: ByteReader): Pick<MetaplexMetadata, 'tokenStandard' | 'collection'> {
  const tail = readBorsh(reader.bytes(reader.remaining), (rest) => {
    readOption(rest, (nonce) => nonce.u8());
    const tokenStandard = readOption(rest, (standard) => readVariant(standard, tokenStandards));
    const collection = readOption(rest, readCollection);
    readOption(rest, skipUses);
    return { tokenStandard, collection };
  });
  return tail ?? { tokenStandard: null, collection: null };
}

/**
 * Decodes the data of an account of the metadata program: padded to 679 or 607 bytes or not at all, by its lengths.
 * @returns null when it is no metadata.
 */
export function decodeMetaplexMetadata(data: Uint8Array): MetaplexMetadata | null {
  if (data[0] !== METADATA_V1) return null;
  return readBorsh(data.subarray(1), (reader) => ({
    updateAuthority: readAddress(reader),
    mint: readAddress(reader),
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
