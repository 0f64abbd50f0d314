import { ByteWriter } from '../../../src/base/bytes.ts';
import { eventTables } from '../../../src/decoding/transaction/events/event-tables.ts';
import {
  type EventLayout,
  eventDiscriminator,
  type Fields,
  type FieldType,
} from '../../../src/decoding/transaction/events/layout.ts';
import { type Address, addressBytes } from '../../../src/solana/address.ts';

type Members = Readonly<Record<string, unknown>>;

const words = { u64: 1, i64: 1, u128: 2, i128: 2 } as const;

function writePlain(writer: ByteWriter, type: Extract<FieldType, string>, value: unknown): void {
  if (type === 'u8') writer.u8(value as number);
  else if (type === 'u16') writer.u16(value as number);
  else if (type === 'u32' || type === 'i32') writer.u32((value as number) >>> 0);
  else if (type === 'bool') writer.bool(value as boolean);
  else if (type === 'pubkey') writer.bytes(addressBytes(value as Address));
  else if (type === 'string') {
    const bytes = Buffer.from(value as string);
    writer.u32(bytes.length).bytes(bytes);
  } else {
    let rest = BigInt.asUintN(128, BigInt(value as bigint));
    for (let word = 0; word < words[type]; word++, rest >>= 64n) writer.u64(BigInt.asUintN(64, rest));
  }
}

function writeValue(writer: ByteWriter, type: FieldType, value: unknown): void {
  if (typeof type === 'string') writePlain(writer, type, value);
  else if ('struct' in type) writeMembers(writer, type.struct, value as Members);
  else if ('array' in type) for (const item of value as unknown[]) writeValue(writer, type.array, item);
  else {
    const items = value as Members[];
    writer.u32(items.length);
    for (const item of items) writeMembers(writer, type.list, item);
  }
}

function writeMembers(writer: ByteWriter, fields: Fields, members: Members): void {
  for (const [name, type] of fields) writeValue(writer, type, members[name]);
}

/** Encodes members up to the first missing one. */
export function encodeLayout({ fields, later }: EventLayout, members: Members): Uint8Array {
  const writer = new ByteWriter();
  writeMembers(writer, fields, members);
  for (const [name, type] of later) {
    if (members[name] === undefined) break;
    writeValue(writer, type, members[name]);
  }
  return writer.finish();
}

export function encodeEvent(program: string, name: string, members: Members): Uint8Array {
  const discriminator = eventDiscriminator(name);
  const layout = eventTables.get(program as Address)?.get(discriminator);
  if (layout === undefined) throw new TypeError(`${program} has no ${name}`);
  return Buffer.concat([Buffer.from(discriminator, 'hex'), encodeLayout(layout, members)]);
}
