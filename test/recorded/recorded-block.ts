import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BlockMetaUpdate, BlockUpdate } from '../../src/protocol/geyser/update/block.ts';
import { slot as slotOf } from '../../src/solana/units.ts';
import { decodeConfirmedBlock } from './confirmed-block.ts';

/** ../shared/data/blocks: mainnet blocks as protobuf solana.storage.ConfirmedBlock. */
const folder = join(import.meta.dirname, '../../../shared/data/blocks');

export const hasBlocks = existsSync(folder);

export const blockFiles = ['18144001.bincode', '43200000.bincode', '64800004.bincode'] as const;

export const readBlockFile = (file: string): Uint8Array => Uint8Array.from(readFileSync(join(folder, file)));

export function blockOf(bytes: Uint8Array, file: string): BlockUpdate {
  const { transactions, rewards, previousBlockhash, ...block } = decodeConfirmedBlock(
    bytes,
    slotOf(Number.parseInt(file, 10)),
  );
  return {
    kind: 'block',
    slot: block.slot,
    blockhash: block.blockhash,
    rewards,
    numRewardPartitions: block.numRewardPartitions ?? null,
    blockTime: block.blockTime,
    blockHeight: block.blockHeight,
    parentSlot: block.parentSlot,
    parentBlockhash: previousBlockhash,
    executedTransactionCount: transactions.length,
    entriesCount: 0,
    transactions: transactions.map((executed, index) => ({
      signature: executed.transaction.signatures[0]!,
      isVote: false,
      executed,
      index,
    })),
    updatedAccountCount: 0,
    accounts: [],
    entries: [],
  };
}

export function blockMetaOf(block: BlockUpdate): BlockMetaUpdate {
  const { transactions: _t, accounts: _a, entries: _e, updatedAccountCount: _u, ...header } = block;
  return { ...header, kind: 'blockMeta' };
}
