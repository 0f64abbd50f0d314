import { ByteReader } from '../../../base/bytes.ts';
import type { WritableJson } from '../../../base/json.ts';
import type { Address } from '../../../solana/address.ts';
import { addressOf, itemsOf, membersOf, u64Of } from '../../lenient-json.ts';
import { appPrograms } from '../../program-addresses.ts';
import type { PoolSwap, SwapSide } from '../action.ts';
import { DISCRIMINATOR_BYTES, instructionDiscriminator, leadingHex } from '../events/layout.ts';
import { dexPrograms, swapInstructionOf } from './dex-programs.ts';
import { isSupportInstruction, type Span, type TransactionView } from './transaction-view.ts';

type Quote = Readonly<{ inAmount: bigint; quotedOut: bigint; slippagePercent: number }>;

const [routeV1, routeV2, sharedRouteV2] = [
  new Set(['route', 'shared_accounts_route'].map(instructionDiscriminator)),
  instructionDiscriminator('route_v2'),
  instructionDiscriminator('shared_accounts_route_v2'),
];
/** Layout of a quote: in_amount u64, quoted_out_amount u64, slippage_bps u16. v1 appends platform_fee_bps u8. */
const [QUOTE_BYTES, FEE_BYTES] = [18, 1];
const BPS_IN_ALL = 10_000;
const BPS_IN_PERCENT = 100;

function quoteAt(data: Uint8Array, offset: number): Quote | null {
  if (offset < DISCRIMINATOR_BYTES || data.length < offset + QUOTE_BYTES) return null;
  const reader = new ByteReader(data.subarray(offset));
  const [inAmount, quotedOut, slippage] = [reader.u64(), reader.u64(), reader.u16()];
  if (slippage > BPS_IN_ALL) return null;
  return { inAmount, quotedOut, slippagePercent: slippage / BPS_IN_PERCENT };
}

/**
 * The quote comes last in v1 arguments, and before the route plan in v2 arguments. Exact-output and token-ledger routes
 * have no quote. Source: rest-api.md §3.2.
 */
export function readQuote(data: Uint8Array): Quote | null {
  const which = leadingHex(data);
  if (routeV1.has(which)) return quoteAt(data, data.length - QUOTE_BYTES - FEE_BYTES);
  if (which === routeV2) return quoteAt(data, DISCRIMINATOR_BYTES);
  return which === sharedRouteV2 ? quoteAt(data, DISCRIMINATOR_BYTES + 1) : null;
}

export const quoteFields = (quote: Quote | null) => ({
  slippagePercent: quote?.slippagePercent ?? null,
  quotedOut: quote?.quotedOut ?? null,
});

type RouteStep = Readonly<{ in: SwapSide; out: SwapSide; amm: Address | null; at: number }>;

function readStep(value: WritableJson, at: number): RouteStep[] {
  const { amm, input_mint, input_amount, output_mint, output_amount } = membersOf(value);
  const [inMint, outMint] = [addressOf(input_mint), addressOf(output_mint)];
  const [inRaw, outRaw] = [u64Of(input_amount), u64Of(output_amount)];
  if (inMint === null || outMint === null || inRaw === null || outRaw === null) return [];
  return [{ in: { mint: inMint, raw: inRaw }, out: { mint: outMint, raw: outRaw }, amm: addressOf(amm), at }];
}

/** Matches calls to steps by position if the counts agree, else by the program's last call before the step's event. */
function callsOf(view: TransactionView, span: Span, steps: readonly RouteStep[]): (number | null)[] {
  const calls = [...view.calls(span)].filter((at) => !isSupportInstruction(view.instruction(at)));
  if (calls.length === steps.length) return calls;
  let next = 0;
  return steps.map(({ amm, at: stepAt }) => {
    let found: number | null = null;
    for (; next < calls.length && (calls[next] as number) < stepAt; next++) {
      if (view.instruction(calls[next] as number).program === amm) found = calls[next] as number;
    }
    return found;
  });
}

function poolAt(view: TransactionView, at: number | null): Pick<PoolSwap, 'pool' | 'source'> {
  const instruction = at === null ? null : view.instruction(at);
  const dex = instruction === null ? undefined : dexPrograms.get(instruction.program);
  if (instruction === null || dex === undefined) return { pool: null, source: dex?.source ?? '' };
  const position = swapInstructionOf(dex, instruction.data)?.pool ?? null;
  return { pool: position === null ? null : (instruction.accounts.at(position) ?? null), source: dex.source };
}

export function readRoute(view: TransactionView, span: Span): PoolSwap[] {
  const route = view.instruction(span.at).index;
  const steps: RouteStep[] = [];
  for (const { name, data, at } of view.eventsIn(span, appPrograms.jupiterV6)) {
    if (view.instruction(at).caller !== route) continue;
    if (name === 'SwapEvent') steps.push(...readStep(data, at));
    if (name === 'SwapsEvent') steps.push(...itemsOf(data.swap_events).flatMap((one) => readStep(one, at)));
  }
  const calls = callsOf(view, span, steps);
  return steps.map((one, step) => {
    const { pool, source } = poolAt(view, calls[step] ?? null);
    const named = one.amm === null ? undefined : dexPrograms.get(one.amm);
    return { pool, source: source || (named?.source ?? ''), in: one.in, out: one.out };
  });
}
