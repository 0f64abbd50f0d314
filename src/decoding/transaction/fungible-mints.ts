import type { Address } from '../../solana/address.ts';
import type { ExecutedTransaction } from './executed-transaction.ts';

const mintsByTransaction = new WeakMap<ExecutedTransaction, ReadonlySet<Address>>();

/** Mints of which an account of the transaction held more than one, before or after. */
function heldInNumbers(transaction: ExecutedTransaction): ReadonlySet<Address> {
  const cached = mintsByTransaction.get(transaction);
  if (cached !== undefined) return cached;
  const mints = new Set<Address>();
  for (const { mint, before, after } of transaction.tokenAccounts.values()) {
    if (before > 1n || after > 1n) mints.add(mint);
  }
  mintsByTransaction.set(transaction, mints);
  return mints;
}

/**
 * Whether an amount of a mint is an NFT, as far as its transaction tells: one of something without decimals, of which
 * nobody in it has more than one. Source: rest-api.md §3.2, point 3.
 * @param amount - base units.
 */
export const isNftAmount = (transaction: ExecutedTransaction, mint: Address, amount: bigint): boolean =>
  amount === 1n && transaction.decimals.get(mint) === 0 && !heldInNumbers(transaction).has(mint);
