import { ProtobufWriter } from '../protobuf-writer.ts';

const NOTHING: Uint8Array = new Uint8Array();

/** A `SubscribeUpdate` that is a ping. */
export const pingTail = (createdAt: Uint8Array): Uint8Array =>
  new ProtobufWriter(32).bytes(6, NOTHING).bytes(11, createdAt).finish();

/** A `SubscribeUpdate` that answers a ping. @param id - of the ping, i32. */
export function pongTail(id: number, createdAt: Uint8Array): Uint8Array {
  const writer = new ProtobufWriter(48);
  const start = writer.open(9);
  if (id !== 0) writer.int32(1, id);
  writer.close(start);
  return writer.bytes(11, createdAt).finish();
}
