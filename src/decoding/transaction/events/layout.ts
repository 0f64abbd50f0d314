import { createHash } from 'node:crypto';
import type { ByteReader } from '../../../base/bytes.ts';
import type { WritableJson } from '../../../base/json.ts';
import { pubkey, readOrNull, u128 } from '../../../solana/codec.ts';
import { readBool } from '../../../solana/parsed/bincode.ts';
import { readList, readString } from '../../borsh.ts';

export type FieldType =
  | ('u8' | 'u16' | 'u32' | 'i32' | 'u64' | 'i64' | 'u128' | 'i128' | 'bool' | 'pubkey' | 'string')
  | Readonly<{ list: Fields }>
  | Readonly<{ array: FieldType; length: number }>
  | Readonly<{ struct: Fields }>;

export type Fields = readonly (readonly [name: string, type: FieldType])[];

/** `later` lists members added in newer program versions; an event may end before any of them. */
export type EventLayout = Readonly<{ name: string; fields: Fields; later: Fields }>;

const plainReaders: Readonly<Record<Extract<FieldType, string>, (reader: ByteReader) => WritableJson>> = {
  u8: (reader) => reader.u8(),
  u16: (reader) => reader.u16(),
  u32: (reader) => reader.u32(),
  i32: (reader) => reader.u32() | 0,
  u64: (reader) => reader.u64(),
  i64: (reader) => reader.i64(),
  u128: u128.read,
  i128: (reader) => BigInt.asIntN(128, u128.read(reader)),
  bool: readBool,
  pubkey: pubkey.read,
  string: readString,
};

const TOKEN = /[\w*]+|[()[\],|]/g;

function typeNamed(word: string | undefined): FieldType {
  const [name = '', length] = word?.split('*') ?? [];
  if (!(name in plainReaders)) throw new TypeError(`Unknown type in an event layout: ${word}`);
  const type = name as Extract<FieldType, string>;
  return length === undefined ? type : { array: type, length: Number(length) };
}

/** Consumes tokens up to and including the closing bracket or bar, or up to the end. */
function parseFields(tokens: string[]): Fields {
  const fields: [string, FieldType][] = [];
  let words: string[] = [];
  const add = (type: FieldType): void => {
    for (const name of words) fields.push([name, type]);
    words = [];
  };
  for (;;) {
    const token = tokens.shift() ?? '';
    if (token === '(') add({ struct: parseFields(tokens) });
    else if (token === '[') add({ list: parseFields(tokens) });
    else if (/^\w/.test(token)) words.push(token);
    else {
      if (words.length > 0) add(typeNamed(words.pop()));
      if (token !== ',') return fields;
    }
  }
}

/**
 * Parses layouts written as `Name: field field type, field type | later field type;`. Consecutive fields share the type
 * that follows. A type is a primitive, an array (`u64*3`), a struct in `( )` or a list of structs in `[ ]`.
 */
export const parseLayouts = (text: string): EventLayout[] =>
  text
    .split(';')
    .filter((layout) => layout.trim() !== '')
    .map((layout) => {
      const [name = '', fields = ''] = layout.split(':');
      const tokens = fields.match(TOKEN) ?? [];
      return { name: name.trim(), fields: parseFields(tokens), later: parseFields(tokens) };
    });

function readMembers(reader: ByteReader, fields: Fields): Record<string, WritableJson> {
  return Object.fromEntries(fields.map(([name, type]) => [name, readValue(reader, type)]));
}

function readValue(reader: ByteReader, type: FieldType): WritableJson {
  if (typeof type === 'string') return plainReaders[type](reader);
  if ('list' in type) return readList(reader, () => readMembers(reader, type.list));
  if ('struct' in type) return readMembers(reader, type.struct);
  return Array.from({ length: type.length }, () => readValue(reader, type.array));
}

/**
 * Decodes event members in layout order. Extra bytes, from newer program versions, are ignored.
 * @param bytes - event data without the discriminator.
 */
export function readLayout(bytes: Uint8Array, layout: EventLayout): Record<string, WritableJson> | null {
  return readOrNull(bytes, (reader) => {
    const data = readMembers(reader, layout.fields);
    for (const [name, type] of layout.later) {
      if (reader.remaining === 0) break;
      data[name] = readValue(reader, type);
    }
    return data;
  });
}

export const DISCRIMINATOR_BYTES = 8;

const discriminator = (preimage: string): string =>
  createHash('sha256').update(preimage).digest().subarray(0, DISCRIMINATOR_BYTES).toString('hex');

export const eventDiscriminator = (name: string): string => discriminator(`event:${name}`);

export const instructionDiscriminator = (name: string): string => discriminator(`global:${name}`);

/** Prefix of an `emit_cpi!` instruction, in hex. Source: anchor-lang, `EVENT_IX_TAG_LE`. */
export const EVENT_CALL = 'e445a52e51cb9a1d';

export const leadingHex = (data: Uint8Array, bytes: number = DISCRIMINATOR_BYTES): string =>
  Buffer.from(data.buffer, data.byteOffset, Math.min(bytes, data.length)).toString('hex');

/**
 * Parses rows such as `swap 2 0, 9 1 -`. A row has an instruction (Anchor name or one-byte tag) and account positions.
 * @returns positions keyed by the leading instruction bytes in hex; null for `-`.
 */
export const parsePositions = (rows: string): [key: string, positions: (number | null)[]][] =>
  (rows.match(/[^,]*\w[^,]*/g) ?? []).map((row) => {
    const [name = '', ...positions] = row.trim().split(/\s+/);
    const key = /^\d+$/.test(name) ? Buffer.of(Number(name)).toString('hex') : instructionDiscriminator(name);
    return [key, positions.map((position) => (position === '-' ? null : Number(position)))];
  });
