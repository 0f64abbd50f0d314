import { type PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js';
import { type JsonValue, parseJson, writeJson } from '../../src/base/json.ts';
import { type Address, address } from '../../src/solana/address.ts';
import type { CompiledInstruction } from '../../src/solana/message/message.ts';
import { parseInstruction } from '../../src/solana/parsed/parse-instruction.ts';

export type Built = Readonly<{ programId: Address; instruction: CompiledInstruction; keys: Address[] }>;

/** Converts a client library instruction to message form. */
export function built({ programId, keys: metas, data }: TransactionInstruction): Built {
  const keys = metas.map(({ pubkey }) => address(pubkey.toBase58()));
  const instruction = { programIdIndex: keys.length, accounts: Uint8Array.from(keys.keys()), data };
  return {
    programId: address(programId.toBase58()),
    instruction,
    keys: [...keys, address(programId.toBase58())],
  };
}

/** Parsed JSON, or null. */
export function parsedJson(instruction: TransactionInstruction): JsonValue {
  const { programId, instruction: compiled, keys } = built(instruction);
  const parsed = parseInstruction(programId, compiled, keys);
  return parsed === null ? null : ((parseJson(writeJson(parsed)) as { parsed: JsonValue }).parsed ?? null);
}

export function withoutAccounts(instruction: TransactionInstruction, count: number): TransactionInstruction {
  return {
    ...instruction,
    keys: instruction.keys.slice(0, instruction.keys.length - count),
  } as TransactionInstruction;
}

export function withData(instruction: TransactionInstruction, data: Uint8Array): TransactionInstruction {
  return { ...instruction, data: Buffer.from(data) } as TransactionInstruction;
}

export function only(transaction: Transaction | TransactionInstruction, index = 0): TransactionInstruction {
  if (!(transaction instanceof Transaction)) return transaction;
  const instruction = transaction.instructions[index];
  if (instruction === undefined) throw new Error(`no instruction ${index}`);
  return instruction;
}

export const text = (key: PublicKey): string => key.toBase58();
