import { ByteWriter } from '../../../src/base/bytes.ts';
import { type JsonValue, parseJson, writeJson } from '../../../src/base/json.ts';
import { type Address, addressBytes, addressFromBytes } from '../../../src/solana/address.ts';
import { parseInstruction } from '../../../src/solana/parsed/parse-instruction.ts';

/**
 * Every instruction that nodes parse, a row each: its bytes by the layout of the Rust crates, and what is said of
 * it. Accounts are keys by number, the first of an instruction being `k(1)`.
 */
export type Row = Readonly<{
  type: string;
  data: Uint8Array;
  accounts: readonly Address[];
  info?: Readonly<Record<string, unknown>>;
  /** With fewer accounts it is not parsed. */
  minimum: number;
}>;

export type Rows = Readonly<{ program: string; programId: Address; rows: readonly Row[] }>;

/** A key by a small number. */
export const k = (n: number): Address => addressFromBytes(new Uint8Array(32).fill(n));

/** The first `count` keys. */
export const keys = (count: number): Address[] => Array.from({ length: count }, (_, at) => k(at + 1));

/** Bytes that begin with a u32, as bincode writes a variant. */
export const u32 = (variant: number): ByteWriter => new ByteWriter().u32(variant);

/** Bytes that begin with these. */
export const bytes = (...values: number[]): ByteWriter => new ByteWriter().bytes(Uint8Array.from(values));

/** A string with a u64 length, as bincode writes it. */
export const text = (value: string): Uint8Array =>
  new ByteWriter()
    .u64(BigInt(Buffer.byteLength(value)))
    .bytes(Buffer.from(value))
    .finish();

/** A string with a u32 length, as borsh writes it. */
export const shortText = (value: string): Uint8Array =>
  new ByteWriter().u32(Buffer.byteLength(value)).bytes(Buffer.from(value)).finish();

/** The 32 bytes of a key by number. */
export const key = (n: number): Uint8Array => addressBytes(k(n));

/** `length` bytes, all `value`. */
export const fill = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);

/** The same in base64. */
export const base64 = (length: number, value: number): string =>
  Buffer.from(fill(length, value)).toString('base64');

/** A row; `accounts` are the first so many keys, or the keys themselves. All are needed unless `minimum` says less. */
export function row(
  type: string,
  data: ByteWriter,
  accounts: number | readonly Address[],
  info?: Row['info'],
  minimum?: number,
): Row {
  const given = typeof accounts === 'number' ? keys(accounts) : accounts;
  return {
    type,
    data: data.finish(),
    accounts: given,
    ...(info && { info }),
    minimum: minimum ?? given.length,
  };
}

/** What a client reads of an instruction, or null when it is not parsed. */
export function parsed(programId: Address, accounts: readonly Address[], data: Uint8Array): JsonValue {
  const instruction = { programIdIndex: 0, accounts: Uint8Array.from(accounts.keys()), data };
  const found = parseInstruction(programId, instruction, accounts);
  return found === null ? null : parseJson(writeJson(found));
}
