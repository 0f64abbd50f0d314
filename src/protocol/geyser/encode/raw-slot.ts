import type { Block } from '../../../solana/block.ts';
import { blockhashBytes } from '../../../solana/blockhash.ts';
import { ProtobufWriter } from '../protobuf-writer.ts';
import type { RawBlockMeta, RawEntry, RawSlot } from '../raw-update.ts';
import { writeRewards, writeWrappedUint64 } from '../storage/encode-meta.ts';
import type { EntryUpdate } from '../update/entry.ts';
import { type SlotUpdate, slotStatuses } from '../update/slot.ts';

/** Shared by all calls. This is safe because they are synchronous. */
const writer = new ProtobufWriter();

export function writeSlot(
  to: ProtobufWriter,
  field: number,
  { slot, parent, status, deadError }: Omit<SlotUpdate, 'kind'>,
): void {
  const start = to.open(field);
  to.nonzeroUint64(1, slot);
  if (parent !== null) to.uint64(2, parent);
  to.nonzeroUint32(3, slotStatuses.indexOf(status));
  if (deadError !== null) to.string(4, deadError);
  to.close(start);
}

export function rawSlot(update: SlotUpdate, createdAt: Uint8Array): RawSlot {
  writer.clear();
  writeSlot(writer, 3, update);
  return { ...update, createdAt, tail: writer.bytes(11, createdAt).take() };
}

/** Closes the update, the only field so far, and appends `created_at`. `message` is a view of the update. */
function finished(
  writer: ProtobufWriter,
  opened: number,
  createdAt: Uint8Array,
): Pick<RawEntry, 'tail' | 'createdAt' | 'message'> {
  const length = writer.length - opened;
  const start = writer.close(opened);
  const tail = writer.bytes(11, createdAt).take();
  return { tail, createdAt, message: tail.subarray(start, start + length) };
}

export function rawEntry(entry: EntryUpdate, createdAt: Uint8Array): RawEntry {
  writer.clear();
  const opened = writer.open(8);
  writer.nonzeroUint64(1, entry.slot);
  writer.nonzeroUint32(2, entry.index);
  writer.nonzeroUint64(3, entry.numHashes);
  writer.bytes(4, blockhashBytes(entry.hash));
  writer.nonzeroUint32(5, entry.executedTransactionCount);
  writer.nonzeroUint32(6, entry.startingTransactionIndex);
  return { kind: 'entry', slot: entry.slot, index: entry.index, ...finished(writer, opened, createdAt) };
}

/** The parts of a block that its meta contains. */
export type BlockHeader = Omit<Block, 'transactions'> & Readonly<{ transactions: ArrayLike<unknown> }>;

/** @param entriesCount - passed separately, because a block does not contain it. */
export function rawBlockMeta(block: BlockHeader, entriesCount: number, createdAt: Uint8Array): RawBlockMeta {
  const { slot, blockhash, blockHeight, parentSlot } = block;
  const executedTransactionCount = block.transactions.length;
  const writer = new ProtobufWriter(512);
  const opened = writer.open(7, 256);
  writer.nonzeroUint64(1, slot);
  writer.string(2, blockhash);
  writeRewards(writer, 3, block.rewards, block.numRewardPartitions ?? null);
  writeWrappedUint64(writer, 4, block.blockTime);
  writeWrappedUint64(writer, 5, blockHeight);
  writer.nonzeroUint64(6, parentSlot);
  writer.string(7, block.previousBlockhash);
  writer.nonzeroUint32(8, executedTransactionCount);
  writer.nonzeroUint32(9, entriesCount);
  return {
    kind: 'blockMeta',
    slot,
    ...finished(writer, opened, createdAt),
    blockhash,
    blockHeight,
    parentSlot,
    executedTransactionCount,
    entriesCount,
    updatedAccountCount: null,
  };
}
