import type { Address } from '../../../solana/address.ts';
import { readOrNull } from '../../../solana/codec.ts';
import { appPrograms } from '../../program-addresses.ts';
import type { PoolSwap, ProgramEvent, Swap, SwapSide } from '../action.ts';
import { DISCRIMINATOR_BYTES } from '../events/layout.ts';
import { isEventCall } from '../events/read-events.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';
import { type DexProgram, dexPrograms, swapInstructionOf } from './dex-programs.ts';
import { quoteFields, readQuote, readRoute } from './jupiter-route.ts';
import { type Exchange, exchangeOf, type Movement, netByBalances, netOf } from './movements.ts';
import { readPoolLeg } from './pool-leg.ts';
import { type Span, TransactionView } from './transaction-view.ts';

type Routed = Readonly<Pick<Swap, 'swapper' | 'in' | 'out' | 'pools' | 'slippagePercent' | 'quotedOut'>>;

/** Exchange between the first and last mint of the pools; other movements are ignored. */
function exchangeAlong(
  net: ReadonlyMap<Address, bigint>,
  first: PoolSwap | undefined,
  last: PoolSwap | undefined,
): Exchange | null {
  if (first === undefined || last === undefined || first.in.mint === last.out.mint) return null;
  const [paid, taken] = [-(net.get(first.in.mint) ?? 0n), net.get(last.out.mint) ?? 0n];
  if (paid <= 0n || taken <= 0n) return null;
  return { in: { mint: first.in.mint, raw: paid }, out: { mint: last.out.mint, raw: taken } };
}

function exchangedBy(
  moved: readonly Movement[],
  owners: readonly Address[],
  pools: readonly PoolSwap[],
): (Exchange & { swapper: Address }) | null {
  for (const swapper of owners) {
    const net = netOf(moved, swapper);
    const exchange = exchangeOf(net) ?? exchangeAlong(net, pools[0], pools.at(-1));
    if (exchange !== null) return { ...exchange, swapper };
  }
  return null;
}

/** Swap amount from the OKX router's arguments, without commission. Source: the router's `SwapArgs`. */
const okxAmount = (data: Uint8Array): bigint =>
  readOrNull(data.subarray(Math.min(data.length, DISCRIMINATOR_BYTES)), (reader) => reader.u64()) ?? 0n;

/** Total amount of a mint that the owner received, including tokens passed on afterwards. */
const gross = (moved: readonly Movement[], { mint }: SwapSide, owner: Address): bigint =>
  moved.reduce(
    (total, one) =>
      one.to === owner && one.from !== owner && one.mint === mint ? total + one.received : total,
    0n,
  );

/** Excludes the commission, which is taken from the input or the output. */
function withoutCommission(
  exchange: Exchange & { swapper: Address },
  moved: readonly Movement[],
  data: Uint8Array,
): Exchange {
  const stated = okxAmount(data);
  const paid = stated > 0n && stated < exchange.in.raw ? stated : exchange.in.raw;
  const taken = gross(moved, exchange.out, exchange.swapper);
  return { in: { ...exchange.in, raw: paid }, out: { ...exchange.out, raw: taken } };
}

function routedByPools(view: TransactionView, span: Span): Routed | null {
  const { program, data } = view.instruction(span.at);
  const moved = view.movedIn(span);
  const { signers } = view.transaction;
  // If the route moves tokens from the swapper's side to an account, that account joins the side.
  const side = new Set(signers);
  const route = view.instruction(span.at).index;
  const pools: PoolSwap[] = [];
  for (let at = span.at + 1; at < span.end; ) {
    const leg = readPoolLeg(view, at, side);
    if (leg !== null) {
      pools.push(leg.swap);
      for (const taker of leg.takers) side.add(taker);
    } else if (view.instruction(at).caller === route) {
      for (const { from, to } of view.movedIn({ at, end: at + 1 })) {
        if (from !== null && to !== null && side.has(from)) side.add(to);
      }
    }
    at = leg === null ? at + 1 : view.span(at).end;
  }
  const exchange = exchangedBy(moved, signers, pools);
  if (exchange === null) return null;
  const { swapper } = exchange;
  const sides = program === appPrograms.okxRouter ? withoutCommission(exchange, moved, data) : exchange;
  return { swapper, in: sides.in, out: sides.out, pools, ...quoteFields(null) };
}

function endsOfRoute(pools: readonly PoolSwap[]): Exchange | null {
  const [first, last] = [pools[0], pools.at(-1)];
  if (first === undefined || last === undefined) return null;
  if (first.in.mint === last.out.mint) return { in: first.in, out: last.out };
  const total = (side: 'in' | 'out', mint: Address): bigint =>
    pools.reduce((all, pool) => (pool[side].mint === mint ? all + pool[side].raw : all), 0n);
  return {
    in: { mint: first.in.mint, raw: total('in', first.in.mint) },
    out: { mint: last.out.mint, raw: total('out', last.out.mint) },
  };
}

/**
 * Takes mints from events and amounts from what the swapper paid and received, including platform fees. If no transfer
 * shows an amount, it comes from the quote or events.
 */
function routedByJupiter(view: TransactionView, span: Span, swapper: Address): Routed | null {
  const pools = readRoute(view, span);
  const ends = endsOfRoute(pools);
  if (ends === null) return null;
  const quote = readQuote(view.instruction(span.at).data);
  const net = netOf(view.movedIn(span), swapper);
  const around = ends.in.mint === ends.out.mint;
  const [paid, taken] = around ? [0n, 0n] : [-(net.get(ends.in.mint) ?? 0n), net.get(ends.out.mint) ?? 0n];
  const quotedIn = quote?.inAmount ?? 0n;
  const most = quotedIn > 0n && (paid <= 0n || paid > quotedIn) ? quotedIn : paid;
  return {
    ...{ swapper, pools },
    in: { mint: ends.in.mint, raw: most > 0n ? most : ends.in.raw },
    out: { mint: ends.out.mint, raw: taken > 0n ? taken : ends.out.raw },
    ...quoteFields(quote),
  };
}

function readRouted(view: TransactionView, at: number, dex: DexProgram): Routed | null {
  const { program, accounts, data } = view.instruction(at);
  const positions = swapInstructionOf(dex, data);
  if (positions === null) return null;
  const span = view.span(at);
  const swapper = positions.trader === null ? undefined : accounts.at(positions.trader);
  const routed = program === appPrograms.jupiterV6 && swapper ? routedByJupiter(view, span, swapper) : null;
  return routed ?? routedByPools(view, span);
}

const sourceInstruction = (
  view: TransactionView,
  at: number,
): Pick<Swap, 'index' | 'program' | 'parentProgram'> => {
  const { index, program, parentProgram } = view.instruction(at);
  return { index, program, parentProgram };
};

function swapOfPool(view: TransactionView, at: number, signers: ReadonlySet<Address>): Swap | null {
  const leg = readPoolLeg(view, at, signers);
  if (leg === null) return null;
  const { swap, trader: swapper } = leg;
  const sides = { swapper, in: swap.in, out: swap.out, pools: [swap] };
  return { ...sourceInstruction(view, at), ...sides, ...quoteFields(null) };
}

/** The fee between two joined swaps is at most a tenth of the amount. */
const FEE_DIVISOR = 10n;

/**
 * Joins two consecutive swaps into a route if the second spends the whole output of the first, less a fee. Swaps that
 * leave a remainder or return to the first mint stay separate.
 * @param between - movements between the two swaps, which must account for the fee.
 */
function joinSwaps(first: Swap, next: Swap, between: readonly Movement[]): Swap | null {
  const { mint, raw } = first.out;
  const follows = mint === next.in.mint && first.in.mint !== next.out.mint;
  if (!follows || first.swapper !== next.swapper) return null;
  const fee = raw - next.in.raw;
  const isFee = fee > 0n && fee <= raw / FEE_DIVISOR && netOf(between, first.swapper).get(mint) === -fee;
  return fee === 0n || isFee ? { ...first, out: next.out, pools: [...first.pools, ...next.pools] } : null;
}

const isUnknown = (program: Address | null): boolean => program !== null && !dexPrograms.has(program);

/** Finds swaps and assigns each to the outermost DEX instruction that contains it. */
class SwapSearch {
  readonly #view: TransactionView;
  readonly #signers: ReadonlySet<Address>;

  constructor(view: TransactionView) {
    this.#view = view;
    this.#signers = new Set(view.transaction.signers);
  }

  find({ at, end }: Span): Swap[] {
    const found: Swap[] = [];
    let last: Span | null = null;
    for (let next = at; next < end; ) {
      const swaps = this.#swapsAt(next);
      const span = swaps === null ? { at: next, end: next + 1 } : this.#view.span(next);
      for (const swap of swaps ?? []) {
        const route = last === null ? null : this.#joinedTo(found.at(-1), swap, { at: last.end, end: next });
        if (route !== null) found.pop();
        found.push(route ?? swap);
        last = span;
      }
      next = span.end;
    }
    return found;
  }

  #joinedTo(last: Swap | undefined, next: Swap, between: Span): Swap | null {
    const outerOf = (at: number): number => this.#view.instruction(at).outer;
    if (last === undefined || !isUnknown(next.parentProgram)) return null;
    if (outerOf(between.at - 1) !== outerOf(between.end)) return null;
    return joinSwaps(last, next, this.#view.movedIn(between));
  }

  /** null if the inner instructions must be searched. */
  #swapsAt(at: number): Swap[] | null {
    const instruction = this.#view.instruction(at);
    const dex = dexPrograms.get(instruction.program);
    if (dex === undefined) return null;
    if (dex.kind === 'wrapper') {
      const swaps = this.find({ at: at + 1, end: this.#view.span(at).end });
      // If a wrapper forwards a single swap, the swap is reported under the wrapper.
      const [only] = swaps;
      return only === undefined || swaps.length > 1
        ? swaps
        : [{ ...only, ...sourceInstruction(this.#view, at) }];
    }
    if (dex.kind === 'pool') {
      const swap = swapOfPool(this.#view, at, this.#signers);
      return swap === null ? null : [swap];
    }
    const routed = readRouted(this.#view, at, dex);
    return routed === null ? null : [{ ...sourceInstruction(this.#view, at), ...routed }];
  }
}

function isSwap(view: TransactionView, at: number): boolean {
  const instruction = view.instruction(at);
  const dex = dexPrograms.get(instruction.program);
  if (dex === undefined || dex.kind === 'wrapper' || isEventCall(instruction)) return false;
  return swapInstructionOf(dex, instruction.data) !== null;
}

/** Fallback if movements are missing: uses the signers' balance changes. */
function swapByBalances(view: TransactionView): Swap[] {
  let at = 0;
  while (at < view.length && !isSwap(view, at)) at++;
  if (at === view.length) return [];
  const { program, data } = view.instruction(at);
  for (const swapper of view.transaction.signers) {
    const exchange = exchangeOf(netByBalances(view.transaction, view.movements, swapper));
    if (exchange === null) continue;
    const sides = { swapper, in: exchange.in, out: exchange.out, pools: [] };
    const quote = program === appPrograms.jupiterV6 ? readQuote(data) : null;
    return [{ ...sourceInstruction(view, at), ...sides, ...quoteFields(quote) }];
  }
  return [];
}

/**
 * Finds swaps of one mint for another from events, else from movements within pool and router instructions, else from
 * signer balances. Amounts are what the swapper paid and received, including swap fees but not separate commissions or
 * tips. Empty for a failed transaction. Never throws; takes linear time.
 */
export function recognizeSwaps(transaction: ExecutedTransaction, events: readonly ProgramEvent[]): Swap[] {
  if (transaction.err !== null) return [];
  const view = new TransactionView(transaction, events);
  const swaps = new SwapSearch(view).find({ at: 0, end: view.length });
  return swaps.length > 0 ? swaps : swapByBalances(view);
}
