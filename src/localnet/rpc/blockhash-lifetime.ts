import type { Blockhash } from '../../solana/blockhash.ts';
import type { Bank } from '../node.ts';

/** A bank's own blockhash with the last block height at which transactions may use it. */
export function latestBlockhash(bank: Bank): { blockhash: Blockhash; lastValidBlockHeight: bigint } {
  const lastValidBlockHeight = bank.lastValidBlockHeight(bank.blockhash);
  if (lastValidBlockHeight === null) throw new Error(`slot ${bank.slot} does not know its own blockhash`);
  return { blockhash: bank.blockhash, lastValidBlockHeight };
}
