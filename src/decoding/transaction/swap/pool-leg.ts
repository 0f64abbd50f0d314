import type { WritableJson } from '../../../base/json.ts';
import type { Address } from '../../../solana/address.ts';
import { nativeMint, programs } from '../../../solana/programs.ts';
import { addressOf, u64Of } from '../../lenient-json.ts';
import { appPrograms } from '../../program-addresses.ts';
import type { PoolSwap } from '../action.ts';
import { dexPrograms, swapInstructionOf } from './dex-programs.ts';
import { type Exchange, type Movement, netOf } from './movements.ts';
import type { Span, TransactionView } from './transaction-view.ts';

type Trade = Readonly<{
  mint: Address;
  user: Address;
  buys: boolean;
  tokens: bigint;
  quoteMint: Address;
  /** Excludes fees. */
  quote: bigint;
  /** Program and creator fees; null in events before May 2025. */
  fees: bigint | null;
  /** Paid back to the trader later, instead of the creator fee. */
  cashback: bigint;
}>;

/** Events without fees are from before May 2025, when the fee was 1/100. */
const OLD_FEE_DIVISOR = 100n;

function tradeOf(data: Readonly<Record<string, WritableJson>>): Trade | null {
  const [mint, user, named] = [addressOf(data.mint), addressOf(data.user), addressOf(data.quote_mint)];
  const [sol, tokens] = [u64Of(data.sol_amount), u64Of(data.token_amount)];
  if (mint === null || user === null || sol === null || tokens === null) return null;
  const quoteMint = named === null || named === programs.system ? nativeMint : named;
  const fee = u64Of(data.fee);
  return {
    ...{ mint, user, buys: data.is_buy === true, tokens, quoteMint },
    quote: quoteMint === nativeMint ? sol : (u64Of(data.quote_amount) ?? 0n),
    fees: fee === null ? null : fee + (u64Of(data.creator_fee) ?? 0n),
    cashback: u64Of(data.cashback) ?? 0n,
  };
}

/** Amount paid: the event's amount, unless movements show that more was paid. */
function paidAmount({ quote, fees, cashback }: Trade, moved: bigint): bigint {
  if (fees === null) return moved > quote ? moved : quote;
  return moved === quote + fees + cashback ? moved : quote + fees;
}

/** SOL received from the bonding curve, which pays without a transfer. */
function receivedLamports(trade: Trade, view: TransactionView): bigint {
  const { quote, fees, cashback, user } = trade;
  const gained = view.unexplainedLamports(user);
  if (fees !== null) return gained === quote - fees - cashback ? gained : quote - fees;
  return gained > 0n && gained <= quote ? gained : quote - quote / OLD_FEE_DIVISOR;
}

function sidesOf(trade: Trade, view: TransactionView, span: Span): Exchange {
  const net = netOf(view.movedIn(span), trade.user);
  const { mint, quoteMint, buys, tokens } = trade;
  const [netTokens, netQuote] = [net.get(mint) ?? 0n, net.get(quoteMint) ?? 0n];
  if (buys) {
    return {
      in: { mint: quoteMint, raw: paidAmount(trade, -netQuote) },
      out: { mint, raw: netTokens > 0n ? netTokens : tokens },
    };
  }
  const received = quoteMint === nativeMint && netQuote <= 0n ? receivedLamports(trade, view) : netQuote;
  return { in: { mint, raw: netTokens < 0n ? -netTokens : tokens }, out: { mint: quoteMint, raw: received } };
}

/** `takers` received the output: owners on the trader's side, or accounts that forward the output. */
type PoolExchange = Exchange & Readonly<{ trader: Address; takers: readonly Address[] }>;

type PoolLeg = Omit<PoolExchange, keyof Exchange> & Readonly<{ swap: PoolSwap }>;

/**
 * Amounts that the trader paid and received, including fees. null for a buy that completes the bonding curve: the buy
 * continues in the new pool within the same instruction, so movements are read instead.
 */
function readPumpTrade(view: TransactionView, span: Span): PoolExchange | null {
  let trade: Trade | null = null;
  for (const { name, data } of view.eventsIn(span, appPrograms.pumpFun)) {
    if (name === 'PostCompleteBuyEvent') return null;
    if (name === 'TradeEvent') trade ??= tradeOf(data);
  }
  if (trade === null) return null;
  const sides = sidesOf(trade, view, span);
  if (sides.in.raw <= 0n || sides.out.raw <= 0n) return null;
  return { ...sides, trader: trade.user, takers: [trade.user] };
}

const sum = (movements: readonly Movement[], of: 'sent' | 'received'): bigint =>
  movements.reduce((total, movement) => total + movement[of], 0n);

/** The only mint in the movements. If both lamports and tokens move, lamports are ignored: they may pay rent. */
function oneMint(movements: readonly Movement[]): Address | null {
  const all = new Set(movements.map(({ mint }) => mint));
  const tokens = new Set(movements.filter(({ lamports }) => !lamports).map(({ mint }) => mint));
  const [mint] = all.size === 1 ? all : tokens;
  return mint !== undefined && (all.size === 1 || tokens.size === 1) ? mint : null;
}

/** Movements to the trader's side; if there are none, the largest movement, because its recipient may forward it. */
function takenBy(side: ReadonlySet<Address>, takes: readonly Movement[]): readonly Movement[] {
  const own = takes.filter(({ to }) => to !== null && side.has(to));
  if (own.length > 0) return own;
  const [first, ...others] = takes;
  if (first === undefined) return [];
  return [others.reduce((most, one) => (one.received > most.received ? one : most), first)];
}

/** Exchange between the trader's side and a pool; null unless exactly one mint is exchanged for another. */
function exchangeWith(side: ReadonlySet<Address>, movements: readonly Movement[]): PoolExchange | null {
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
 * Reads one pool's part of a swap from movements; for pump.fun, from events, because the bonding curve pays SOL without
 * a transfer. @param side - owners for whom the swap is made: signers, and accounts in which a route holds tokens.
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
