import { type JsonValue, parseJson, writeJson } from '../../src/base/json.ts';
import { mintsToName, type TokenLabels } from '../../src/decoding/transaction/name-tokens.ts';
import { parsedTransaction, parseEffects } from '../../src/decoding/transaction/parse-transaction.ts';
import { programParsers } from '../../src/decoding/transaction/program-parsers.ts';
import { readExecutedTransaction } from '../../src/decoding/transaction/read-executed-transaction.ts';
import type { Address } from '../../src/solana/address.ts';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { nativeMint } from '../../src/solana/programs.ts';

export const from = 'nodes';
export const covers = [
  'decoding/transaction/flatten-instructions.ts',
  'decoding/transaction/parse-transaction.ts',
  'decoding/transaction/read-executed-transaction.ts',
];

/** Programs that are known, and a few keys that are none. */
const keys: readonly string[] = [
  ...programParsers.keys(),
  nativeMint,
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((fill) => encodeBase58(new Uint8Array(32).fill(fill))),
];
const SIGNATURE = encodeBase58(new Uint8Array(64).fill(9));

/** Bytes one after another; after the end there are zeros. */
class Bytes {
  readonly #input: Uint8Array;
  #at = 0;

  constructor(input: Uint8Array) {
    this.#input = input;
  }

  get left(): number {
    return this.#input.length - this.#at;
  }

  byte(): number {
    return this.#input[this.#at++] ?? 0;
  }

  take(length: number): Uint8Array {
    const part = this.#input.subarray(this.#at, this.#at + length);
    this.#at += length;
    return part;
  }

  key(): string {
    return keys[this.byte() % keys.length] as string;
  }
}

/** The height that a node might say: a sane one, none, or nonsense. */
function heightOf(bytes: Bytes): JsonValue {
  const byte = bytes.byte();
  return ([byte % 7, null, byte * 1e6, -byte, String(byte), 2] as const)[byte % 6] ?? null;
}

function instructionOf(bytes: Bytes): JsonValue {
  const stackHeight = heightOf(bytes);
  const program = bytes.byte();
  const accounts = Array.from({ length: bytes.byte() % 24 }, () => bytes.key());
  const data = encodeBase58(bytes.take(bytes.byte()));
  if (program % 4 !== 0) return { programId: keys[program % keys.length] ?? '', accounts, data, stackHeight };
  return { programIdIndex: program, accounts: accounts.map((_, at) => at * program), data, stackHeight };
}

const balanceOf = (bytes: Bytes): JsonValue => ({
  accountIndex: bytes.byte(),
  mint: bytes.key(),
  owner: bytes.byte() % 3 === 0 ? null : bytes.key(),
  programId: bytes.key(),
  uiTokenAmount: { amount: String(bytes.byte() ** 7), decimals: bytes.byte() * (bytes.byte() % 5) },
});

const listOf = (bytes: Bytes, most: number, make: (bytes: Bytes) => JsonValue): JsonValue[] =>
  Array.from({ length: bytes.byte() % most }, () => make(bytes));

/** A transaction in jsonParsed whose members the bytes choose. */
function transactionOf(input: Uint8Array): JsonValue {
  const bytes = new Bytes(input);
  const message = {
    accountKeys: keys.map((pubkey, at) => ({ pubkey, signer: at < 2 })),
    instructions: listOf(bytes, 8, instructionOf),
  };
  const innerInstructions: JsonValue[] = [];
  const [preTokenBalances, postTokenBalances] = [listOf(bytes, 6, balanceOf), listOf(bytes, 6, balanceOf)];
  while (bytes.left > 0) {
    innerInstructions.push({ index: bytes.byte() % 8, instructions: listOf(bytes, 32, instructionOf) });
  }
  const logMessages = innerInstructions.map(() => `Program data: ${Buffer.from(input).toString('base64')}`);
  return {
    ...{ slot: 5, blockTime: 1e9, transaction: { signatures: [SIGNATURE], message } },
    meta: { err: null, fee: 5000, innerInstructions, logMessages, preTokenBalances, postTokenBalances },
  };
}

/** Whatever a node tells is no transaction, or one that can be shown. */
function shown(result: JsonValue): boolean {
  const transaction = readExecutedTransaction(result);
  if (transaction === null) return false;
  const deeds = parseEffects(transaction);
  const words: TokenLabels = { name: 'a', symbol: 'b', image_uri: 'c' };
  const names = new Map([...mintsToName(deeds.actions)].map((mint): [Address, TokenLabels] => [mint, words]));
  const raw = result as { [name: string]: JsonValue };
  parseJson(writeJson(parsedTransaction(transaction, deeds, names, { events: true, raw })));
  return true;
}

const sane = transactionOf(Uint8Array.from({ length: 2000 }, (_, at) => (at * at + 31 * at) >> 3));

/** A transaction as text, and bytes that choose one. */
export const seeds: readonly Uint8Array[] = [
  Buffer.from(writeJson(sane)),
  ...[1, 3, 7, 11, 29].map((step) =>
    Uint8Array.from({ length: 400 * step }, (_, at) => (at * step * step) >> 2),
  ),
];

/** What a node tells of a transaction, as text or chosen by the bytes. */
export function fuzz(input: Uint8Array): boolean {
  let reported: JsonValue | undefined;
  try {
    reported = parseJson(Buffer.from(input).toString('utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return shown(reported === undefined ? transactionOf(input) : reported);
}
