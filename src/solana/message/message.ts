import { ByteReader, ByteWriter, OutOfBytes } from '../../base/bytes.ts';
import { ADDRESS_BYTES, type Address, addressBytes, addressFromBytes } from '../address.ts';
import { type Blockhash, blockhashBytes, blockhashFromBytes } from '../blockhash.ts';
import { InvalidShortVec, readShortVec, writeShortVec } from '../short-vec.ts';
import {
  configMaskOf,
  isConfigMaskValid,
  readConfigValues,
  type TransactionConfig,
  writeConfigValues,
} from './transaction-config.ts';

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

export type MessageVersion = 'legacy' | 0 | 1;

/** Source: solana-message, `legacy::Message`, `v0::Message` and `v1::Message`. */
export type Message = Readonly<{
  version: MessageVersion;
  header: MessageHeader;
  /** Static keys, signers first. */
  accountKeys: readonly Address[];
  recentBlockhash: Blockhash;
  instructions: readonly CompiledInstruction[];
  /** Version 0 only; else empty. */
  addressTableLookups: readonly AddressTableLookup[];
  /** Version 1 only. */
  config?: TransactionConfig;
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
  if (message.version === 1) {
    writeVersion1(writer, message, message.config ?? NO_CONFIG);
    return writer.finish();
  }
  writeShortVec(writer, message.accountKeys.length);
  for (const key of message.accountKeys) writer.bytes(addressBytes(key));
  writer.bytes(blockhashBytes(message.recentBlockhash));
  writeShortVec(writer, message.instructions.length);
  for (const instruction of message.instructions) {
    writer.u8(instruction.programIdIndex);
    writeBytes(writer, instruction.accounts);
    writeBytes(writer, instruction.data);
  }
  if (message.version === 0) {
    writeShortVec(writer, message.addressTableLookups.length);
    for (const lookup of message.addressTableLookups) {
      writer.bytes(addressBytes(lookup.accountKey));
      writeBytes(writer, lookup.writableIndexes);
      writeBytes(writer, lookup.readonlyIndexes);
    }
  }
  return writer.finish();
}

const NO_CONFIG: TransactionConfig = {
  priorityFee: null,
  computeUnitLimit: null,
  loadedAccountsDataSizeLimit: null,
  heapSize: null,
};

/** All counts are bytes, lengths of data u16. Source: SIMD-0385. */
function writeVersion1(writer: ByteWriter, message: Message, config: TransactionConfig): void {
  const { accountKeys, instructions } = message;
  writer.u32(configMaskOf(config)).bytes(blockhashBytes(message.recentBlockhash));
  writer.u8(instructions.length).u8(accountKeys.length);
  for (const key of accountKeys) writer.bytes(addressBytes(key));
  writeConfigValues(writer, config);
  for (const { programIdIndex, accounts, data } of instructions)
    writer.u8(programIdIndex).u8(accounts.length).u16(data.length);
  for (const { accounts, data } of instructions) writer.bytes(accounts).bytes(data);
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
  if (version === 1) return readVersion1(reader);
  const header = readHeader(reader, version === 'legacy' ? first : null);
  const accountKeys = readKeys(reader, readShortVec(reader));
  const recentBlockhash = blockhashFromBytes(reader.bytes(32));
  const instructions = readList(reader, readInstruction);
  const addressTableLookups = version === 'legacy' ? [] : readList(reader, readLookup);
  return { version, header, accountKeys, recentBlockhash, instructions, addressTableLookups };
}

function versionOf(prefix: number): 0 | 1 {
  const version = prefix & ~VERSION_PREFIX;
  if (version !== 0 && version !== 1) throw new InvalidMessage(unknownVersion(version));
  return version;
}

/** Header, configuration mask, blockhash and counts. */
const VERSION_1_FIXED_BYTES = 41;
const INSTRUCTION_HEADER_BYTES = 4;

/** Reads in the pieces in which Agave does, whose sizes its errors name. */
function readVersion1(reader: ByteReader): Message {
  const fixed = new ByteReader(reader.bytes(VERSION_1_FIXED_BYTES));
  const header = readHeader(fixed, null);
  const mask = fixed.u32();
  const recentBlockhash = blockhashFromBytes(fixed.bytes(32));
  const instructionCount = fixed.u8();
  const keyCount = fixed.u8();
  if (!isConfigMaskValid(mask)) throw new InvalidMessage('Invalid value: invalid transaction config mask');
  const accountKeys = readKeys(reader, keyCount);
  const config = readConfigValues(reader, mask);
  const headers = new ByteReader(reader.bytes(instructionCount * INSTRUCTION_HEADER_BYTES));
  const instructions = Array.from({ length: instructionCount }, () => {
    const programIdIndex = headers.u8();
    const accounts = reader.bytes(headers.u8());
    return { programIdIndex, accounts, data: reader.bytes(headers.u16()) };
  });
  return { version: 1, header, accountKeys, recentBlockhash, instructions, addressTableLookups: [], config };
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

/** Reads all keys at once, so that an error names the total size. */
function readKeys(reader: ByteReader, length: number): Address[] {
  const bytes = new ByteReader(reader.bytes(length * ADDRESS_BYTES));
  return Array.from({ length }, () => readAddress(bytes));
}

const readAddress = (reader: ByteReader): Address => addressFromBytes(reader.bytes(ADDRESS_BYTES));

const readBytes = (reader: ByteReader): Uint8Array => reader.bytes(readShortVec(reader));

export function readInstruction(reader: ByteReader): CompiledInstruction {
  return { programIdIndex: reader.u8(), accounts: readBytes(reader), data: readBytes(reader) };
}

function readLookup(reader: ByteReader): AddressTableLookup {
  return {
    accountKey: readAddress(reader),
    writableIndexes: readBytes(reader),
    readonlyIndexes: readBytes(reader),
  };
}
