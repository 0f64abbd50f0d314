import { address } from '../../../solana/address.ts';
import type { ProgramParser } from '../action.ts';
import { anchorReader, ignored, layout } from './instruction-layout.ts';
import { nftAction, priced, SOL } from './nft-actions.ts';
import { selfCall } from './program-logs.ts';

/**
 * Tensor AMM (TAMM) trades in SOL between a pool owner and a taker. A self-call contains the price. Source:
 * tensor-foundation/amm 455e3eb, program/idl.json.
 */
export const tensorAmmProgram = address('TAMM6ub33ij1mbetoMyVBLeKY5iP41i4UPUJQGkhfsg');

const BUY_SELL_EVENT = 0;

const trade = (poolBuys: boolean) =>
  layout({ owner: 0, taker: 1, nft_address: 14 }, (call) => {
    const { at, transaction } = call;
    const [buyer, seller] = poolBuys ? [at.owner, at.taker] : [at.taker, at.owner];
    const raw = selfCall(call, 'tamm_noop', (event) => (event.u8() === BUY_SELL_EVENT ? event.u64() : null));
    const parties = { buyer, seller, marketplace: tensorAmmProgram };
    return nftAction('NFT_SALE', { ...at, ...parties, ...priced(SOL, raw, transaction) });
  });

const read = anchorReader({
  'buy_nft buy_nft_core buy_nft_t22': trade(false),
  'sell_nft_token_pool sell_nft_token_pool_core sell_nft_token_pool_t22': trade(true),
  'sell_nft_trade_pool sell_nft_trade_pool_core sell_nft_trade_pool_t22': trade(true),
  tamm_noop: ignored,
});

export const tensorAmm: ProgramParser = { name: 'TENSOR_AMM', read };
