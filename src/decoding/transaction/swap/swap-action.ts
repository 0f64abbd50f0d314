import type { WritableJson } from '../../../base/json.ts';
import { rawAmount, tokensOf } from '../../amounts.ts';
import type { Action, Swap, SwapSide } from '../action.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';
import { protocolOf } from '../program-parsers.ts';

type Decimals = ExecutedTransaction['decimals'];

const unnamedAmount = (decimals: Decimals, { mint, raw }: SwapSide): Record<string, WritableJson> => ({
  ...{ token_address: mint, name: '', symbol: '', image_uri: '' },
  ...{ amount: tokensOf(decimals, mint, raw), amount_raw: rawAmount(raw) },
});

/** Quoted minus received output in tokens; negative if more was received. */
function slippagePaid({ quotedOut, out }: Swap, decimals: Decimals): number | null {
  if (quotedOut === null) return null;
  const missing = quotedOut - out.raw;
  const tokens = tokensOf(decimals, out.mint, missing < 0n ? -missing : missing);
  return tokens === null || missing >= 0n ? tokens : -tokens;
}

function infoOf(swap: Swap, decimals: Decimals): Action['info'] {
  return {
    swapper: swap.swapper,
    tokens_swapped: { in: unnamedAmount(decimals, swap.in), out: unnamedAmount(decimals, swap.out) },
    swaps: swap.pools.map(({ pool, source, in: from, out }) => ({
      ...{ liquidity_pool_address: pool, name: '', source },
      ...{ in: unnamedAmount(decimals, from), out: unnamedAmount(decimals, out) },
    })),
    slippage_in_percent: swap.slippagePercent,
    quoted_out_amount: swap.quotedOut === null ? null : rawAmount(swap.quotedOut),
    slippage_paid: slippagePaid(swap, decimals),
  };
}

export const swapAction = (swap: Swap, { decimals }: ExecutedTransaction): Action => ({
  info: infoOf(swap, decimals),
  source_protocol: protocolOf(swap.program),
  type: 'SWAP',
  ...(swap.parentProgram === null ? {} : { parent_protocol: swap.parentProgram }),
  ix_index: swap.index,
});
