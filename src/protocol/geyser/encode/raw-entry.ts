import { blockhashBytes } from '../../../solana/blockhash.ts';
import { ProtobufWriter } from '../protobuf-writer.ts';
import type { RawEntry } from '../raw-update.ts';
import type { EntryUpdate } from '../update/entry.ts';

/** Used again by each call: none of them can be interrupted. */
const writer = new ProtobufWriter();

/** An entry as bytes. @param createdAt - encoded timestamp. */
export function rawEntry(entry: EntryUpdate, createdAt: Uint8Array): RawEntry {
  writer.clear();
  const opened = writer.open(8);
  writer.uint64OrNone(1, entry.slot);
  writer.uint32OrNone(2, entry.index);
  writer.uint64OrNone(3, entry.numHashes);
  writer.bytes(4, blockhashBytes(entry.hash));
  writer.uint32OrNone(5, entry.executedTransactionCount);
  writer.uint32OrNone(6, entry.startingTransactionIndex);
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
