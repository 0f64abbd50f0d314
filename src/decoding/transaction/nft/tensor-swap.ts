import { address } from '../../../solana/address.ts';
import type { ProgramParser } from '../action.ts';
import { anchorReader, type Call, type InstructionLayout, layout } from './instruction-layout.ts';
import { list, listCancel, listUpdate, marketplaceWithdraw, SOL, sale } from './nft-actions.ts';
import { loggedEvent } from './program-logs.ts';

/**
 * TensorSwap: single listings and pools, in SOL. The event logs the paid price; the instruction holds only a
 * limit. Source: tensor-hq/tensorswap-sdk 260d7ac, src/tensorswap/idl/tensorswap.ts (3.1.0).
 */
export const tensorSwapProgram = address('TSWAPaqyCSx2KABk68Shruf4rp7CxcNi8hAsbdwmHbN');

const marketplace = tensorSwapProgram;

const loggedPrice = (
  { instruction, transaction }: Pick<Call<never>, 'instruction' | 'transaction'>,
  name: string,
) => loggedEvent(instruction, transaction, name, (members) => members.u64());

type AccountPositions = Readonly<{ mint: number; owner: number }>;

const listed = (positions: AccountPositions): InstructionLayout =>
  layout(positions, ({ at, args, transaction }) =>
    list({ seller: at.owner, marketplace, nft: at.mint, currency: SOL, raw: args.u64() }, transaction),
  );

const delisted = (positions: AccountPositions): InstructionLayout =>
  layout(positions, (call) => {
    const { at, transaction } = call;
    const amount = { currency: SOL, raw: loggedPrice(call, 'DelistEvent') };
    return listCancel({ seller: at.owner, marketplace, nft: at.mint, ...amount }, transaction);
  });

const edited = layout({ mint: 1, owner: 2 }, ({ at, args, transaction }) =>
  listUpdate({ seller: at.owner, marketplace, nft: at.mint, currency: SOL, raw: args.u64() }, transaction),
);

const sold = (positions: Readonly<{ buyer: number; seller: number; mint: number }>): InstructionLayout =>
  layout(positions, (call) => {
    const { at, transaction } = call;
    const amount = { currency: SOL, raw: loggedPrice(call, 'BuySellEvent') };
    return sale({ buyer: at.buyer, seller: at.seller, marketplace, nft: at.mint, ...amount }, transaction);
  });

const withdrawFees = layout({ tswap: 0, owner: 2, destination: 3 }, ({ at, args, transaction }) => {
  const accounts = { treasury: at.tswap, authority: at.owner, destination: at.destination };
  return marketplaceWithdraw({ currency: SOL, raw: args.u64(), marketplace, ...accounts }, transaction);
});

/** The pool owner buys. */
const soldToPool = sold({ buyer: 9, seller: 10, mint: 6 });
/** Without the metadata account. */
const soldToPoolT22 = sold({ buyer: 8, seller: 9, mint: 6 });

const read = anchorReader({
  list: listed({ mint: 2, owner: 5 }),
  list_t22: listed({ mint: 2, owner: 5 }),
  wns_list: listed({ mint: 2, owner: 5 }),
  delist: delisted({ mint: 2, owner: 5 }),
  delist_t22: delisted({ mint: 2, owner: 5 }),
  wns_delist: delisted({ mint: 2, owner: 5 }),
  edit_single_listing: edited,
  buy_single_listing: sold({ buyer: 8, seller: 7, mint: 4 }),
  buy_single_listing_t22: sold({ buyer: 7, seller: 6, mint: 4 }),
  wns_buy_single_listing: sold({ buyer: 7, seller: 6, mint: 4 }),
  buy_nft: sold({ buyer: 11, seller: 10, mint: 5 }),
  buy_nft_t22: sold({ buyer: 10, seller: 9, mint: 5 }),
  wns_buy_nft: sold({ buyer: 10, seller: 9, mint: 5 }),
  sell_nft_token_pool: soldToPool,
  sell_nft_trade_pool: soldToPool,
  sell_nft_token_pool_t22: soldToPoolT22,
  sell_nft_trade_pool_t22: soldToPoolT22,
  wns_sell_nft_token_pool: soldToPoolT22,
  wns_sell_nft_trade_pool: soldToPoolT22,
  withdraw_tswap_fees: withdrawFees,
});

export const tensorSwap: ProgramParser = { name: 'TENSOR_SWAP', read };
