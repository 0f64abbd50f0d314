import { type Address, addressFromBytes, parseAddress } from '../../solana/address.ts';
import { type Blockhash, parseBlockhash } from '../../solana/blockhash.ts';
import { SIGNATURE_BYTES, type Signature, signatureFromBytes } from '../../solana/signature.ts';
import { type Lamports, lamports, type Slot, slot } from '../../solana/units.ts';
import { InvalidProtobuf, type ProtobufReader } from './protobuf.ts';

/** Fields of Solana's own kinds, and what stands in a message for a field that is missing. */

/** A slot as u64. */
export const readSlot = (reader: ProtobufReader): Slot => slot(reader.uint64());

/** Lamports as u64. */
export const readLamports = (reader: ProtobufReader): Lamports => lamports(reader.uint64());

/** An address as 32 bytes. */
export const readAddress = (reader: ProtobufReader): Address => addressFromBytes(reader.fixedBytes(32));

/** An address as base58 text. @throws InvalidProtobuf for another. */
export function readAddressText(reader: ProtobufReader): Address {
  const parsed = parseAddress(reader.string());
  if ('fault' in parsed) throw new InvalidProtobuf('a text is no address');
  return parsed.address;
}

/** The same where nodes once wrote nothing. */
export function readAddressTextOrNull(reader: ProtobufReader): Address | null {
  const text = reader.string();
  if (text === '') return null;
  const parsed = parseAddress(text);
  if ('fault' in parsed) throw new InvalidProtobuf('a text is no address');
  return parsed.address;
}

/** A signature as 64 bytes. */
export const readSignature = (reader: ProtobufReader): Signature =>
  signatureFromBytes(reader.fixedBytes(SIGNATURE_BYTES));

/** A blockhash as base58 text. @throws InvalidProtobuf for another. */
export function readBlockhashText(reader: ProtobufReader): Blockhash {
  const parsed = parseBlockhash(reader.string());
  if ('fault' in parsed) throw new InvalidProtobuf('a text is no blockhash');
  return parsed.blockhash;
}

/** Reads a message of which only field 1 is known, such as `UnixTimestamp`. Its default is `absent`. */
export function readOnlyField<T>(reader: ProtobufReader, read: (reader: ProtobufReader) => T, absent: T): T {
  let value = absent;
  while (reader.next()) {
    if (reader.field === 1) value = read(reader);
    else reader.skipField();
  }
  return value;
}

/** Reads `UnixTimestamp`: seconds. */
export const readUnixTimestamp = (reader: ProtobufReader): bigint =>
  readOnlyField(reader.message(), (inner) => inner.int64(), 0n);

/** Reads `BlockHeight` or `NumPartitions`. */
export const readWrappedUint64 = (reader: ProtobufReader): bigint =>
  readOnlyField(reader.message(), (inner) => inner.uint64(), 0n);

/** What must be there. @throws InvalidProtobuf when it is not. */
export function required<T>(value: T | null, name: string): T {
  if (value === null) throw new InvalidProtobuf(`${name} is missing`);
  return value;
}
