import { type ByteReader, OutOfBytes } from '../../base/bytes.ts';
import { type Address, addressFromBytes } from '../address.ts';
import { type Blockhash, blockhashFromBytes } from '../blockhash.ts';

/** Never leaves this folder. */
export class Undecodable extends Error {
  override readonly name = 'Undecodable';
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** null for truncated or invalid bytes; other errors pass through. */
export function decodedOrNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof OutOfBytes || error instanceof Undecodable) return null;
    throw error;
  }
}

/** @throws Undecodable unless UTF-8. */
export function utf8(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw new Undecodable('not UTF-8');
  }
}

export const readAddress = (data: ByteReader): Address => addressFromBytes(data.bytes(32));

export const readHash = (data: ByteReader): Blockhash => blockhashFromBytes(data.bytes(32));

/** u64; a length that a number rounds exceeds any data. */
const readLength = (data: ByteReader): number => Number(data.u64());

/** u64 length. */
export const readText = (data: ByteReader): string => utf8(data.bytes(readLength(data)));

/** u64 length, shown as base64. */
export const readBase64 = (data: ByteReader): string =>
  Buffer.from(data.bytes(readLength(data))).toString('base64');

/** u64 count. */
export function readList<T>(data: ByteReader, read: () => T): T[] {
  const length = readLength(data);
  const list: T[] = [];
  while (list.length < length) list.push(read());
  return list;
}

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

/** Unit variant with a u32 discriminant. */
export function readName(data: ByteReader, names: readonly string[]): string {
  const name = names[data.u32()];
  if (name === undefined) throw new Undecodable('unknown variant');
  return name;
}

/** u64 in groups of seven bits. Source: solana-serde-varint. */
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

/** u16 in groups of seven bits. Source: solana-short-vec. */
export function readCompactLength(data: ByteReader): number {
  const length = readVarint(data);
  if (length > 0xffffn) throw new Undecodable('compact length');
  return Number(length);
}
