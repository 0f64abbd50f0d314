import { ByteReader } from '../../base/bytes.ts';
import { faultOf, readMessage, TRAILING_BYTES, unknownVersion } from '../message/decode-message.ts';
import { readShortVec } from '../short-vec.ts';
import { type Signature, signatureFromBytes } from '../signature.ts';
import type { Transaction } from './transaction.ts';

/** Largest legacy or version 0 transaction on the wire: one IPv6 packet. Source: solana-packet, `PACKET_DATA_SIZE`. */
export const TRANSACTION_MAX_BYTES = 1232;

const VERSION_1_PREFIX = 0x81;

/**
 * Decodes a whole legacy or version 0 transaction, strictly: one encoding per transaction, nothing after its
 * end unless that is asked for. The result keeps views into `wire`, so the caller must not change it afterwards.
 * Counts and indexes are not judged here: see `sanitizeTransaction`. Source: solana-transaction,
 * `VersionedTransaction`.
 * @param tail - what becomes of bytes after the end; ignored, they are no part of the result.
 * @returns the transaction, or in `fault` what Agave prints after "failed to deserialize …: ".
 */
export function decodeTransaction(
  wire: Uint8Array,
  tail: 'refused' | 'ignored' = 'refused',
): { transaction: Transaction } | { fault: string } {
  if (wire.length > TRANSACTION_MAX_BYTES) {
    return { fault: `transaction too large: ${wire.length} bytes (max: ${TRANSACTION_MAX_BYTES})` };
  }
  // Version 1 puts its message, and so this byte, first; as a signature count it could never fit.
  if (wire[0] === VERSION_1_PREFIX) return { fault: unknownVersion(1) };
  return faultOf(() => {
    const reader = new ByteReader(wire);
    const count = readShortVec(reader);
    const signatures: Signature[] = [];
    for (let i = 0; i < count; i++) signatures.push(signatureFromBytes(reader.bytes(64)));
    const start = reader.offset;
    const message = readMessage(reader);
    const end = reader.offset;
    if (end < wire.length && tail === 'refused') return { fault: TRAILING_BYTES };
    const messageBytes = wire.subarray(start, end);
    return { transaction: { signatures, message, messageBytes, wire: wire.subarray(0, end) } };
  });
}
