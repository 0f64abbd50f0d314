import type { Address } from '../../../solana/address.ts';
import { programs } from '../../../solana/programs.ts';
import { appPrograms } from '../../program-addresses.ts';
import type { PoolSwap } from '../action.ts';
import { dexPrograms, swapInstructionOf } from './dex-programs.ts';
import type { Exchange, Movement } from './movements.ts';
import { readPumpTrade } from './pump-trade.ts';
import type { TransactionView } from './transaction-view.ts';

type PoolLeg = Readonly<{ swap: PoolSwap; trader: Address; takers: readonly Address[] }>;

const sum = (movements: readonly Movement[], of: 'sent' | 'received'): bigint =>
  movements.reduce((total, movement) => total + movement[of], 0n);

/** The only mint of the movements; lamports are ignored if tokens also move, since they may pay rent. */
function oneMint(movements: readonly Movement[]): Address | null {
  const all = new Set(movements.map(({ mint }) => mint));
  const tokens = new Set(movements.filter(({ lamports }) => !lamports).map(({ mint }) => mint));
  const [mint] = all.size === 1 ? all : tokens;
  return mint !== undefined && (all.size === 1 || tokens.size === 1) ? mint : null;
}

/** Movements to the trader's side; if none, the largest one, which a route forwards. */
function takenBy(side: ReadonlySet<Address>, takes: readonly Movement[]): readonly Movement[] {
  const own = takes.filter(({ to }) => to !== null && side.has(to));
  if (own.length > 0) return own;
  const [first, ...others] = takes;
  if (first === undefined) return [];
  return [others.reduce((most, one) => (one.received > most.received ? one : most), first)];
}

/** Exchange between the trader's side and a pool; null unless one mint for one other. */
function exchangeWith(
  side: ReadonlySet<Address>,
  movements: readonly Movement[],
): (Exchange & { trader: Address; takers: readonly Address[] }) | null {
  const owned = (owner: Address | null): boolean => owner !== null && side.has(owner);
  const gives = movements.filter(({ from, to }) => owned(from) && !owned(to));
  const inMint = oneMint(gives);
  const trader = gives.find(({ mint }) => mint === inMint)?.from ?? null;
  if (inMint === null || trader === null) return null;
  const fromPool = movements.filter(({ from }) => !owned(from));
  const takes = takenBy(
    side,
    fromPool.filter(({ mint }) => mint !== inMint),
  );
  const outMint = oneMint(takes);
  if (outMint === null) return null;
  const back = fromPool.filter(({ mint, to }) => mint === inMint && owned(to));
  const paid = sum(
    gives.filter(({ mint }) => mint === inMint),
    'sent',
  );
  const taken = takes.filter(({ mint }) => mint === outMint);
  const [inRaw, outRaw] = [paid - sum(back, 'received'), sum(taken, 'received')];
  if (inRaw <= 0n || outRaw <= 0n) return null;
  const takers = taken.flatMap(({ to }) => (to === null ? [] : [to]));
  return { in: { mint: inMint, raw: inRaw }, out: { mint: outMint, raw: outRaw }, trader, takers };
}

/**
 * Decodes one pool's part of a swap from the movements below its instruction. pump.fun needs its event,
 * since the curve pays SOL without a transfer.
 * @param side - owners the swap is made for: signers, and accounts where a route holds tokens.
 * @returns null when the instruction is no known swap.
 */
export function readPoolLeg(view: TransactionView, at: number, side: ReadonlySet<Address>): PoolLeg | null {
  const instruction = view.instruction(at);
  const { program, accounts, data } = instruction;
  const dex = dexPrograms.get(program);
  if (dex?.kind !== 'pool') return null;
  const positions = swapInstructionOf(dex, data);
  if (positions === null) return null;
  const named = (index: number | null): Address | null =>
    index === null ? null : (accounts.at(index) ?? null);
  const trader = named(positions.trader);
  const own = trader === null || trader === programs.system ? side : new Set([...side, trader]);
  const trade = program === appPrograms.pumpFun ? readPumpTrade(view, view.span(at)) : null;
  const exchange = trade ?? exchangeWith(own, view.movedIn(view.span(at)));
  if (exchange === null) return null;
  const swap = { pool: named(positions.pool), source: dex.source, in: exchange.in, out: exchange.out };
  return { swap, trader: exchange.trader, takers: exchange.takers };
}
