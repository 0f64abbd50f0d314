import { ByteReader } from '../../base/bytes.ts';
import { faultOf, type Message, readMessage, TRAILING_BYTES, VERSION_PREFIX } from '../message/message.ts';
import { SIGNATURE_BYTES, type Signature, signatureFromBytes } from '../signature.ts';
import type { Transaction } from './transaction.ts';
import { VERSION_1_PREFIX } from './wire-transaction.ts';

/** Legacy and version 0. Source: solana-packet, `PACKET_DATA_SIZE` (one IPv6 packet). */
export const TRANSACTION_MAX_BYTES = 1232;
/** Source: SIMD-0385. */
export const VERSION_1_MAX_BYTES = 4096;

type Parts = Readonly<{ signatures: Signature[]; message: Message; messageBytes: Uint8Array }>;

function readMessagePart(reader: ByteReader, wire: Uint8Array): Omit<Parts, 'signatures'> {
  const start = reader.offset;
  const message = readMessage(reader);
  return { message, messageBytes: wire.subarray(start, reader.offset) };
}

/** Reads all at once, so that an error names the total size. */
function readSignatures(reader: ByteReader, length: number): Signature[] {
  const bytes = new ByteReader(reader.bytes(length * SIGNATURE_BYTES));
  return Array.from({ length }, () => signatureFromBytes(bytes.bytes(SIGNATURE_BYTES)));
}

/** The signatures follow the message, which gives their count. */
function readVersion1(reader: ByteReader, wire: Uint8Array): Parts {
  const part = readMessagePart(reader, wire);
  return { ...part, signatures: readSignatures(reader, part.message.header.numRequiredSignatures) };
}

function readLegacyOrV0(reader: ByteReader, wire: Uint8Array): Parts {
  const signatures = readSignatures(reader, reader.u8());
  return { signatures, ...readMessagePart(reader, wire) };
}

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
  const isVersion1 = first === VERSION_1_PREFIX;
  if (first >= VERSION_PREFIX && !isVersion1) {
    return { fault: 'Custom error: invalid transaction discriminator' };
  }
  const maxBytes = isVersion1 ? VERSION_1_MAX_BYTES : TRANSACTION_MAX_BYTES;
  if (wire.length > maxBytes) {
    return { fault: `transaction too large: ${wire.length} bytes (max: ${maxBytes})` };
  }
  return faultOf(() => {
    const reader = new ByteReader(wire);
    const read = isVersion1 ? readVersion1 : readLegacyOrV0;
    const { signatures, message, messageBytes } = read(reader, wire);
    if (!isVersion1 && message.version === 1) return { fault: 'Custom error: invalid message version' };
    const end = reader.offset;
    if (end < wire.length && tail === 'rejected') return { fault: TRAILING_BYTES };
    return { transaction: { signatures, message, messageBytes, wire: wire.subarray(0, end) } };
  });
}
