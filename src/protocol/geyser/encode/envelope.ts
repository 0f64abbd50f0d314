import { NO_BYTES } from '../protobuf.ts';
import { ProtobufWriter } from '../protobuf-writer.ts';

/** Field 1 of `SubscribeUpdate` and `SubscribeUpdateDeshred`: the filter names. */
export function encodeNames(names: readonly string[]): Uint8Array {
  const writer = new ProtobufWriter();
  for (const name of names) writer.string(1, name);
  return writer.finish();
}

export const pingTailOf =
  (pingField: number, createdAtField: number) =>
  (createdAt: Uint8Array): Uint8Array =>
    new ProtobufWriter(32).bytes(pingField, NO_BYTES).bytes(createdAtField, createdAt).finish();

/** The id is an i32 copied from the client's ping. */
export const pongTailOf =
  (pongField: number, createdAtField: number) =>
  (id: number, createdAt: Uint8Array): Uint8Array => {
    const writer = new ProtobufWriter(48);
    const start = writer.open(pongField);
    if (id !== 0) writer.int32(1, id);
    writer.close(start);
    return writer.bytes(createdAtField, createdAt).finish();
  };

export const pingTail = pingTailOf(6, 11);

export const pongTail = pongTailOf(9, 11);

const NANOS_PER_MS = 1_000_000;

/** Encodes a `google.protobuf.Timestamp`, whose nanoseconds are never negative. */
export function encodeTimestamp(unixMs: bigint): Uint8Array {
  const ms = ((unixMs % 1000n) + 1000n) % 1000n;
  const writer = new ProtobufWriter(16);
  writer.nonzeroUint64(1, (unixMs - ms) / 1000n);
  writer.nonzeroUint32(2, Number(ms) * NANOS_PER_MS);
  return writer.finish();
}
