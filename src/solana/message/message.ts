import { ByteReader, ByteWriter, OutOfBytes } from '../../base/bytes.ts';
import { ADDRESS_BYTES, type Address, addressBytes, addressFromBytes } from '../address.ts';
import { type Blockhash, blockhashBytes, blockhashFromBytes } from '../blockhash.ts';
import { InvalidShortVec, readShortVec, writeShortVec } from '../short-vec.ts';

/** Each count is a u8. Source: solana-message, `MessageHeader`. */
export type MessageHeader = Readonly<{
  numRequiredSignatures: number;
  numReadonlySignedAccounts: number;
  numReadonlyUnsignedAccounts: number;
}>;

/** Indexes refer to the static keys followed by the loaded addresses. */
export type CompiledInstruction = Readonly<{
  programIdIndex: number;
  accounts: Uint8Array;
  data: Uint8Array;
}>;

type AddressTableLookup = Readonly<{
  accountKey: Address;
  writableIndexes: Uint8Array;
  readonlyIndexes: Uint8Array;
}>;

export type MessageVersion = 'legacy' | 0;

/** Source: solana-message, `legacy::Message` and `v0::Message`. */
export type Message = Readonly<{
  version: MessageVersion;
  header: MessageHeader;
  /** Static keys, signers first. */
  accountKeys: readonly Address[];
  recentBlockhash: Blockhash;
  instructions: readonly CompiledInstruction[];
  /** Empty for legacy messages. */
  addressTableLookups: readonly AddressTableLookup[];
}>;

export type LoadedAddresses = Readonly<{
  writable: readonly Address[];
  readonly: readonly Address[];
}>;

/** Inverse of `decodeMessage`. @throws RangeError for lists with more than 65,535 items. */
export function encodeMessage(message: Message): Uint8Array {
  const writer = new ByteWriter(1232);
  if (message.version !== 'legacy') writer.u8(VERSION_PREFIX | message.version);
  writer
    .u8(message.header.numRequiredSignatures)
    .u8(message.header.numReadonlySignedAccounts)
    .u8(message.header.numReadonlyUnsignedAccounts);
  writeShortVec(writer, message.accountKeys.length);
  for (const key of message.accountKeys) writer.bytes(addressBytes(key));
  writer.bytes(blockhashBytes(message.recentBlockhash));
  writeShortVec(writer, message.instructions.length);
  for (const instruction of message.instructions) {
    writer.u8(instruction.programIdIndex);
    writeBytes(writer, instruction.accounts);
    writeBytes(writer, instruction.data);
  }
  if (message.version !== 'legacy') {
    writeShortVec(writer, message.addressTableLookups.length);
    for (const lookup of message.addressTableLookups) {
      writer.bytes(addressBytes(lookup.accountKey));
      writeBytes(writer, lookup.writableIndexes);
      writeBytes(writer, lookup.readonlyIndexes);
    }
  }
  return writer.finish();
}

function writeBytes(writer: ByteWriter, bytes: Uint8Array): void {
  writeShortVec(writer, bytes.length);
  writer.bytes(bytes);
}

/** Bit that is set in the first byte of versioned messages. */
export const VERSION_PREFIX = 0x80;

/** The error message is the text that Agave writes after "failed to deserialize …: ". */
class InvalidMessage extends Error {
  override readonly name = 'InvalidMessage';
}

/**
 * Accepts only the canonical encoding and, by default, no trailing bytes. Results are views of `bytes`. Counts and
 * indexes are checked by `sanitizeTransaction`. Source: solana-message, `VersionedMessage`.
 */
export function decodeMessage(
  bytes: Uint8Array,
  tail: 'rejected' | 'ignored' = 'rejected',
): { message: Message } | { fault: string } {
  return faultOf(() => {
    const reader = new ByteReader(bytes);
    const message = readMessage(reader);
    if (reader.remaining > 0 && tail === 'rejected') return { fault: TRAILING_BYTES };
    return { message };
  });
}

/** Error text from wincode. */
export const TRAILING_BYTES = 'Trailing bytes remain after deserialization';

export const unknownVersion = (version: number): string => `Invalid tag encoding: ${version}`;

/** Returns input errors as values instead of throwing them. */
export function faultOf<T>(decode: () => T): T | { fault: string } {
  try {
    return decode();
  } catch (error) {
    if (error instanceof OutOfBytes) return { fault: `Attempting to read ${error.requested} bytes` };
    if (error instanceof InvalidShortVec || error instanceof InvalidMessage) return { fault: error.message };
    throw error;
  }
}

/** @throws OutOfBytes, InvalidShortVec or InvalidMessage, which `faultOf` catches. */
export function readMessage(reader: ByteReader): Message {
  const first = reader.u8();
  const version: MessageVersion = (first & VERSION_PREFIX) === 0 ? 'legacy' : versionOf(first);
  const header = readHeader(reader, version === 'legacy' ? first : null);
  // Reads all keys at once, so that an error names the total size.
  const length = readShortVec(reader);
  const bytes = new ByteReader(reader.bytes(length * ADDRESS_BYTES));
  const accountKeys = Array.from({ length }, () => readAddress(bytes));
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

function readHeader(reader: ByteReader, first: number | null): Message['header'] {
  const bytes = new ByteReader(reader.bytes(first === null ? 3 : 2));
  return {
    numRequiredSignatures: first ?? bytes.u8(),
    numReadonlySignedAccounts: bytes.u8(),
    numReadonlyUnsignedAccounts: bytes.u8(),
  };
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
