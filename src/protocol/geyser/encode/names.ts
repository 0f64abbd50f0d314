import { ProtobufWriter } from '../protobuf-writer.ts';

/** Names of filters as they stand at the head of a `SubscribeUpdate` or `SubscribeUpdateDeshred`: field 1 of each. */
export function encodeNames(names: readonly string[]): Uint8Array {
  const writer = new ProtobufWriter();
  for (const name of names) writer.string(1, name);
  return writer.finish();
}
