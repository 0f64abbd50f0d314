import { address } from '../../../solana/address.ts';
import type { ProgramParser } from '../action.ts';
import { anchorReader, type InstructionLayout, layout } from './instruction-layout.ts';
import { nftAction, priced, SOL, statedPrice } from './nft-actions.ts';
import { type LoggingCall, loggedEvent } from './program-logs.ts';

/**
 * TensorSwap: single listings and pools, priced in SOL. The logged event contains the price paid; the instruction
 * contains only a limit. Source: tensor-hq/tensorswap-sdk 260d7ac, src/tensorswap/idl/tensorswap.ts (3.1.0).
 */
export const tensorSwapProgram = address('TSWAPaqyCSx2KABk68Shruf4rp7CxcNi8hAsbdwmHbN');

const marketplace = tensorSwapProgram;

const loggedPrice = (call: LoggingCall, event: string) =>
  priced(
    SOL,
    loggedEvent(call, event, (members) => members.u64()),
    call.transaction,
  );

const list = layout({ nft_address: 2, seller: 5 }, (call) =>
  nftAction('NFT_LIST', { ...call.at, marketplace, ...statedPrice(call) }),
);

const delist = layout({ nft_address: 2, seller: 5 }, (call) =>
  nftAction('NFT_LIST_CANCEL', { ...call.at, marketplace, ...loggedPrice(call, 'DelistEvent') }),
);

const edit = layout({ nft_address: 1, seller: 2 }, (call) =>
  nftAction('NFT_LIST_UPDATE', {
    ...{ ...call.at, marketplace, old_price: null },
    new_price: statedPrice(call).price,
  }),
);

const sold = (positions: Readonly<Record<'buyer' | 'seller' | 'nft_address', number>>): InstructionLayout =>
  layout(positions, (call) =>
    nftAction('NFT_SALE', { ...call.at, marketplace, ...loggedPrice(call, 'BuySellEvent') }),
  );

const withdrawFees = layout(
  { treasury_account: 0, marketplace_authority: 2, withdrawal_destination_account: 3 },
  (call) => {
    const { currency, price: amount } = statedPrice(call);
    return nftAction('MARKETPLACE_WITHDRAW', { ...call.at, marketplace, currency, amount });
  },
);

const read = anchorReader({
  'list list_t22 wns_list': list,
  'delist delist_t22 wns_delist': delist,
  edit_single_listing: edit,
  buy_single_listing: sold({ buyer: 8, seller: 7, nft_address: 4 }),
  'buy_single_listing_t22 wns_buy_single_listing': sold({ buyer: 7, seller: 6, nft_address: 4 }),
  buy_nft: sold({ buyer: 11, seller: 10, nft_address: 5 }),
  'buy_nft_t22 wns_buy_nft': sold({ buyer: 10, seller: 9, nft_address: 5 }),
  // In these instructions, the pool owner buys.
  'sell_nft_token_pool sell_nft_trade_pool': sold({ buyer: 9, seller: 10, nft_address: 6 }),
  'sell_nft_token_pool_t22 sell_nft_trade_pool_t22': sold({ buyer: 8, seller: 9, nft_address: 6 }),
  'wns_sell_nft_token_pool wns_sell_nft_trade_pool': sold({ buyer: 8, seller: 9, nft_address: 6 }),
  withdraw_tswap_fees: withdrawFees,
});

export const tensorSwap: ProgramParser = { name: 'TENSOR_SWAP', read };
