import { ProtobufWriter } from '../protobuf-writer.ts';

const NANOS_PER_MS = 1_000_000;

/**
 * Writes `google.protobuf.Timestamp`.
 * @param unixMs - Unix milliseconds; before 1970 the seconds are negative and the nanoseconds count up from them.
 */
export function encodeTimestamp(unixMs: bigint): Uint8Array {
  const ms = ((unixMs % 1000n) + 1000n) % 1000n;
  const writer = new ProtobufWriter(16);
  writer.uint64OrNone(1, (unixMs - ms) / 1000n);
  writer.uint32OrNone(2, Number(ms) * NANOS_PER_MS);
  return writer.finish();
}
