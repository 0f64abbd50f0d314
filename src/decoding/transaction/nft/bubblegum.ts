import type { Address } from '../../../solana/address.ts';
import type { ProgramParser } from '../action.ts';
import { type CompressedMetadata, readMetadata, readMetadataV2 } from './compressed-metadata.ts';
import { anchorReader, type Call, given, layout, type ParsedAction } from './instruction-layout.ts';
import { assetIdOf, leafEventOf } from './leaf-event.ts';

/**
 * Bubblegum, compressed NFTs: who has one is a leaf in a tree; the chain keeps no more than the tree's root.
 * Whoever may change a leaf's metadata acts through the tree's authority, which is therefore told as the update
 * authority, as the Digital Asset Standard does. Source: metaplex-foundation/mpl-bubblegum 575f729.
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

/** Where the leaf's number stands: behind root, data hash and creator hash. */
function nonceV1({ args }: TreeCall): bigint {
  args.skipBytes(NONCE_SKIPS.hashes);
  return args.u64();
}

/** Also behind an optional hash of the asset's data, and optional flags. */
function nonceV2({ args }: TreeCall): bigint {
  args.skipBytes(NONCE_SKIPS.hashes);
  if (args.bool()) args.skipBytes(NONCE_SKIPS.optionalHash);
  // Flags of the asset, which do not name it.
  if (args.bool()) args.skipBytes(1);
  return args.u64();
}

/** The leaf's name; what Bubblegum told of it spares the search for it. */
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
      tree_creator: given(at.treeCreator, instruction) ?? at.payer,
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

/** Bubblegum, of both versions. */
export const bubblegum: ProgramParser = { name: 'BUBBLEGUM', read };
