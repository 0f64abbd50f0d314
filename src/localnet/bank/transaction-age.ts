import { durableNonceOf, matchingNonce, type NonceUse, nonceOfTransaction } from '../../solana/nonce.ts';
import type { Transaction } from '../../solana/transaction/transaction.ts';
import { BLOCKHASH_AGE_MAX, type RecentBlocks } from '../history/recent-blocks.ts';
import type { StateView } from './vm.ts';

/** What makes a transaction young enough to run: a recent blockhash (null) or a durable nonce. */
export type Age = Readonly<{ nonce: NonceUse | null }>;

/**
 * Whether a transaction may still run on a state, and by what right.
 * Source: agave runtime, `check_transaction_age`.
 * @param newestSlot - newest block that the state has hashed.
 * @param ageMax - most blocks that may have been made after the blockhash.
 * @returns null for BlockhashNotFound.
 */
export function ageOfTransaction(
  { message }: Transaction,
  newestSlot: number,
  recentBlocks: RecentBlocks,
  view: StateView,
  ageMax: number = BLOCKHASH_AGE_MAX,
): Age | null {
  const age = recentBlocks.ageOf(message.recentBlockhash, newestSlot);
  if (age !== null && age <= ageMax) return { nonce: null };
  const nonce = nonceOfTransaction(message);
  if (nonce === null || message.recentBlockhash === durableNonceOf(view.lastBlockhash)) return null;
  const data = matchingNonce(view.account(nonce.account), message.recentBlockhash);
  return data !== null && nonce.signers.includes(data.authority) ? { nonce } : null;
}

/**
 * The last tip on which a transaction may run: the end of its blockhash, or for one on a durable nonce as long
 * again. Source: agave rpc/src/rpc.rs, `send_transaction`.
 */
export function lastTipFor({ message }: Transaction, tip: number, recentBlocks: RecentBlocks): number {
  const age = recentBlocks.ageOf(message.recentBlockhash, tip);
  const used = age === null || age > BLOCKHASH_AGE_MAX ? 0 : age;
  return tip + BLOCKHASH_AGE_MAX - used;
}
