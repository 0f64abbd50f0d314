import { readOrNull } from '../../../base/bytes.ts';
import { type Address, address, addressBytes, addressFromBytes } from '../../../solana/address.ts';
import { findProgramAddress, isDerivedFrom, u64Seed } from '../../../solana/program-address.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';
import type { ExecutedInstruction } from '../instruction.ts';

/** Bubblegum, the program of compressed NFTs. */
export const bubblegumProgram: Address = address('BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY');

/** Programs that do nothing: what they are called with is for readers of the ledger. */
export const noopPrograms: ReadonlySet<Address> = new Set([
  address('noopb9bkMVfRPU8AsbpTUg8AQkHtKwMYZiFUjNRtMmV'),
  address('mnoopTCrg4p8ry25e4bcWA9XZjbNjMTfgYVGGEdRsf3'),
]);

/** A leaf of a tree as Bubblegum told it: who has the NFT now. */
export type LeafEvent = Readonly<{ id: Address; owner: Address; delegate: Address; nonce: bigint }>;

const APPLICATION_DATA = 1;
const LEAF_SCHEMA_EVENT = 1;
const VERSION_MAX = 1;

/**
 * What Bubblegum tells a noop program of a leaf, of schema V1 or V2.
 * Source: mpl-bubblegum, `LeafSchemaEvent` inside spl-account-compression's `ApplicationDataEvent::V1`.
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

/** The address under which a compressed NFT is known. Source: mpl-bubblegum, `get_asset_id`. */
export const assetIdOf = (tree: Address, nonce: bigint): Address =>
  findProgramAddress(assetSeeds(tree, nonce), bubblegumProgram).address;

/** Of the same outer instruction, behind this one, up to the next one of Bubblegum. */
function* behind({ index, outer }: ExecutedInstruction, { instructions }: ExecutedTransaction) {
  for (const one of instructions) {
    if (one.outer !== outer || one.index <= index) continue;
    if (one.program === bubblegumProgram) return;
    yield one;
  }
}

/**
 * What an instruction of Bubblegum told of its leaf.
 * @param tree - whose leaf it is. Anybody may call a noop program with anything: where the node says who called, it
 * must be this instruction, and the leaf's name must be the one that Bubblegum gives under this tree.
 * @returns null where nothing was told.
 */
export function leafEventOf(
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
