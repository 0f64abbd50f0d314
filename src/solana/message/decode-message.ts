import { ByteReader, OutOfBytes } from '../../base/bytes.ts';
import { type Address, addressFromBytes } from '../address.ts';
import { blockhashFromBytes } from '../blockhash.ts';
import { InvalidShortVec, readShortVec } from '../short-vec.ts';
import type { AddressTableLookup, CompiledInstruction, Message, MessageVersion } from './message.ts';

/** The first byte of a versioned message has this bit; legacy messages never do. */
export const VERSION_PREFIX = 0x80;
const ADDRESS_BYTES = 32;

/** The bytes are no message; the text is what Agave prints after "failed to deserialize …: ". */
class InvalidMessage extends Error {
  override readonly name = 'InvalidMessage';
}

/**
 * Decodes a whole legacy or version 0 message, strictly: one encoding per message, nothing after its end unless
 * that is asked for. The views in the result point into `bytes`. Counts and indexes are not judged here: see
 * `sanitizeTransaction`. Source: solana-message, `VersionedMessage`.
 * @returns the message, or in `fault` why the bytes are none.
 */
export function decodeMessage(
  bytes: Uint8Array,
  tail: 'refused' | 'ignored' = 'refused',
): { message: Message } | { fault: string } {
  return faultOf(() => {
    const reader = new ByteReader(bytes);
    const message = readMessage(reader);
    if (reader.remaining > 0 && tail === 'refused') return { fault: TRAILING_BYTES };
    return { message };
  });
}

/** wincode's words for input that goes on after the value. */
export const TRAILING_BYTES = 'Trailing bytes remain after deserialization';

/** wincode's words for a message version that is not supported. */
export const unknownVersion = (version: number): string => `Invalid tag encoding: ${version}`;

/** Runs a decoder and gives the faults that bytes from outside can cause as values. */
export function faultOf<T>(decode: () => T): T | { fault: string } {
  try {
    return decode();
  } catch (error) {
    if (error instanceof OutOfBytes) return { fault: `Attempting to read ${error.requested} bytes` };
    if (error instanceof InvalidShortVec || error instanceof InvalidMessage) return { fault: error.message };
    throw error;
  }
}

/**
 * Reads one message.
 * @throws OutOfBytes, InvalidShortVec, InvalidMessage: to be caught by `faultOf`.
 */
export function readMessage(reader: ByteReader): Message {
  const first = reader.u8();
  const version: MessageVersion = (first & VERSION_PREFIX) === 0 ? 'legacy' : versionOf(first);
  const header = readHeader(reader, version === 'legacy' ? first : null);
  const accountKeys = readAddresses(reader);
  const recentBlockhash = blockhashFromBytes(reader.bytes(32));
  const instructions = readList(reader, readInstruction);
  const addressTableLookups = version === 'legacy' ? [] : readList(reader, readLookup);
  return { version, header, accountKeys, recentBlockhash, instructions, addressTableLookups };
}

function versionOf(prefix: number): 0 {
  const version = prefix & ~VERSION_PREFIX;
  if (version !== 0) throw new InvalidMessage(unknownVersion(version));
  return version;
}

/** @param first - of a legacy message the first of the three bytes, which has been read already. */
function readHeader(reader: ByteReader, first: number | null): Message['header'] {
  const bytes = new ByteReader(reader.bytes(first === null ? 3 : 2));
  return {
    numRequiredSignatures: first ?? bytes.u8(),
    numReadonlySignedAccounts: bytes.u8(),
    numReadonlyUnsignedAccounts: bytes.u8(),
  };
}

/** Values of one size are read at once, so that a fault names the size of all of them. */
function readAddresses(reader: ByteReader): Address[] {
  const length = readShortVec(reader);
  const bytes = new ByteReader(reader.bytes(length * ADDRESS_BYTES));
  return Array.from({ length }, () => readAddress(bytes));
}

function readList<T>(reader: ByteReader, readItem: (reader: ByteReader) => T): T[] {
  const length = readShortVec(reader);
  const items: T[] = [];
  for (let i = 0; i < length; i++) items.push(readItem(reader));
  return items;
}

const readAddress = (reader: ByteReader): Address => addressFromBytes(reader.bytes(ADDRESS_BYTES));

const readBytes = (reader: ByteReader): Uint8Array => reader.bytes(readShortVec(reader));

function readInstruction(reader: ByteReader): CompiledInstruction {
  return { programIdIndex: reader.u8(), accounts: readBytes(reader), data: readBytes(reader) };
}

function readLookup(reader: ByteReader): AddressTableLookup {
  return {
    accountKey: readAddress(reader),
    writableIndexes: readBytes(reader),
    readonlyIndexes: readBytes(reader),
  };
}
