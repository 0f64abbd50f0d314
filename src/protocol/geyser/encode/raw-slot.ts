import { blockhashBytes } from '../../../solana/blockhash.ts';
import { ProtobufWriter } from '../protobuf-writer.ts';
import type { RawBlockMeta, RawEntry, RawSlot } from '../raw-update.ts';
import { writeRewards, writeWrappedUint64 } from '../storage/encode-meta.ts';
import type { BlockMetaUpdate } from '../update/block.ts';
import type { EntryUpdate } from '../update/entry.ts';
import { type SlotUpdate, slotStatuses } from '../update/slot.ts';

/** Shared by all calls, which are synchronous. */
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

export function rawEntry(entry: EntryUpdate, createdAt: Uint8Array): RawEntry {
  writer.clear();
  const opened = writer.open(8);
  writer.nonzeroUint64(1, entry.slot);
  writer.nonzeroUint32(2, entry.index);
  writer.nonzeroUint64(3, entry.numHashes);
  writer.bytes(4, blockhashBytes(entry.hash));
  writer.nonzeroUint32(5, entry.executedTransactionCount);
  writer.nonzeroUint32(6, entry.startingTransactionIndex);
  const end = writer.length - opened;
  const start = writer.close(opened);
  const tail = writer.bytes(11, createdAt).take();
  return {
    kind: 'entry',
    slot: entry.slot,
    tail,
    createdAt,
    message: tail.subarray(start, start + end),
    index: entry.index,
  };
}

export function rawBlockMeta(
  meta: BlockMetaUpdate,
  createdAt: Uint8Array,
  updatedAccountCount: number | null,
): RawBlockMeta {
  const writer = new ProtobufWriter(512);
  const opened = writer.open(7, 256);
  writer.nonzeroUint64(1, meta.slot);
  writer.string(2, meta.blockhash);
  writeRewards(writer, 3, meta.rewards, meta.numRewardPartitions);
  writeWrappedUint64(writer, 4, meta.blockTime);
  writeWrappedUint64(writer, 5, meta.blockHeight);
  writer.nonzeroUint64(6, meta.parentSlot);
  writer.string(7, meta.parentBlockhash);
  writer.nonzeroUint32(8, meta.executedTransactionCount);
  writer.nonzeroUint32(9, meta.entriesCount);
  const length = writer.length - opened;
  const start = writer.close(opened);
  const tail = writer.bytes(11, createdAt).take();
  const { slot, blockhash, blockHeight, parentSlot, executedTransactionCount, entriesCount } = meta;
  return {
    kind: 'blockMeta',
    slot,
    tail,
    createdAt,
    message: tail.subarray(start, start + length),
    blockhash,
    blockHeight,
    parentSlot,
    executedTransactionCount,
    entriesCount,
    updatedAccountCount,
  };
}
