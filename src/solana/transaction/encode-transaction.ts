import { ByteWriter } from '../../base/bytes.ts';
import { writeShortVec } from '../short-vec.ts';
import { SIGNATURE_BYTES } from '../signature.ts';
import { VERSION_1_PREFIX } from './wire-transaction.ts';

const SHORT_VEC_MAX_BYTES = 3;

/**
 * Serializes a transaction. The signatures follow a version 1 message and precede others.
 * @throws RangeError if a signature is not 64 bytes.
 */
export function encodeTransaction(signatures: readonly Uint8Array[], messageBytes: Uint8Array): Uint8Array {
  const writer = new ByteWriter(
    SHORT_VEC_MAX_BYTES + signatures.length * SIGNATURE_BYTES + messageBytes.length,
  );
  const isVersion1 = messageBytes[0] === VERSION_1_PREFIX;
  if (isVersion1) writer.bytes(messageBytes);
  else writeShortVec(writer, signatures.length);
  for (const signature of signatures) {
    if (signature.length !== SIGNATURE_BYTES)
      throw new RangeError(`signature must be 64 bytes, got ${signature.length}`);
    writer.bytes(signature);
  }
  return (isVersion1 ? writer : writer.bytes(messageBytes)).finish();
}
