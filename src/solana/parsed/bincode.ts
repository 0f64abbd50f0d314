import type { ByteReader } from '../../base/bytes.ts';
import { OutOfBytes } from '../../base/bytes.ts';
import { type Address, addressFromBytes } from '../address.ts';
import { type Blockhash, blockhashFromBytes } from '../blockhash.ts';

/** Bytes that are long enough but are not what they should be. Never leaves this folder. */
export class Undecodable extends Error {
  override readonly name = 'Undecodable';
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * What `read` gives, or null when the bytes are too short or not what they should be.
 * Every other error is a defect and passes through.
 */
export function decodedOrNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof OutOfBytes || error instanceof Undecodable) return null;
    throw error;
  }
}

/** The UTF-8 text of bytes; @throws Undecodable when they are not UTF-8. */
export function utf8(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw new Undecodable('not UTF-8');
  }
}

export const readAddress = (data: ByteReader): Address => addressFromBytes(data.bytes(32));

export const readHash = (data: ByteReader): Blockhash => blockhashFromBytes(data.bytes(32));

/** A u64 length. One that a number rounds is longer than any bytes, and runs out of them either way. */
const readLength = (data: ByteReader): number => Number(data.u64());

/** A string with a u64 length before it. */
export const readText = (data: ByteReader): string => utf8(data.bytes(readLength(data)));

/** Bytes with a u64 length before them, as base64. */
export const readBase64 = (data: ByteReader): string =>
  Buffer.from(data.bytes(readLength(data))).toString('base64');

/** Elements with a u64 count before them. */
export function readList<T>(data: ByteReader, read: () => T): T[] {
  const length = readLength(data);
  const list: T[] = [];
  while (list.length < length) list.push(read());
  return list;
}

/** A byte that says whether a value follows. */
export function readOption<T>(data: ByteReader, read: () => T): T | null {
  const tag = data.u8();
  if (tag > 1) throw new Undecodable('option tag');
  return tag === 1 ? read() : null;
}

export function readBool(data: ByteReader): boolean {
  const value = data.u8();
  if (value > 1) throw new Undecodable('boolean');
  return value === 1;
}

/** A unit variant with a u32 discriminant, by its name. */
export function readName(data: ByteReader, names: readonly string[]): string {
  const name = names[data.u32()];
  if (name === undefined) throw new Undecodable('unknown variant');
  return name;
}

/** A u64 in groups of seven bits, lowest first. Source: solana-serde-varint. */
export function readVarint(data: ByteReader): bigint {
  let value = 0n;
  for (let shift = 0n; shift < 64n; shift += 7n) {
    const byte = data.u8();
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (value > 0xffff_ffff_ffff_ffffn || (byte === 0 && shift > 0n)) break;
      return value;
    }
  }
  throw new Undecodable('varint');
}

/** A u16 count in groups of seven bits. Source: solana-short-vec. */
export function readCompactLength(data: ByteReader): number {
  const length = readVarint(data);
  if (length > 0xffffn) throw new Undecodable('compact length');
  return Number(length);
}
