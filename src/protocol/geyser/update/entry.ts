import type { Blockhash } from '../../../solana/blockhash.ts';
import { blockhashFromBytes } from '../../../solana/blockhash.ts';
import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import { readSlot, required } from '../fields.ts';
import type { ProtobufReader } from '../protobuf.ts';

/** Source: geyser.proto, `SubscribeUpdateEntry`. */
export type EntryUpdate = Readonly<{
  kind: 'entry';
  slot: Slot;
  index: number;
  numHashes: bigint;
  hash: Blockhash;
  executedTransactionCount: number;
  /** Index of the entry's first transaction in the block. */
  startingTransactionIndex: number;
}>;

export function readEntryUpdate(reader: ProtobufReader): EntryUpdate {
  let slot = slotOf(0);
  let [index, executedTransactionCount, startingTransactionIndex] = [0, 0, 0];
  let numHashes = 0n;
  let hash: Blockhash | null = null;
  while (reader.next()) {
    if (reader.field === 1) slot = readSlot(reader);
    else if (reader.field === 2) index = reader.count();
    else if (reader.field === 3) numHashes = reader.uint64();
    else if (reader.field === 4) hash = blockhashFromBytes(reader.fixedBytes(32));
    else if (reader.field === 5) executedTransactionCount = reader.count();
    else if (reader.field === 6) startingTransactionIndex = reader.count();
    else reader.skipField();
  }
  return {
    kind: 'entry',
    slot,
    index,
    numHashes,
    hash: required(hash, 'the hash of an entry'),
    executedTransactionCount,
    startingTransactionIndex,
  };
}
