import { address } from '../../../solana/address.ts';
import type { ProgramParser } from '../action.ts';
import { anchorReader, type Call, type InstructionLayout, layout } from './instruction-layout.ts';
import { nftAction, priced, priceInSol, SOL } from './nft-actions.ts';
import { loggedEvent } from './program-logs.ts';

/**
 * TensorSwap: single listings and pools, in SOL. The event logs the paid price; the instruction holds only a
 * limit. Source: tensor-hq/tensorswap-sdk 260d7ac, src/tensorswap/idl/tensorswap.ts (3.1.0).
 */
export const tensorSwapProgram = address('TSWAPaqyCSx2KABk68Shruf4rp7CxcNi8hAsbdwmHbN');

const marketplace = tensorSwapProgram;

function loggedPrice(
  { instruction, transaction }: Pick<Call<never>, 'instruction' | 'transaction'>,
  event: string,
) {
  const raw = loggedEvent(instruction, transaction, event, (members) => members.u64());
  return priced(SOL, raw, transaction);
}

const list = layout({ nft_address: 2, seller: 5 }, (call) =>
  nftAction('NFT_LIST', { ...call.at, marketplace, ...priceInSol(call) }),
);

const delist = layout({ nft_address: 2, seller: 5 }, (call) =>
  nftAction('NFT_LIST_CANCEL', { ...call.at, marketplace, ...loggedPrice(call, 'DelistEvent') }),
);

const edit = layout({ nft_address: 1, seller: 2 }, (call) =>
  nftAction('NFT_LIST_UPDATE', {
    ...{ ...call.at, marketplace, old_price: null },
    new_price: priceInSol(call).price,
  }),
);

const sold = (positions: Readonly<Record<'buyer' | 'seller' | 'nft_address', number>>): InstructionLayout =>
  layout(positions, (call) =>
    nftAction('NFT_SALE', { ...call.at, marketplace, ...loggedPrice(call, 'BuySellEvent') }),
  );

const withdrawFees = layout(
  { treasury_account: 0, marketplace_authority: 2, withdrawal_destination_account: 3 },
  (call) => {
    const { currency, price: amount } = priceInSol(call);
    return nftAction('MARKETPLACE_WITHDRAW', { ...call.at, marketplace, currency, amount });
  },
);

/** The pool owner buys. */
const soldToPool = sold({ buyer: 9, seller: 10, nft_address: 6 });
/** Without the metadata account. */
const soldToPoolT22 = sold({ buyer: 8, seller: 9, nft_address: 6 });

const read = anchorReader({
  list,
  list_t22: list,
  wns_list: list,
  delist,
  delist_t22: delist,
  wns_delist: delist,
  edit_single_listing: edit,
  buy_single_listing: sold({ buyer: 8, seller: 7, nft_address: 4 }),
  buy_single_listing_t22: sold({ buyer: 7, seller: 6, nft_address: 4 }),
  wns_buy_single_listing: sold({ buyer: 7, seller: 6, nft_address: 4 }),
  buy_nft: sold({ buyer: 11, seller: 10, nft_address: 5 }),
  buy_nft_t22: sold({ buyer: 10, seller: 9, nft_address: 5 }),
  wns_buy_nft: sold({ buyer: 10, seller: 9, nft_address: 5 }),
  sell_nft_token_pool: soldToPool,
  sell_nft_trade_pool: soldToPool,
  sell_nft_token_pool_t22: soldToPoolT22,
  sell_nft_trade_pool_t22: soldToPoolT22,
  wns_sell_nft_token_pool: soldToPoolT22,
  wns_sell_nft_trade_pool: soldToPoolT22,
  withdraw_tswap_fees: withdrawFees,
});

export const tensorSwap: ProgramParser = { name: 'TENSOR_SWAP', read };
