import { ProtobufWriter } from '../protobuf-writer.ts';
import type { RawSlot } from '../raw-update.ts';
import type { DeshredTransactionUpdate } from '../read-deshred-update.ts';
import { pingTailOf, pongTailOf } from './envelope.ts';
import { writeSlot } from './raw-slot.ts';

const CREATED_AT = 5;

/** Shared by all calls. This is safe because they are synchronous. */
const writer = new ProtobufWriter();

/** Encodes a transaction update of `Subscribe` without `filters` or meta. @param index - position within the slot. */
export function shredTransactionTail(
  fields: Pick<DeshredTransactionUpdate, 'slot' | 'signature' | 'isVote' | 'transaction'>,
  createdAt: Uint8Array,
  index: number,
): Uint8Array {
  const expected = fields.transaction.length;
  writer.clear();
  const update = writer.open(4, expected);
  const info = writer.open(1, expected);
  writer.bytes(1, fields.signature).trueBool(2, fields.isVote).bytes(3, fields.transaction);
  writer.nonzeroUint32(5, index);
  writer.close(info);
  writer.nonzeroUint64(2, fields.slot);
  writer.close(update);
  return writer.bytes(11, createdAt).take();
}

/** Encodes a transaction update of `SubscribeDeshred` without `filters`. */
export function deshredTransactionTail(
  fields: Omit<DeshredTransactionUpdate, 'kind' | 'keys'>,
  createdAt: Uint8Array,
): Uint8Array {
  const expected = fields.transaction.length + 128;
  writer.clear();
  const update = writer.open(2, expected);
  const info = writer.open(1, expected);
  writer.bytes(1, fields.signature).trueBool(2, fields.isVote).bytes(3, fields.transaction);
  for (const key of fields.loadedWritable) writer.bytes(4, key);
  for (const key of fields.loadedReadonly) writer.bytes(5, key);
  writer.nonzeroUint32(6, fields.firstShredIndex).nonzeroUint32(7, fields.endShredIndex);
  writer.close(info);
  writer.nonzeroUint64(2, fields.slot);
  writer.close(update);
  return writer.bytes(CREATED_AT, createdAt).take();
}

export function deshredSlotTail(slot: RawSlot): Uint8Array {
  writer.clear();
  writer.bytes(CREATED_AT, slot.createdAt);
  writeSlot(writer, 6, slot);
  return writer.take();
}

export const deshredPingTail = pingTailOf(3, CREATED_AT);

export const deshredPongTail = pongTailOf(4, CREATED_AT);
