import { readOrNull } from '../../../base/bytes.ts';
import type { Address } from '../../../solana/address.ts';
import { appPrograms } from '../../program-addresses.ts';
import type { PoolSwap, Swap, SwapSide } from '../action.ts';
import { DISCRIMINATOR_BYTES } from '../events/layout.ts';
import { type DexProgram, swapInstructionOf } from './dex-programs.ts';
import { readQuote, readRoute } from './jupiter-route.ts';
import { type Exchange, exchangeOf, type Movement, netOf } from './movements.ts';
import { readPoolLeg } from './pool-leg.ts';
import type { Span, TransactionView } from './transaction-view.ts';

type Routed = Readonly<Pick<Swap, 'swapper' | 'in' | 'out' | 'pools' | 'slippagePercent' | 'quotedOut'>>;

/**
 * Pools of a route, from movements. Accounts to which the route moves tokens of the swapper's side join that
 * side.
 */
function poolsIn(view: TransactionView, span: Span, swappers: readonly Address[]): PoolSwap[] {
  const side = new Set(swappers);
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
  return pools;
}

/** Exchange between the first and last mint of the pools; other movements do not count. */
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

/** Swap amount of the OKX router, without its commission. Source: its `SwapArgs`. */
const okxAmount = (data: Uint8Array): bigint =>
  readOrNull(data.subarray(Math.min(data.length, DISCRIMINATOR_BYTES)), (reader) => reader.u64()) ?? 0n;

/** Received amount of a mint, before any of it was passed on. */
const gross = (moved: readonly Movement[], { mint }: SwapSide, owner: Address): bigint =>
  moved.reduce(
    (total, one) =>
      one.to === owner && one.from !== owner && one.mint === mint ? total + one.received : total,
    0n,
  );

/** Removes the commission, which is taken from input or output. */
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
  const pools = poolsIn(view, span, signers);
  const exchange = exchangedBy(moved, signers, pools);
  if (exchange === null) return null;
  const { swapper } = exchange;
  const sides = program === appPrograms.okxRouter ? withoutCommission(exchange, moved, data) : exchange;
  return { swapper, in: sides.in, out: sides.out, pools, slippagePercent: null, quotedOut: null };
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
 * Jupiter v6 route: mints from events, amounts from what left and reached the swapper, platform fees
 * included. Without SOL transfers, amounts come from the quote and events.
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
    slippagePercent: quote?.slippagePercent ?? null,
    quotedOut: quote?.quotedOut ?? null,
  };
}

export function readRouted(view: TransactionView, at: number, dex: DexProgram): Routed | null {
  const { program, accounts, data } = view.instruction(at);
  const positions = swapInstructionOf(dex, data);
  if (positions === null) return null;
  const span = view.span(at);
  const swapper = positions.trader === null ? undefined : accounts.at(positions.trader);
  const routed = program === appPrograms.jupiterV6 && swapper ? routedByJupiter(view, span, swapper) : null;
  return routed ?? routedByPools(view, span);
}
