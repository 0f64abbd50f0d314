import { ByteReader } from '../../base/bytes.ts';
import { faultOf, readMessage, TRAILING_BYTES, unknownVersion, VERSION_PREFIX } from '../message/message.ts';
import { SIGNATURE_BYTES, signatureFromBytes } from '../signature.ts';
import type { Transaction } from './transaction.ts';
import { VERSION_1_PREFIX } from './wire-transaction.ts';

/** Source: solana-packet, `PACKET_DATA_SIZE` (one IPv6 packet). */
export const TRANSACTION_MAX_BYTES = 1232;

/**
 * Accepts only the canonical encoding and, by default, no trailing bytes. `sanitizeTransaction` checks counts and
 * indexes. Source: solana-transaction, `VersionedTransaction`.
 * @returns views of `wire`, or `fault`: the text that Agave writes after "failed to deserialize …: ".
 */
export function decodeTransaction(
  wire: Uint8Array,
  tail: 'rejected' | 'ignored' = 'rejected',
): { transaction: Transaction } | { fault: string } {
  const [first = 0] = wire;
  if (first === VERSION_1_PREFIX) return { fault: unknownVersion(1) };
  if (first >= VERSION_PREFIX) return { fault: 'Custom error: invalid transaction discriminator' };
  if (wire.length > TRANSACTION_MAX_BYTES) {
    return { fault: `transaction too large: ${wire.length} bytes (max: ${TRANSACTION_MAX_BYTES})` };
  }
  return faultOf(() => {
    const reader = new ByteReader(wire);
    const count = reader.u8();
    const bytes = new ByteReader(reader.bytes(count * SIGNATURE_BYTES));
    const signatures = Array.from({ length: count }, () => signatureFromBytes(bytes.bytes(SIGNATURE_BYTES)));
    const start = reader.offset;
    const message = readMessage(reader);
    const end = reader.offset;
    if (end < wire.length && tail === 'rejected') return { fault: TRAILING_BYTES };
    const messageBytes = wire.subarray(start, end);
    return { transaction: { signatures, message, messageBytes, wire: wire.subarray(0, end) } };
  });
}
