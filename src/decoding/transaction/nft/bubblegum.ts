import type { ByteReader } from '../../../base/bytes.ts';
import type { WritableJson } from '../../../base/json.ts';
import { ADDRESS_BYTES, type Address, address, addressBytes } from '../../../solana/address.ts';
import { InvalidEncoding, pubkey, readOrNull } from '../../../solana/codec.ts';
import { findProgramAddress, isDerivedFrom, u64Seed } from '../../../solana/program-address.ts';
import { rawAmount } from '../../amounts.ts';
import { readVariant } from '../../borsh.ts';
import type { ParsedAction, ProgramParser } from '../action.ts';
import type { ExecutedInstruction, ExecutedTransaction } from '../executed-transaction.ts';
import { anchorReader, type Call, layout, optional, optionalAccount } from './instruction-layout.ts';
import { nftAction } from './nft-actions.ts';

export const bubblegumProgram: Address = address('BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY');

export const noopPrograms: ReadonlySet<Address> = new Set([
  address('noopb9bkMVfRPU8AsbpTUg8AQkHtKwMYZiFUjNRtMmV'),
  address('mnoopTCrg4p8ry25e4bcWA9XZjbNjMTfgYVGGEdRsf3'),
]);

type LeafEvent = Readonly<{ id: Address; owner: Address; nonce: bigint }>;

const APPLICATION_DATA = 1;
const LEAF_SCHEMA_EVENT = 1;
const VERSION_MAX = 1;

/** Source: mpl-bubblegum, `LeafSchemaEvent`; spl-account-compression, `ApplicationDataEvent::V1`. */
function readLeafEvent(data: Uint8Array): LeafEvent | null {
  return readOrNull(data, (reader) => {
    if (reader.u8() !== APPLICATION_DATA || reader.u8() !== 0) return null;
    if (reader.u32() !== reader.remaining) return null;
    if (reader.u8() !== LEAF_SCHEMA_EVENT) return null;
    if (reader.u8() > VERSION_MAX || reader.u8() > VERSION_MAX) return null;
    const [id, owner] = [pubkey.read(reader), pubkey.read(reader)];
    reader.skipBytes(ADDRESS_BYTES); // Delegate.
    return { id, owner, nonce: reader.u64() };
  });
}

const assetSeeds = (tree: Address, nonce: bigint): Uint8Array[] => [
  Buffer.from('asset'),
  addressBytes(tree),
  u64Seed(nonce),
];

/** Source: mpl-bubblegum, `get_asset_id`. */
export const assetIdOf = (tree: Address, nonce: bigint): Address =>
  findProgramAddress(assetSeeds(tree, nonce), bubblegumProgram).address;

/** Later instructions within the same outer instruction, up to the next Bubblegum instruction. */
function* laterInstructions({ index, outer }: ExecutedInstruction, { instructions }: ExecutedTransaction) {
  for (const one of instructions) {
    if (one.outer !== outer || one.index <= index) continue;
    if (one.program === bubblegumProgram) return;
    yield one;
  }
}

type TreeCall = Call<'tree_authority' | 'merkle_tree'>;

/** Anyone can call a no-op program, so an event counts only if its caller and its asset ID match. */
function leafEventOf({ at, instruction, transaction }: TreeCall): LeafEvent | null {
  for (const one of laterInstructions(instruction, transaction)) {
    if (!noopPrograms.has(one.program)) continue;
    if (one.height !== null && one.caller !== instruction.index) continue;
    const event = readLeafEvent(one.data);
    if (event === null) continue;
    return isDerivedFrom(event.id, assetSeeds(at.merkle_tree, event.nonce), bubblegumProgram) ? event : null;
  }
  return null;
}

/** Metadata in Anchor's JavaScript form. Source: mpl-bubblegum 575f729, `MetadataArgs`, `MetadataArgsV2`. */
type CompressedMetadata = Readonly<Record<string, WritableJson>>;

/** Size limit of a transaction. Bubblegum itself allows only 32, 10 and 200 bytes for name, symbol and URI. */
const TEXT_MAX = 1232;
const CREATORS_MAX = 64;

const tokenStandards = ['nonFungible', 'fungibleAsset', 'fungible', 'nonFungibleEdition'];
const programVersions = ['original', 'token2022'];
const useMethods = ['burn', 'multiple', 'single'];

function text(args: ByteReader): string {
  const length = args.u32();
  if (length > TEXT_MAX) throw new InvalidEncoding('a text longer than a transaction');
  return Buffer.from(args.bytes(length)).toString('utf8');
}

const variant = (names: readonly string[]) => (args: ByteReader) => ({ [readVariant(args, names)]: {} });

const uses = (args: ByteReader) => ({
  ...{ useMethod: variant(useMethods)(args), remaining: rawAmount(args.u64()), total: rawAmount(args.u64()) },
});

function creators(args: ByteReader) {
  const count = args.u32();
  if (count > CREATORS_MAX) throw new InvalidEncoding('too many creators');
  return Array.from({ length: count }, () => ({
    ...{ address: pubkey.read(args), verified: args.bool(), share: args.u8() },
  }));
}

const readHead = (args: ByteReader) => ({
  ...{ name: text(args), symbol: text(args), uri: text(args), sellerFeeBasisPoints: args.u16() },
  ...{ primarySaleHappened: args.bool(), isMutable: args.bool() },
});

function readMetadata(args: ByteReader, isCollectionVerified: boolean): CompressedMetadata {
  return {
    ...readHead(args),
    editionNonce: optional(args, (some) => some.u8()),
    tokenStandard: optional(args, variant(tokenStandards)),
    collection: optional(args, (some) => ({
      verified: some.bool() || isCollectionVerified,
      key: pubkey.read(some),
    })),
    uses: optional(args, uses),
    tokenProgramVersion: variant(programVersions)(args),
    creators: creators(args),
  };
}

/** V2 has no `editionNonce`, `uses` or `tokenProgramVersion`; its collection is always verified. */
function readMetadataV2(args: ByteReader): CompressedMetadata {
  const head = readHead(args);
  const tokenStandard = optional(args, variant(tokenStandards));
  const made = creators(args);
  const collection = optional(args, (some) => ({ verified: true, key: pubkey.read(some) }));
  return {
    ...{ ...head, editionNonce: null, tokenStandard, collection, uses: null, tokenProgramVersion: null },
    creators: made,
  };
}

// Bubblegum handles compressed NFTs, which are leaves of a Merkle tree. As in DAS, the tree authority is shown as the
// update authority. Source: metaplex-foundation/mpl-bubblegum 575f729.

const HASH_BYTES = 32;

function minted(
  call: Call<'tree_authority' | 'merkle_tree' | 'payer' | 'owner'>,
  nft_metadata: CompressedMetadata,
): ParsedAction {
  const { at } = call;
  const leaf = leafEventOf(call);
  return nftAction('COMPRESSED_NFT_MINT', {
    ...{ ...at, nft_address: leaf?.id ?? null, owner: leaf?.owner ?? at.owner },
    ...{ update_authority: at.tree_authority, nft_metadata },
  });
}

/** The nonce follows root, data hash and creator hash. */
function nonceV1({ args }: TreeCall): bigint {
  args.skipBytes(3 * HASH_BYTES);
  return args.u64();
}

/** In V2, an optional asset data hash and optional flags also precede the nonce. */
function nonceV2({ args }: TreeCall): bigint {
  args.skipBytes(3 * HASH_BYTES);
  if (args.bool()) args.skipBytes(HASH_BYTES);
  if (args.bool()) args.skipBytes(1);
  return args.u64();
}

function assetIdOfCall(call: TreeCall, nonce: bigint): Address {
  const leaf = leafEventOf(call);
  // Taking the ID from the leaf event avoids the search for the bump.
  return leaf?.nonce === nonce ? leaf.id : assetIdOf(call.at.merkle_tree, nonce);
}

function transferred(
  call: Call<'tree_authority' | 'merkle_tree' | 'sender' | 'receiver'>,
  nonce: bigint,
): ParsedAction {
  const { at } = call;
  const nft = { nft_address: assetIdOfCall(call, nonce), update_authority: at.tree_authority };
  return nftAction('COMPRESSED_NFT_TRANSFER', { ...at, ...nft });
}

function burnt({ at }: Call<'tree_authority' | 'merkle_tree' | 'owner'>, nonce: bigint): ParsedAction {
  const nft = { nft_address: assetIdOf(at.merkle_tree, nonce), update_authority: at.tree_authority };
  return nftAction('COMPRESSED_NFT_BURN', { ...at, ...nft });
}

const createTree = layout(
  { tree_authority: 0, merkle_tree: 1, payer: 2, creator: 3 },
  ({ at, args, instruction }) =>
    nftAction('CREATE_TREE', {
      ...{ ...at, tree_creator: optionalAccount(at.creator, instruction) ?? at.payer },
      ...{ max_depth: args.u32(), max_buffer_size: args.u32() },
    }),
);

const mintV1 = (isCollectionVerified: boolean) =>
  layout({ tree_authority: 0, owner: 1, merkle_tree: 3, payer: 4 }, (call) =>
    minted(call, readMetadata(call.args, isCollectionVerified)),
  );

const read = anchorReader({
  'create_tree create_tree_v2': createTree,
  mint_v1: mintV1(false),
  mint_to_collection_v1: mintV1(true),
  mint_v2: layout({ tree_authority: 0, payer: 1, owner: 4, merkle_tree: 6 }, (call) =>
    minted(call, readMetadataV2(call.args)),
  ),
  transfer: layout({ tree_authority: 0, sender: 1, receiver: 3, merkle_tree: 4 }, (call) =>
    transferred(call, nonceV1(call)),
  ),
  transfer_v2: layout({ tree_authority: 0, sender: 3, receiver: 5, merkle_tree: 6 }, (call) =>
    transferred(call, nonceV2(call)),
  ),
  burn: layout({ tree_authority: 0, owner: 1, merkle_tree: 3 }, (call) => burnt(call, nonceV1(call))),
  burn_v2: layout({ tree_authority: 0, owner: 3, merkle_tree: 5 }, (call) => burnt(call, nonceV2(call))),
});

export const bubblegum: ProgramParser = { name: 'BUBBLEGUM', read };
