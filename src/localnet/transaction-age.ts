import { decodeNonce, durableNonceOf, type NonceUse, nonceOfTransaction } from '../ledger/nonce.ts';
import { programs } from '../ledger/programs.ts';
import type { Transaction } from '../ledger/transaction/transaction.ts';
import { BLOCKHASH_AGE_MAX, type RecentBlocks } from './recent-blocks.ts';
import type { StateView } from './vm.ts';

/** What makes a transaction young enough to run: a recent blockhash (null) or a durable nonce. */
export type Age = Readonly<{ nonce: NonceUse | null }>;

/**
 * Whether a transaction may still run on a state, and by what right.
 * Source: agave runtime, `check_transaction_age`.
 * @param newestSlot - newest block that the state has hashed.
 * @returns null for BlockhashNotFound.
 */
export function ageOfTransaction(
  { message }: Transaction,
  newestSlot: number,
  recentBlocks: RecentBlocks,
  view: StateView,
): Age | null {
  const age = recentBlocks.ageOf(message.recentBlockhash, newestSlot);
  if (age !== null && age <= BLOCKHASH_AGE_MAX) return { nonce: null };
  const nonce = nonceOfTransaction(message);
  if (nonce === null || message.recentBlockhash === durableNonceOf(view.lastBlockhash)) return null;
  const account = view.account(nonce.account);
  const state = account?.owner === programs.system ? decodeNonce(account.data) : null;
  if (state?.version !== 'current' || state.data === null) return null;
  const { durableNonce, authority } = state.data;
  return durableNonce === message.recentBlockhash && nonce.signers.includes(authority) ? { nonce } : null;
}
