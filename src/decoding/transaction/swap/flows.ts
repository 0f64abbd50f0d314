import type { Address } from '../../../solana/address.ts';
import type { SwapSide } from '../action.ts';
import type { Movement } from './movements.ts';

/** One token given and another one taken. */
export type Exchange = Readonly<{ in: SwapSide; out: SwapSide }>;

/** What an owner gained of each mint, in base units; less than 0 for what it gave. */
export function netOf(movements: readonly Movement[], owner: Address): Map<Address, bigint> {
  const net = new Map<Address, bigint>();
  for (const { mint, from, to, sent, received } of movements) {
    if (from === to) continue;
    if (from === owner) net.set(mint, (net.get(mint) ?? 0n) - sent);
    if (to === owner) net.set(mint, (net.get(mint) ?? 0n) + received);
  }
  return net;
}

/** What was given and taken, when it is one mint for one other; null for anything else, which is no swap. */
export function exchangeOf(net: ReadonlyMap<Address, bigint>): Exchange | null {
  const gave = [...net].filter(([, change]) => change < 0n);
  const took = [...net].filter(([, change]) => change > 0n);
  const [[inMint, given] = [], [outMint, taken] = []] = [gave[0], took[0]];
  if (gave.length !== 1 || took.length !== 1) return null;
  if (inMint === undefined || outMint === undefined || given === undefined || taken === undefined)
    return null;
  return { in: { mint: inMint, raw: -given }, out: { mint: outMint, raw: taken } };
}
