import { ByteWriter } from '../../../src/base/bytes.ts';
import { type JsonValue, parseJson, writeJson } from '../../../src/base/json.ts';
import { type Address, addressBytes, addressFromBytes } from '../../../src/solana/address.ts';
import { parseInstruction } from '../../../src/solana/parsed/parse-instruction.ts';

/**
 * Instruction bytes in the layout of the Rust crates with the parsed result. Accounts are numbered keys from
 * `k(1)`.
 */
export type Row = Readonly<{
  type: string;
  data: Uint8Array;
  accounts: readonly Address[];
  info?: Readonly<Record<string, unknown>>;
  /** Minimum number of accounts. */
  minimum: number;
}>;

export type Rows = Readonly<{ program: string; programId: Address; rows: readonly Row[] }>;

export const k = (n: number): Address => addressFromBytes(new Uint8Array(32).fill(n));

export const keys = (count: number): Address[] => Array.from({ length: count }, (_, at) => k(at + 1));

/** bincode variant. */
export const u32 = (variant: number): ByteWriter => new ByteWriter().u32(variant);

export const bytes = (...values: number[]): ByteWriter => new ByteWriter().bytes(Uint8Array.from(values));

/** bincode string. */
export const text = (value: string): Uint8Array =>
  new ByteWriter()
    .u64(BigInt(Buffer.byteLength(value)))
    .bytes(Buffer.from(value))
    .finish();

/** Borsh string. */
export const shortText = (value: string): Uint8Array =>
  new ByteWriter().u32(Buffer.byteLength(value)).bytes(Buffer.from(value)).finish();

export const key = (n: number): Uint8Array => addressBytes(k(n));

export const fill = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);

export const base64 = (length: number, value: number): string =>
  Buffer.from(fill(length, value)).toString('base64');

/** @param accounts - number of keys, or the keys. All are required unless `minimum` is smaller. */
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

/** Parsed JSON, or null. */
export function parsed(programId: Address, accounts: readonly Address[], data: Uint8Array): JsonValue {
  const instruction = { programIdIndex: 0, accounts: Uint8Array.from(accounts.keys()), data };
  const found = parseInstruction(programId, instruction, accounts);
  return found === null ? null : parseJson(writeJson(found));
}
