import { decodeTransaction } from '../../src/solana/transaction/decode-transaction.ts';
import type { Transaction } from '../../src/solana/transaction/transaction.ts';

/** @throws Error with the fault */
export function decoded(wire: Uint8Array): Transaction {
  const result = decodeTransaction(wire);
  if ('fault' in result) throw new Error(result.fault);
  return result.transaction;
}

export const faultIn = (wire: Uint8Array): string | undefined => {
  const result = decodeTransaction(wire);
  return 'fault' in result ? result.fault : undefined;
};
