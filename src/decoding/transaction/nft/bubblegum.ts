import { type ByteReader, readOrNull } from '../../../base/bytes.ts';
import type { WritableJson } from '../../../base/json.ts';
import { type Address, address, addressBytes, addressFromBytes } from '../../../solana/address.ts';
import { findProgramAddress, isDerivedFrom, u64Seed } from '../../../solana/program-address.ts';
import { rawAmount } from '../../amounts.ts';
import type { ProgramParser } from '../action.ts';
import type { ExecutedInstruction, ExecutedTransaction } from '../executed-transaction.ts';
import {
  anchorReader,
  type Call,
  layout,
  optional,
  optionalAccount,
  type ParsedAction,
} from './instruction-layout.ts';

export const bubblegumProgram: Address = address('BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY');

export const noopPrograms: ReadonlySet<Address> = new Set([
  address('noopb9bkMVfRPU8AsbpTUg8AQkHtKwMYZiFUjNRtMmV'),
  address('mnoopTCrg4p8ry25e4bcWA9XZjbNjMTfgYVGGEdRsf3'),
]);

type LeafEvent = Readonly<{ id: Address; owner: Address; delegate: Address; nonce: bigint }>;

const APPLICATION_DATA = 1;
const LEAF_SCHEMA_EVENT = 1;
const VERSION_MAX = 1;

/**
 * Decodes a leaf schema event, V1 or V2. Source: mpl-bubblegum, `LeafSchemaEvent` inside
 * spl-account-compression's `ApplicationDataEvent::V1`.
 */
function readLeafEvent(data: Uint8Array): LeafEvent | null {
  return readOrNull(data, (reader) => {
    if (reader.u8() !== APPLICATION_DATA || reader.u8() !== 0) return null;
    if (reader.u32() !== reader.remaining) return null;
    if (reader.u8() !== LEAF_SCHEMA_EVENT) return null;
    if (reader.u8() > VERSION_MAX || reader.u8() > VERSION_MAX) return null;
    const id = addressFromBytes(reader.bytes(32));
    const owner = addressFromBytes(reader.bytes(32));
    const delegate = addressFromBytes(reader.bytes(32));
    return { id, owner, delegate, nonce: reader.u64() };
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

/** Later instructions of the same outer one, up to the next Bubblegum instruction. */
function* behind({ index, outer }: ExecutedInstruction, { instructions }: ExecutedTransaction) {
  for (const one of instructions) {
    if (one.outer !== outer || one.index <= index) continue;
    if (one.program === bubblegumProgram) return;
    yield one;
  }
}

/**
 * Leaf event of a Bubblegum instruction.
 * @param tree - its tree. Anyone can call a no-op program: the caller and the asset ID must match.
 * @returns null without an event.
 */
function leafEventOf(
  instruction: ExecutedInstruction,
  tree: Address,
  transaction: ExecutedTransaction,
): LeafEvent | null {
  for (const one of behind(instruction, transaction)) {
    if (!noopPrograms.has(one.program)) continue;
    if (one.height !== null && one.caller !== instruction.index) continue;
    const event = readLeafEvent(one.data);
    if (event === null) continue;
    return isDerivedFrom(event.id, assetSeeds(tree, event.nonce), bubblegumProgram) ? event : null;
  }
  return null;
}

/**
 * Mint metadata, with names and enums in Anchor's JavaScript form. Source: mpl-bubblegum 575f729,
 * `MetadataArgs` and `MetadataArgsV2`.
 */
type CompressedMetadata = Readonly<Record<string, WritableJson>>;

/** Transaction size; Bubblegum allows 32, 10 and 200 bytes. */
const TEXT_MAX = 1232;
const CREATORS_MAX = 64;

const tokenStandards = ['nonFungible', 'fungibleAsset', 'fungible', 'nonFungibleEdition'];
const programVersions = ['original', 'token2022'];
const useMethods = ['burn', 'multiple', 'single'];

class InvalidMetadata extends Error {
  override readonly name = 'InvalidMetadata';
}

function invalidMetadata(): never {
  throw new InvalidMetadata('invalid metadata of a compressed NFT');
}

function text(args: ByteReader): string {
  const length = args.u32();
  if (length > TEXT_MAX) invalidMetadata();
  return Buffer.from(args.bytes(length)).toString('utf8');
}

const key = (args: ByteReader): string => addressFromBytes(args.bytes(32));

const variant = (names: readonly string[]) => (args: ByteReader) => ({
  [names[args.u8()] ?? invalidMetadata()]: {},
});

const uses = (args: ByteReader) => ({
  ...{ useMethod: variant(useMethods)(args), remaining: rawAmount(args.u64()), total: rawAmount(args.u64()) },
});

function creators(args: ByteReader) {
  const count = args.u32();
  if (count > CREATORS_MAX) invalidMetadata();
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

/** V2 has no edition nonce, uses and token program; its collection is always verified. */
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

/** @returns null for invalid bytes. @throws OutOfBytes when truncated. */
function accepted(read: () => CompressedMetadata): CompressedMetadata | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidMetadata) return null;
    throw error;
  }
}

const readMetadata = (args: ByteReader, vouched: boolean): CompressedMetadata | null =>
  accepted(() => v1(args, vouched));

/** For `mint_v2`; as `readMetadata`. */
const readMetadataV2 = (args: ByteReader): CompressedMetadata | null => accepted(() => v2(args));

/**
 * Bubblegum, compressed NFTs: an NFT is a leaf of a Merkle tree. The tree authority is shown as update
 * authority, as in DAS. Source: metaplex-foundation/mpl-bubblegum 575f729.
 */

const NONCE_SKIPS = { hashes: 3 * 32, optionalHash: 32 };

type TreeCall = Call<'treeAuthority' | 'merkleTree'>;

const treeInfo = ({ at }: TreeCall) => ({ tree_authority: at.treeAuthority, merkle_tree: at.merkleTree });

function minted(
  call: TreeCall,
  who: Readonly<{ payer: Address; owner: Address }>,
  metadata: CompressedMetadata | null,
): ParsedAction | null {
  if (metadata === null) return null;
  const leaf = leafEventOf(call.instruction, call.at.merkleTree, call.transaction);
  return {
    type: 'COMPRESSED_NFT_MINT',
    info: {
      ...{ ...treeInfo(call), payer: who.payer, nft_address: leaf?.id ?? null },
      ...{ owner: leaf?.owner ?? who.owner, update_authority: call.at.treeAuthority, nft_metadata: metadata },
    },
  };
}

/** The nonce follows root, data hash and creator hash. */
function nonceV1({ args }: TreeCall): bigint {
  args.skipBytes(NONCE_SKIPS.hashes);
  return args.u64();
}

/** Also follows an optional asset data hash and optional flags. */
function nonceV2({ args }: TreeCall): bigint {
  args.skipBytes(NONCE_SKIPS.hashes);
  if (args.bool()) args.skipBytes(NONCE_SKIPS.optionalHash);
  if (args.bool()) args.skipBytes(1);
  return args.u64();
}

/** Uses the leaf event, so that no search for the bump is needed. */
function nameOf({ at, instruction, transaction }: TreeCall, nonce: bigint): Address {
  const leaf = leafEventOf(instruction, at.merkleTree, transaction);
  return leaf?.nonce === nonce ? leaf.id : assetIdOf(at.merkleTree, nonce);
}

const transferred = (call: TreeCall, nonce: bigint, sender: Address, receiver: Address): ParsedAction => ({
  type: 'COMPRESSED_NFT_TRANSFER',
  info: {
    ...{ ...treeInfo(call), sender, receiver, nft_address: nameOf(call, nonce) },
    update_authority: call.at.treeAuthority,
  },
});

const burnt = (call: TreeCall, nonce: bigint, owner: Address): ParsedAction => ({
  type: 'COMPRESSED_NFT_BURN',
  info: {
    ...{ ...treeInfo(call), owner, nft_address: assetIdOf(call.at.merkleTree, nonce) },
    update_authority: call.at.treeAuthority,
  },
});

const createTree = layout({ treeAuthority: 0, merkleTree: 1, payer: 2, treeCreator: 3 }, (call) => {
  const { at, args, instruction } = call;
  return {
    type: 'CREATE_TREE',
    info: {
      ...{ ...treeInfo(call), payer: at.payer },
      tree_creator: optionalAccount(at.treeCreator, instruction) ?? at.payer,
      ...{ max_depth: args.u32(), max_buffer_size: args.u32() },
    },
  };
});

const read = anchorReader({
  create_tree: createTree,
  create_tree_v2: createTree,
  mint_v1: layout({ treeAuthority: 0, owner: 1, merkleTree: 3, payer: 4 }, (call) =>
    minted(call, call.at, readMetadata(call.args, false)),
  ),
  mint_to_collection_v1: layout({ treeAuthority: 0, owner: 1, merkleTree: 3, payer: 4 }, (call) =>
    minted(call, call.at, readMetadata(call.args, true)),
  ),
  mint_v2: layout({ treeAuthority: 0, payer: 1, owner: 4, merkleTree: 6 }, (call) =>
    minted(call, call.at, readMetadataV2(call.args)),
  ),
  transfer: layout({ treeAuthority: 0, owner: 1, newOwner: 3, merkleTree: 4 }, (call) =>
    transferred(call, nonceV1(call), call.at.owner, call.at.newOwner),
  ),
  transfer_v2: layout({ treeAuthority: 0, owner: 3, newOwner: 5, merkleTree: 6 }, (call) =>
    transferred(call, nonceV2(call), call.at.owner, call.at.newOwner),
  ),
  burn: layout({ treeAuthority: 0, owner: 1, merkleTree: 3 }, (call) =>
    burnt(call, nonceV1(call), call.at.owner),
  ),
  burn_v2: layout({ treeAuthority: 0, owner: 3, merkleTree: 5 }, (call) =>
    burnt(call, nonceV2(call), call.at.owner),
  ),
});

/** Both versions. */
export const bubblegum: ProgramParser = { name: 'BUBBLEGUM', read };
