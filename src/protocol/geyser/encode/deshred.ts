import type { Slot } from '../../../solana/units.ts';
import { ProtobufWriter } from '../protobuf-writer.ts';
import type { RawSlot } from '../raw-update.ts';
import { writeSlot } from './raw-slot.ts';

const NOTHING: Uint8Array = new Uint8Array();
const CREATED_AT = 5;

/** Reused by synchronous calls. */
const writer = new ProtobufWriter();

/** Transaction before execution. Source: geyser.proto, `SubscribeUpdateDeshredTransactionInfo`. */
export type DeshredTransactionFields = Readonly<{
  slot: Slot;
  createdAt: Uint8Array;
  signature: Uint8Array;
  isVote: boolean;
  /** `solana.storage.ConfirmedBlock.Transaction`, encoded. */
  transaction: Uint8Array;
  loadedWritable: readonly Uint8Array[];
  loadedReadonly: readonly Uint8Array[];
  firstShredIndex: number;
  endShredIndex: number;
}>;

/** Without `filters`. */
export function deshredTransactionTail(fields: DeshredTransactionFields): Uint8Array {
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
  return writer.bytes(CREATED_AT, fields.createdAt).take();
}

export function deshredSlotTail(slot: RawSlot): Uint8Array {
  writer.clear();
  writer.bytes(CREATED_AT, slot.createdAt);
  writeSlot(writer, 6, slot);
  return writer.take();
}

export const deshredPingTail = (createdAt: Uint8Array): Uint8Array =>
  new ProtobufWriter(32).bytes(3, NOTHING).bytes(CREATED_AT, createdAt).finish();

export function deshredPongTail(id: number, createdAt: Uint8Array): Uint8Array {
  const pong = new ProtobufWriter(48);
  const start = pong.open(4);
  if (id !== 0) pong.int32(1, id);
  pong.close(start);
  return pong.bytes(CREATED_AT, createdAt).finish();
}
