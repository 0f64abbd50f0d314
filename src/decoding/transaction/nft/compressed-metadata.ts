import type { ByteReader } from '../../../base/bytes.ts';
import type { WritableJson } from '../../../base/json.ts';
import { addressFromBytes } from '../../../solana/address.ts';
import { rawAmount } from '../../amounts.ts';
import { optional } from './instruction-layout.ts';

/**
 * The metadata that a compressed NFT is minted with, as the interface shows it: names and enums as Anchor writes them
 * in JavaScript. Source: mpl-bubblegum 575f729, `MetadataArgs` and `MetadataArgsV2`.
 */
export type CompressedMetadata = Readonly<Record<string, WritableJson>>;

/** Bubblegum allows 32, 10 and 200 bytes; a transaction has no room for more than this anyway. */
const TEXT_MAX = 1232;
/** At 34 bytes each, a transaction has no room for as many. */
const CREATORS_MAX = 64;

const tokenStandards = ['nonFungible', 'fungibleAsset', 'fungible', 'nonFungibleEdition'];
const programVersions = ['original', 'token2022'];
const useMethods = ['burn', 'multiple', 'single'];

/** Read so far in the reader, and wrong. */
class Refused extends Error {
  override readonly name = 'Refused';
}

function refused(): never {
  throw new Refused('not the metadata of a compressed NFT');
}

function text(args: ByteReader): string {
  const length = args.u32();
  if (length > TEXT_MAX) refused();
  return Buffer.from(args.bytes(length)).toString('utf8');
}

const key = (args: ByteReader): string => addressFromBytes(args.bytes(32));

/** `{ nonFungible: {} }` */
const variant = (names: readonly string[]) => (args: ByteReader) => ({ [names[args.u8()] ?? refused()]: {} });

const uses = (args: ByteReader) => ({
  ...{ useMethod: variant(useMethods)(args), remaining: rawAmount(args.u64()), total: rawAmount(args.u64()) },
});

function creators(args: ByteReader) {
  const count = args.u32();
  if (count > CREATORS_MAX) refused();
  return Array.from({ length: count }, () => ({
    ...{ address: key(args), verified: args.bool(), share: args.u8() },
  }));
}

const readHead = (args: ByteReader) => ({
  ...{ name: text(args), symbol: text(args), uri: text(args), sellerFeeBasisPoints: args.u16() },
  ...{ primarySaleHappened: args.bool(), isMutable: args.bool() },
});

function v1(args: ByteReader, vouched: boolean): CompressedMetadata {
  return {
    ...readHead(args),
    editionNonce: optional(args, (some) => some.u8()),
    tokenStandard: optional(args, variant(tokenStandards)),
    collection: optional(args, (some) => ({ verified: some.bool() || vouched, key: key(some) })),
    uses: optional(args, uses),
    tokenProgramVersion: variant(programVersions)(args),
    creators: creators(args),
  };
}

/** V2 has no edition nonce, uses and token program; its collection is always a verified one. */
function v2(args: ByteReader): CompressedMetadata {
  const head = readHead(args);
  const tokenStandard = optional(args, variant(tokenStandards));
  const made = creators(args);
  const collection = optional(args, (some) => ({ verified: true, key: key(some) }));
  return {
    ...{ ...head, editionNonce: null, tokenStandard, collection, uses: null, tokenProgramVersion: null },
    creators: made,
  };
}

/** @returns null for bytes that are no such metadata. @throws OutOfBytes for too few of them. */
function accepted(read: () => CompressedMetadata): CompressedMetadata | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

/**
 * Of `mint_v1` and `mint_to_collection_v1`.
 * @param vouched - whether the instruction verifies the collection itself.
 * @returns null for bytes that are no such metadata.
 * @throws OutOfBytes for too few of them.
 */
export const readMetadata = (args: ByteReader, vouched: boolean): CompressedMetadata | null =>
  accepted(() => v1(args, vouched));

/**
 * Of `mint_v2`.
 * @returns null for bytes that are no such metadata.
 * @throws OutOfBytes for too few of them.
 */
export const readMetadataV2 = (args: ByteReader): CompressedMetadata | null => accepted(() => v2(args));
