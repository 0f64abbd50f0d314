import { invalidParams } from '../../protocol/rpc-error.ts';
import { resolveLookups } from '../../solana/address-lookup-table.ts';
import type { LoadedAddresses, Message } from '../../solana/message/message.ts';
import { computeBudgetOf } from '../../solana/transaction/compute-budget.ts';
import { displayTransactionError } from '../../solana/transaction/display-error.ts';
import { sanitizeTransaction } from '../../solana/transaction/sanitize-transaction.ts';
import type { Transaction } from '../../solana/transaction/transaction.ts';
import type { TransactionError } from '../../solana/transaction/transaction-error.ts';
import type { Bank } from '../node.ts';

/** A compute budget request made twice; Agave reads these requests before anything else of a transaction. */
function repeatedBudgetRequest(message: Message): TransactionError | null {
  const budget = computeBudgetOf(message);
  if (!('fault' in budget)) return null;
  return typeof budget.fault === 'object' && 'DuplicateInstruction' in budget.fault ? budget.fault : null;
}

/**
 * Makes sure that a transaction makes sense in itself and that its lookup tables are there.
 * @returns what it loads from them.
 * @throws RpcError -32602 "invalid transaction: …". Source: Agave rpc/src/rpc.rs, `sanitize_transaction`.
 */
export function requireSanitized(transaction: Transaction, bank: Bank): LoadedAddresses {
  const fault = sanitizeTransaction(transaction);
  if (fault !== null) throw invalidParams(`invalid transaction: ${fault}`);
  const repeated = repeatedBudgetRequest(transaction.message);
  if (repeated !== null) throw invalidParams(`invalid transaction: ${displayTransactionError(repeated)}`);
  const resolved = resolveLookups(transaction.message, (address) => bank.account(address), bank.slot);
  if ('fault' in resolved) {
    throw invalidParams(`invalid transaction: ${displayTransactionError(resolved.fault)}`);
  }
  return resolved.loaded;
}
