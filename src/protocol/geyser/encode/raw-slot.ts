import { ProtobufWriter } from '../protobuf-writer.ts';
import type { RawSlot } from '../raw-update.ts';
import { type SlotUpdate, slotStatuses } from '../update/slot.ts';

/** Used again by each call: none of them can be interrupted. */
const writer = new ProtobufWriter();

/** Writes a field that is `SubscribeUpdateSlot`. */
export function writeSlot(
  to: ProtobufWriter,
  field: number,
  { slot, parent, status, deadError }: Omit<SlotUpdate, 'kind'>,
): void {
  const start = to.open(field);
  to.uint64OrNone(1, slot);
  if (parent !== null) to.uint64(2, parent);
  to.uint32OrNone(3, slotStatuses.indexOf(status));
  if (deadError !== null) to.string(4, deadError);
  to.close(start);
}

/** What became of a slot, as bytes. @param createdAt - encoded timestamp. */
export function rawSlot(update: SlotUpdate, createdAt: Uint8Array): RawSlot {
  writer.clear();
  writeSlot(writer, 3, update);
  return { ...update, createdAt, tail: writer.bytes(11, createdAt).take() };
}
