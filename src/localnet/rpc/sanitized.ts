import { resolveLookups } from '../../ledger/address-lookup-table.ts';
import type { LoadedAddresses, Message } from '../../ledger/message/message.ts';
import { computeBudgetOf } from '../../ledger/transaction/compute-budget.ts';
import { displayTransactionError } from '../../ledger/transaction/display-error.ts';
import { sanitizeTransaction } from '../../ledger/transaction/sanitize-transaction.ts';
import type { Transaction } from '../../ledger/transaction/transaction.ts';
import type { TransactionError } from '../../ledger/transaction/transaction-error.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
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
