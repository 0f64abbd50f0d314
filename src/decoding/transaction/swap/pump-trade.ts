import type { WritableJson } from '../../../base/json.ts';
import type { Address } from '../../../solana/address.ts';
import { nativeMint, programs } from '../../../solana/programs.ts';
import { addressOf, amountOf } from '../../lenient-json.ts';
import { appPrograms } from '../../program-addresses.ts';
import type { SwapSide } from '../action.ts';
import { netOf } from './movements.ts';
import type { Span, TransactionView } from './transaction-view.ts';

/** pump.fun trade event. */
type Trade = Readonly<{
  mint: Address;
  user: Address;
  buys: boolean;
  /** Base units of the coin. */
  tokens: bigint;
  quoteMint: Address;
  /** Base units, without fees. */
  quote: bigint;
  /** Program and creator fees; null in events before May 2025. */
  fees: bigint | null;
  /** Paid back to the trader later, instead of the creator fee. */
  cashback: bigint;
}>;

/** Fee before the events reported it: 1/100. */
const OLD_FEE_DIVISOR = 100n;

function tradeOf(data: Readonly<Record<string, WritableJson>>): Trade | null {
  const [mint, user, named] = [addressOf(data.mint), addressOf(data.user), addressOf(data.quote_mint)];
  const [sol, tokens] = [amountOf(data.sol_amount), amountOf(data.token_amount)];
  if (mint === null || user === null || sol === null || tokens === null) return null;
  const quoteMint = named === null || named === programs.system ? nativeMint : named;
  const fee = amountOf(data.fee);
  return {
    ...{ mint, user, buys: data.is_buy === true, tokens, quoteMint },
    quote: quoteMint === nativeMint ? sol : (amountOf(data.quote_amount) ?? 0n),
    fees: fee === null ? null : fee + (amountOf(data.creator_fee) ?? 0n),
    cashback: amountOf(data.cashback) ?? 0n,
  };
}

/** Paid amount: as in the event, unless movements show an extra fee. */
function paid({ quote, fees, cashback }: Trade, moved: bigint): bigint {
  if (fees === null) return moved > quote ? moved : quote;
  return moved === quote + fees + cashback ? moved : quote + fees;
}

/** SOL received from the curve, which pays without a transfer. */
function receivedLamports(trade: Trade, view: TransactionView): bigint {
  const { quote, fees, cashback, user } = trade;
  const gained = view.unexplainedLamports(user);
  if (fees !== null) return gained === quote - fees - cashback ? gained : quote - fees;
  return gained > 0n && gained <= quote ? gained : quote - quote / OLD_FEE_DIVISOR;
}

function sidesOf(trade: Trade, view: TransactionView, span: Span): { in: SwapSide; out: SwapSide } {
  const net = netOf(view.movedIn(span), trade.user);
  const { mint, quoteMint, buys, tokens } = trade;
  const [coins, price] = [net.get(mint) ?? 0n, net.get(quoteMint) ?? 0n];
  if (buys) {
    return {
      in: { mint: quoteMint, raw: paid(trade, -price) },
      out: { mint, raw: coins > 0n ? coins : tokens },
    };
  }
  const got = quoteMint === nativeMint && price <= 0n ? receivedLamports(trade, view) : price;
  return { in: { mint, raw: coins < 0n ? -coins : tokens }, out: { mint: quoteMint, raw: got } };
}

/**
 * Trade with a pump.fun curve: what left and reached the trader, fees included. A buy that completes the
 * curve continues in the new pool within one instruction; there the movements count.
 * @returns null without a trade event in the span.
 */
export function readPumpTrade(
  view: TransactionView,
  span: Span,
): { in: SwapSide; out: SwapSide; trader: Address; takers: readonly Address[] } | null {
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
