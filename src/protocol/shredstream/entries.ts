import { type Slot, slot as slotOf } from '../../solana/units.ts';
import { NO_BYTES, ProtobufReader } from '../geyser/protobuf.ts';
import { ProtobufWriter } from '../geyser/protobuf-writer.ts';

/** Source: jito-labs/mev-protos, shredstream.proto, `Entry`. */
export type EntryMessage = Readonly<{
  slot: Slot;
  /** Bincode-encoded `Vec<Entry>`. */
  entries: Uint8Array;
}>;

const HEAD_BYTES = 24;

export const encodeEntryMessage = (slot: Slot, entries: Uint8Array): Uint8Array =>
  new ProtobufWriter(entries.length + HEAD_BYTES).nonzeroUint64(1, slot).nonemptyBytes(2, entries).finish();

/** `entries` is a view into `bytes`. @throws InvalidProtobuf */
export function decodeEntryMessage(bytes: Uint8Array): EntryMessage {
  let slot = slotOf(0);
  let entries = NO_BYTES;
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    if (reader.field === 1) slot = slotOf(reader.uint64());
    else if (reader.field === 2) entries = reader.bytes();
    else reader.skipField();
  }
  return { slot, entries };
}
