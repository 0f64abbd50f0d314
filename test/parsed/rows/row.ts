import { createHash } from 'node:crypto';
import { ByteWriter } from '../../../src/base/bytes.ts';
import { type JsonValue, parseJson, writeJson } from '../../../src/base/json.ts';
import { type Address, addressBytes, addressFromBytes } from '../../../src/solana/address.ts';
import { parseAccountData } from '../../../src/solana/parsed/parse-account.ts';
import { parseInstruction } from '../../../src/solana/parsed/parse-instruction.ts';
import { stakeConfig, sysvars } from '../../../src/solana/programs.ts';
import { lamports } from '../../../src/solana/units.ts';

/** Instruction bytes in the layout of the Rust crates with the parsed result. */
export type Row = Readonly<{
  type: string;
  data: Uint8Array;
  accounts: readonly Address[];
  info?: JsonValue;
  minimum: number;
}>;

export type Rows = Readonly<{ program: string; programId: Address; rows: readonly Row[] }>;

export const k = (n: number): Address => addressFromBytes(new Uint8Array(32).fill(n));

export const keys = (count: number): Address[] => Array.from({ length: count }, (_, at) => k(at + 1));

export const fill = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);

const named: Readonly<Record<string, Address>> = { ...sysvars, stakeConfig };

/** `@1` is `k(1)`, `$rent` a sysvar. */
const addressOf = (text: string): Address =>
  text.startsWith('@') ? k(Number(text.slice(1))) : (named[text.slice(1)] as Address);

function writeToken(writer: ByteWriter, token: string): ByteWriter {
  const [, prefix, text] = /^(\d*)'(.*)'$/s.exec(token) ?? [];
  if (text !== undefined) {
    const bytes = Buffer.from(text);
    if (prefix === '64') writer.u64(BigInt(bytes.length));
    else if (prefix === '32') writer.u32(bytes.length);
    return writer.bytes(bytes);
  }
  const [head = '', tail = ''] = token.split(/[:*]/);
  if (/^[@$]/.test(token)) return writer.bytes(addressBytes(addressOf(token)));
  if (token.includes('*')) return writer.bytes(fill(Number(head), Number(tail)));
  if (/^(metadata|group):/.test(token)) {
    const hash = createHash('sha256').update(`spl_token_${head}_interface:${tail}`).digest();
    return writer.bytes(hash.subarray(0, 8));
  }
  if (tail === 'f64') return writer.f64(Number(head));
  if (tail === '64') return writer.u64(BigInt.asUintN(64, BigInt(head)));
  if (tail === '32') return writer.u32(Number(head));
  return tail === '16' ? writer.u16(Number(head)) : writer.u8(Number(head));
}

/**
 * Bytes of tokens: `7` is a u8, `7:64` a u64, `@8` the key `k(8)`, `$rent` a sysvar, `32*5` 32 bytes of 5,
 * `64'text'` a string with a u64 length, `metadata:name` a discriminator.
 */
export const bytesOf = (data: string): Uint8Array =>
  (data.match(/\d*'[^']*'|\S+/g) ?? []).reduce(writeToken, new ByteWriter()).finish();

/** The same notation as JSON values; `#32*5` is an array of numbers, `ui(42,2)` a token amount. */
const jsonOf = (text: string): JsonValue =>
  parseJson(
    text
      .replace(/ui\((\d+),(\d+)\)/g, (_, amount, decimals) => {
        const uiAmount = Number(amount) / 10 ** decimals;
        const shown = { amount, decimals: Number(decimals), uiAmount, uiAmountString: String(uiAmount) };
        return JSON.stringify(shown);
      })
      .replace(/#(\d+)\*(\d+)/g, (_, length, value) => JSON.stringify([...fill(length, value)]))
      .replace(/\b(\d+)\*(\d+)/g, (_, length, value) =>
        JSON.stringify(Buffer.from(fill(length, value)).toString('base64')),
      )
      .replace(/[@$]\w+/g, (name) => JSON.stringify(addressOf(name)))
      .replace(/([{,])(\w+):/g, '$1"$2":'),
  );

/** Members written as `name=value`. */
export const membersOf = (text: string): { [name: string]: JsonValue } =>
  Object.fromEntries(
    Array.from(text.matchAll(/(\w+)=((?:"[^"]*"|[^\s"])+)/g), ([, name, value]) => [
      name,
      jsonOf(value ?? ''),
    ]),
  );

/** Rows of columns divided by `|`; each row ends with `;`. */
export const table = (text: string): string[][] =>
  text
    .split(';')
    .filter((row) => row.trim() !== '')
    .map((row) =>
      row.split('|').map((column) =>
        column
          .trim()
          .replaceAll(/(?<=[,{[])\s+/g, '')
          .replaceAll(/\s+/g, ' '),
      ),
    );

/**
 * Rows of type, data, accounts (a number of keys from `@1`, or the keys) and members. `/3` after the
 * accounts is their minimum; otherwise all are required.
 */
export const rowsOf = (program: string, programId: Address, text: string): Rows => ({
  program,
  programId,
  rows: table(text).map(([type = '', data = '', given = '', info = '']): Row => {
    const [list = '', minimum] = given.split('/');
    const names = list.trim().split(' ');
    const accounts = /^\d+$/.test(list.trim()) ? keys(Number(list)) : names.map(addressOf);
    return {
      ...{ type, data: bytesOf(data), accounts, minimum: Number(minimum ?? accounts.length) },
      ...(info !== '' && { info: membersOf(info) }),
    };
  }),
});

export function parsed(programId: Address, accounts: readonly Address[], data: Uint8Array): JsonValue {
  const instruction = { programIdIndex: 0, accounts: Uint8Array.from(accounts.keys()), data };
  const found = parseInstruction(programId, instruction, accounts);
  return found === null ? null : parseJson(writeJson(found));
}

/** Account of any owner in parsed JSON, or null. Mints have two decimals. */
export function shownAccount(owner: Address, data: Uint8Array, at: Address = k(99)): JsonValue {
  const account = { lamports: lamports(1), data, owner, executable: false, rentEpoch: 0n };
  return parseJson(writeJson(parseAccountData(at, account, { mint: () => ({ decimals: 2 }) })));
}
