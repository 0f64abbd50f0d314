import type { ExecutedTransaction } from './executed-transaction.ts';

/** Caches the result of `read` as long as the transaction object exists. */
export function oncePerTransaction<T extends object>(
  read: (transaction: ExecutedTransaction) => T,
): (transaction: ExecutedTransaction) => T {
  const results = new WeakMap<ExecutedTransaction, T>();
  return (transaction) => {
    const result = results.get(transaction) ?? read(transaction);
    results.set(transaction, result);
    return result;
  };
}
