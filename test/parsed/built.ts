import { type PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js';
import { type JsonValue, parseJson, writeJson } from '../../src/base/json.ts';
import { type Address, address } from '../../src/solana/address.ts';
import type { CompiledInstruction } from '../../src/solana/message/message.ts';
import { parseInstruction } from '../../src/solana/parsed/parse-instruction.ts';

/** An instruction of a message, with the message's keys. */
export type Built = Readonly<{ programId: Address; instruction: CompiledInstruction; keys: Address[] }>;

/** Gives an instruction of a client library the form that it has in a message. */
export function built({ programId, keys: metas, data }: TransactionInstruction): Built {
  const keys = metas.map(({ pubkey }) => address(pubkey.toBase58()));
  const instruction = { programIdIndex: keys.length, accounts: Uint8Array.from(keys.keys()), data };
  return {
    programId: address(programId.toBase58()),
    instruction,
    keys: [...keys, address(programId.toBase58())],
  };
}

/** What a client would read of an instruction's parsed form, or null when it is not parsed. */
export function parsedJson(instruction: TransactionInstruction): JsonValue {
  const { programId, instruction: compiled, keys } = built(instruction);
  const parsed = parseInstruction(programId, compiled, keys);
  return parsed === null ? null : ((parseJson(writeJson(parsed)) as { parsed: JsonValue }).parsed ?? null);
}

/** The instruction without its last `count` accounts. */
export function withoutAccounts(instruction: TransactionInstruction, count: number): TransactionInstruction {
  return {
    ...instruction,
    keys: instruction.keys.slice(0, instruction.keys.length - count),
  } as TransactionInstruction;
}

/** The instruction with other data. */
export function withData(instruction: TransactionInstruction, data: Uint8Array): TransactionInstruction {
  return { ...instruction, data: Buffer.from(data) } as TransactionInstruction;
}

/** The one instruction that a builder put into a transaction, or the one at `index`. */
export function only(transaction: Transaction | TransactionInstruction, index = 0): TransactionInstruction {
  if (!(transaction instanceof Transaction)) return transaction;
  const instruction = transaction.instructions[index];
  if (instruction === undefined) throw new Error(`no instruction ${index}`);
  return instruction;
}

/** A key by a small number, the same in every run. */
export const text = (key: PublicKey): string => key.toBase58();
