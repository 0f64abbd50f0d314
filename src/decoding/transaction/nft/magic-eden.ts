import { address } from '../../../solana/address.ts';
import type { ProgramParser } from '../action.ts';
import {
  anchorReader,
  fulfilledBy,
  type InstructionLayout,
  layout,
  optionalAccount,
  unless,
} from './instruction-layout.ts';
import {
  bid,
  bidCancel,
  currencyOf,
  list,
  listCancel,
  marketplaceWithdraw,
  SOL,
  sale,
} from './nft-actions.ts';
import { loggedNumber } from './program-logs.ts';

/**
 * Magic Eden v2 (M2): legacy NFTs, programmable (`mip1_`), Open Creator Protocol (`ocp_`), MPL Core
 * (`core_`) and Token-2022 (`ext_`). Prices are in lamports unless a mint is named. Source: me-foundation/m2
 * 553914e, src/idl/m2.json; for `core_` and `ext_` published decoders. Instructions without a public layout
 * are UNKNOWN.
 */
export const magicEdenProgram = address('M2mx93ekt1fmXSVkTrUL9xVFHkmME8HTUi5Cyc5aF7K');

const isFulfilled = fulfilledBy([
  ...['execute_sale_v2', 'mip1_execute_sale_v2', 'ocp_execute_sale_v2'],
  ...['core_execute_sale_v2', 'ext_execute_sale_v2'],
]);

type ListPositions = Readonly<{ wallet: number; mint: number; auctionHouse: number; state: number }>;

const sell = (positions: ListPositions, skipped: number): InstructionLayout =>
  unless(
    isFulfilled(positions.state),
    layout(positions, ({ at, args, transaction }) => {
      args.skipBytes(skipped);
      const offer = { marketplace: at.auctionHouse, nft: at.mint, currency: SOL, raw: args.u64() };
      return list({ seller: at.wallet, ...offer }, transaction);
    }),
  );

const coreSell = unless(
  isFulfilled(6),
  layout({ wallet: 1, asset: 4, auctionHouse: 5, currency: 9 }, ({ at, args, instruction, transaction }) => {
    const amount = { currency: currencyOf(optionalAccount(at.currency, instruction)), raw: args.u64() };
    return list({ seller: at.wallet, marketplace: at.auctionHouse, nft: at.asset, ...amount }, transaction);
  }),
);

const cancelSell = layout({ wallet: 0, mint: 3, auctionHouse: 5 }, ({ at, args, transaction }) => {
  const offer = { marketplace: at.auctionHouse, nft: at.mint, currency: SOL, raw: args.u64() };
  return listCancel({ seller: at.wallet, ...offer }, transaction);
});

const cancelSellAt = (positions: Omit<ListPositions, 'state'>): InstructionLayout =>
  layout(positions, ({ at, transaction }) =>
    listCancel({ seller: at.wallet, marketplace: at.auctionHouse, nft: at.mint }, transaction),
  );

const buy = (skipped: number): InstructionLayout =>
  unless(
    isFulfilled(7),
    layout({ wallet: 0, mint: 2, auctionHouse: 6 }, ({ at, args, transaction }) => {
      args.skipBytes(skipped);
      const offer = { marketplace: at.auctionHouse, nft: at.mint, currency: SOL, raw: args.u64() };
      return bid({ bidder: at.wallet, ...offer }, transaction);
    }),
  );

const cancelBuy = layout({ wallet: 0, mint: 2, auctionHouse: 4 }, ({ at, args, transaction }) => {
  const offer = { marketplace: at.auctionHouse, nft: at.mint, currency: SOL, raw: args.u64() };
  return bidCancel({ bidder: at.wallet, ...offer }, transaction);
});

type SalePositions = Readonly<{ buyer: number; seller: number; mint: number; auctionHouse: number }>;

const executeSale = (positions: SalePositions, skipped: number): InstructionLayout =>
  layout(positions, ({ at, args, transaction }) => {
    args.skipBytes(skipped);
    const offer = { marketplace: at.auctionHouse, nft: at.mint, currency: SOL, raw: args.u64() };
    return sale({ buyer: at.buyer, seller: at.seller, ...offer }, transaction);
  });

const extExecuteSale = layout(
  { buyer: 1, seller: 2, mint: 7, auctionHouse: 8, currency: 18 },
  ({ at, args, instruction, transaction }) => {
    const amount = { currency: currencyOf(optionalAccount(at.currency, instruction)), raw: args.u64() };
    const parties = { buyer: at.buyer, seller: at.seller };
    return sale({ ...parties, marketplace: at.auctionHouse, nft: at.mint, ...amount }, transaction);
  },
);

/** The arguments are not public: the price comes from the log. */
const coreExecuteSale = layout(
  { buyer: 1, seller: 2, asset: 5, auctionHouse: 6, currency: 16 },
  ({ at, instruction, transaction }) => {
    const currency = currencyOf(optionalAccount(at.currency, instruction));
    const raw = loggedNumber(instruction, transaction, 'price');
    const parties = { buyer: at.buyer, seller: at.seller };
    const offer = { marketplace: at.auctionHouse, nft: at.asset, currency, raw };
    return sale({ ...parties, ...offer }, transaction);
  },
);

const withdrawFromTreasury = layout(
  { destination: 0, treasury: 1, auctionHouse: 2 },
  ({ at, args, transaction }) => {
    const amount = { currency: SOL, raw: args.u64(), marketplace: at.auctionHouse };
    const accounts = { treasury: at.treasury, authority: null, destination: at.destination };
    return marketplaceWithdraw({ ...amount, ...accounts }, transaction);
  },
);

const read = anchorReader({
  sell: sell({ wallet: 0, mint: 4, auctionHouse: 7, state: 8 }, 2),
  mip1_sell: sell({ wallet: 0, mint: 4, auctionHouse: 6, state: 7 }, 0),
  ocp_sell: sell({ wallet: 0, mint: 4, auctionHouse: 6, state: 7 }, 0),
  core_sell: coreSell,
  cancel_sell: cancelSell,
  mip1_cancel_sell: cancelSellAt({ wallet: 0, mint: 4, auctionHouse: 6 }),
  ocp_cancel_sell: cancelSellAt({ wallet: 0, mint: 4, auctionHouse: 6 }),
  core_cancel_sell: cancelSellAt({ wallet: 1, mint: 4, auctionHouse: 5 }),
  ext_cancel_sell: cancelSellAt({ wallet: 1, mint: 6, auctionHouse: 7 }),
  buy: buy(2),
  buy_v2: buy(0),
  cancel_buy: cancelBuy,
  execute_sale_v2: executeSale({ buyer: 0, seller: 1, mint: 4, auctionHouse: 9 }, 2),
  mip1_execute_sale_v2: executeSale({ buyer: 1, seller: 2, mint: 7, auctionHouse: 9 }, 0),
  ocp_execute_sale_v2: executeSale({ buyer: 1, seller: 2, mint: 7, auctionHouse: 9 }, 0),
  core_execute_sale_v2: coreExecuteSale,
  ext_execute_sale_v2: extExecuteSale,
  withdraw_from_treasury: withdrawFromTreasury,
});

export const magicEden: ProgramParser = { name: 'MAGIC_EDEN_V2', read };
