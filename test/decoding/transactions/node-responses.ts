import type { JsonValue } from '../../../src/base/json.ts';
import type { ExecutedTransaction } from '../../../src/decoding/transaction/executed-transaction.ts';
import { readExecutedTransaction } from '../../../src/decoding/transaction/read-executed-transaction.ts';
import type { Address } from '../../../src/solana/address.ts';
import { encodeBase58 } from '../../../src/solana/base58.ts';
import { programs } from '../../../src/solana/programs.ts';

/** Hand-written node responses. */

export const key = (fill: number): Address => encodeBase58(new Uint8Array(32).fill(fill)) as Address;
export const [PAYER, SOURCE, DESTINATION, MINT, OTHER] = [1, 2, 3, 4, 5].map(key) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
export const SIGNATURE = encodeBase58(new Uint8Array(64).fill(9));

export type Members = { [name: string]: JsonValue };

export const signed = (instructions: JsonValue[], more: Members = {}, keys: JsonValue[] = []): Members => ({
  signatures: [SIGNATURE],
  message: {
    accountKeys: [PAYER, SOURCE, DESTINATION, MINT, programs.token, programs.system, ...keys],
    header: { numRequiredSignatures: 1 },
    instructions,
    ...more,
  },
});

export const transactionResult = (
  instructions: JsonValue[],
  meta: Members = {},
  keys: JsonValue[] = [],
): Members => ({
  slot: 7,
  blockTime: 1_700_000_000,
  transaction: signed(instructions, {}, keys),
  meta: { err: null, fee: 5000, ...meta },
});

export function readOrFail(result: JsonValue): ExecutedTransaction {
  const transaction = readExecutedTransaction(result);
  if (transaction === null) throw new Error('no transaction');
  return transaction;
}

export const calls = (programId: JsonValue, stackHeight: JsonValue = null): Members => ({
  programId,
  accounts: [],
  data: '',
  stackHeight,
});

export const inner = (index: number, ...instructions: JsonValue[]): Members => ({ index, instructions });

export const order = ({ instructions }: ExecutedTransaction) =>
  instructions.map(({ index, height, caller }) => [index, height, caller]);

export const balance = (
  accountIndex: JsonValue,
  amount: JsonValue,
  decimals: JsonValue,
  owner?: Address,
): Members => ({
  accountIndex,
  mint: MINT,
  ...(owner && { owner }),
  programId: programs.token,
  uiTokenAmount: { amount, decimals },
});
