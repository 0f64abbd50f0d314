import { type Address, addressFromBytes, parseAddress } from '../../solana/address.ts';
import { type Blockhash, parseBlockhash } from '../../solana/blockhash.ts';
import { SIGNATURE_BYTES, type Signature, signatureFromBytes } from '../../solana/signature.ts';
import { type Lamports, lamports, type Slot, slot } from '../../solana/units.ts';
import { InvalidProtobuf, type ProtobufReader } from './protobuf.ts';

export const readSlot = (reader: ProtobufReader): Slot => slot(reader.uint64());

export const readLamports = (reader: ProtobufReader): Lamports => lamports(reader.uint64());

export const readAddress = (reader: ProtobufReader): Address => addressFromBytes(reader.fixedBytes(32));

function addressOf(text: string): Address {
  const parsed = parseAddress(text);
  if ('fault' in parsed) throw new InvalidProtobuf('invalid address');
  return parsed.address;
}

export const readAddressText = (reader: ProtobufReader): Address => addressOf(reader.string());

/** Older nodes wrote an empty string for a missing address. */
export function readAddressTextOrNull(reader: ProtobufReader): Address | null {
  const text = reader.string();
  return text === '' ? null : addressOf(text);
}

export const readSignature = (reader: ProtobufReader): Signature =>
  signatureFromBytes(reader.fixedBytes(SIGNATURE_BYTES));

export function readBlockhashText(reader: ProtobufReader): Blockhash {
  const parsed = parseBlockhash(reader.string());
  if ('fault' in parsed) throw new InvalidProtobuf('invalid blockhash');
  return parsed.blockhash;
}

/** Reads a message with a single known field, such as `UnixTimestamp`. */
export function readSingleField<T>(
  reader: ProtobufReader,
  read: (reader: ProtobufReader) => T,
  absent: T,
): T {
  let value = absent;
  while (reader.next()) {
    if (reader.field === 1) value = read(reader);
    else reader.skipField();
  }
  return value;
}

/** Reads a `google.protobuf.Timestamp`. @returns Unix milliseconds. */
export function readTimestamp(reader: ProtobufReader): bigint {
  let [seconds, nanos] = [0n, 0];
  while (reader.next()) {
    if (reader.field === 1) seconds = reader.int64();
    else if (reader.field === 2) nanos = reader.int32();
    else reader.skipField();
  }
  return seconds * 1000n + BigInt(Math.trunc(nanos / 1_000_000));
}

/** Reads `BlockHeight` or `NumPartitions`. */
export const readWrappedUint64 = (reader: ProtobufReader): bigint =>
  readSingleField(reader.message(), (inner) => inner.uint64(), 0n);

export function required<T>(value: T | null, name: string): T {
  if (value === null) throw new InvalidProtobuf(`${name} is missing`);
  return value;
}
