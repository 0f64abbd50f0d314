import type { Address } from '../../../solana/address.ts';
import { programs } from '../../../solana/programs.ts';
import { appPrograms } from '../../program-addresses.ts';
import type { PoolSwap } from '../action.ts';
import { dexPrograms, swapInstructionOf } from './dex-programs.ts';
import type { Exchange, Movement } from './movements.ts';
import { readPumpTrade } from './pump-trade.ts';
import type { TransactionView } from './transaction-view.ts';

/** One pool's part in a swap, with who gave to it, and who got what it gave. */
export type PoolLeg = Readonly<{ swap: PoolSwap; trader: Address; takers: readonly Address[] }>;

const sum = (movements: readonly Movement[], of: 'sent' | 'received'): bigint =>
  movements.reduce((total, movement) => total + movement[of], 0n);

/** Whose mint it is, when all are of one; lamports count less than tokens: they may pay for a new account. */
function oneMint(movements: readonly Movement[]): Address | null {
  const all = new Set(movements.map(({ mint }) => mint));
  const tokens = new Set(movements.filter(({ lamports }) => !lamports).map(({ mint }) => mint));
  const [mint] = all.size === 1 ? all : tokens;
  return mint !== undefined && (all.size === 1 || tokens.size === 1) ? mint : null;
}

/** What went to the trader's side; where nothing did, the largest that went anywhere: a route takes it from there. */
function takenBy(side: ReadonlySet<Address>, takes: readonly Movement[]): readonly Movement[] {
  const own = takes.filter(({ to }) => to !== null && side.has(to));
  if (own.length > 0) return own;
  const [first, ...others] = takes;
  if (first === undefined) return [];
  return [others.reduce((most, one) => (one.received > most.received ? one : most), first)];
}

/** What a pool was given by the trader's side, and what it gave; null unless it is one mint for one other. */
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
  const given = sum(
    gives.filter(({ mint }) => mint === inMint),
    'sent',
  );
  const taken = takes.filter(({ mint }) => mint === outMint);
  const [inRaw, outRaw] = [given - sum(back, 'received'), sum(taken, 'received')];
  if (inRaw <= 0n || outRaw <= 0n) return null;
  const takers = taken.flatMap(({ to }) => (to === null ? [] : [to]));
  return { in: { mint: inMint, raw: inRaw }, out: { mint: outMint, raw: outRaw }, trader, takers };
}

/**
 * A pool's part in a swap, from what moved beneath its instruction, and for pump.fun from its event, which alone
 * knows the SOL that a curve pays.
 * @param side - owners for whom the swap is made: signers, and accounts in which a route keeps what it has taken.
 * @returns null for an instruction that is not a known program's swap.
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
