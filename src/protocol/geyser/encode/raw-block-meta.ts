import { ProtobufWriter } from '../protobuf-writer.ts';
import type { RawBlockMeta } from '../raw-update.ts';
import { writeRewards } from '../storage/encode-reward.ts';
import type { BlockMetaUpdate } from '../update/block.ts';

/** A field that is a message with one number, such as `UnixTimestamp`; nothing for null. */
function writeNumber(writer: ProtobufWriter, field: number, value: bigint | null): void {
  if (value === null) return;
  const start = writer.open(field);
  writer.uint64OrNone(1, value);
  writer.close(start);
}

function writeBlockMeta(writer: ProtobufWriter, meta: BlockMetaUpdate): void {
  writer.uint64OrNone(1, meta.slot);
  writer.string(2, meta.blockhash);
  writeRewards(writer, 3, meta.rewards, meta.numRewardPartitions);
  writeNumber(writer, 4, meta.blockTime);
  writeNumber(writer, 5, meta.blockHeight);
  writer.uint64OrNone(6, meta.parentSlot);
  writer.string(7, meta.parentBlockhash);
  writer.uint32OrNone(8, meta.executedTransactionCount);
  writer.uint32OrNone(9, meta.entriesCount);
}

/**
 * The meta of a block as bytes.
 * @param createdAt - encoded timestamp.
 * @param updatedAccountCount - see `RawBlockMeta`.
 */
export function rawBlockMeta(
  meta: BlockMetaUpdate,
  createdAt: Uint8Array,
  updatedAccountCount: number | null,
): RawBlockMeta {
  const writer = new ProtobufWriter(512);
  const opened = writer.open(7, 256);
  writeBlockMeta(writer, meta);
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
