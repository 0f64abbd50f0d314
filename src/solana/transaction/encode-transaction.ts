import { ByteWriter } from '../../base/bytes.ts';
import { writeShortVec } from '../short-vec.ts';
import { SIGNATURE_BYTES } from '../signature.ts';

/** @throws RangeError for a signature size other than 64. */
export function encodeTransaction(signatures: readonly Uint8Array[], messageBytes: Uint8Array): Uint8Array {
  const writer = new ByteWriter(3 + signatures.length * SIGNATURE_BYTES + messageBytes.length);
  writeShortVec(writer, signatures.length);
  for (const signature of signatures) {
    if (signature.length !== SIGNATURE_BYTES)
      throw new RangeError(`a signature must have 64 bytes, not ${signature.length}`);
    writer.bytes(signature);
  }
  return writer.bytes(messageBytes).finish();
}
