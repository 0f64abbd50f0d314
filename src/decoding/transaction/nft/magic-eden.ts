import { address } from '../../../solana/address.ts';
import type { ProgramParser } from '../action.ts';
import { anchorReader, fulfilledBy, type InstructionLayout, layout, unless } from './instruction-layout.ts';
import { nftAction, optionalCurrency, priced, SOL, statedPrice } from './nft-actions.ts';
import { loggedNumber } from './program-logs.ts';

/**
 * Magic Eden v2 (M2) trades legacy NFTs, programmable NFTs (`mip1_`), Open Creator Protocol (`ocp_`), MPL Core
 * (`core_`) and Token-2022 (`ext_`). Prices are in lamports unless the instruction names a mint. Source:
 * me-foundation/m2 553914e, src/idl/m2.json; published decoders for `core_` and `ext_`. Instructions without a public
 * layout are UNKNOWN.
 */
export const magicEdenProgram = address('M2mx93ekt1fmXSVkTrUL9xVFHkmME8HTUi5Cyc5aF7K');

const isFulfilled = fulfilledBy([
  ...['execute_sale_v2', 'mip1_execute_sale_v2', 'ocp_execute_sale_v2'],
  ...['core_execute_sale_v2', 'ext_execute_sale_v2'],
]);

type Positions<Name extends string> = Readonly<Record<Name, number>>;

const sell = (
  positions: Positions<'seller' | 'nft_address' | 'marketplace' | 'state'>,
  bumps = 0,
): InstructionLayout =>
  unless(
    isFulfilled(positions.state),
    layout(positions, (call) => nftAction('NFT_LIST', { ...call.at, ...statedPrice(call, SOL, bumps) })),
  );

const coreSell = unless(
  isFulfilled(6),
  layout({ seller: 1, nft_address: 4, marketplace: 5, currency: 9 }, (call) =>
    nftAction('NFT_LIST', { ...call.at, ...statedPrice(call, optionalCurrency(call)) }),
  ),
);

const cancelSell = layout({ seller: 0, nft_address: 3, marketplace: 5 }, (call) =>
  nftAction('NFT_LIST_CANCEL', { ...call.at, ...statedPrice(call) }),
);

const cancelSellAt = (positions: Positions<'seller' | 'nft_address' | 'marketplace'>): InstructionLayout =>
  layout(positions, ({ at }) => nftAction('NFT_LIST_CANCEL', { ...at, price: null }));

const buy = (bumps: number): InstructionLayout =>
  unless(
    isFulfilled(7),
    layout({ bidder: 0, nft_address: 2, marketplace: 6 }, (call) =>
      nftAction('NFT_BID', { ...call.at, ...statedPrice(call, SOL, bumps) }),
    ),
  );

const cancelBuy = layout({ bidder: 0, nft_address: 2, marketplace: 4 }, (call) =>
  nftAction('NFT_BID_CANCEL', { ...call.at, ...statedPrice(call) }),
);

const executeSale = (
  positions: Positions<'buyer' | 'seller' | 'nft_address' | 'marketplace'>,
  bumps = 0,
): InstructionLayout =>
  layout(positions, (call) => nftAction('NFT_SALE', { ...call.at, ...statedPrice(call, SOL, bumps) }));

const extExecuteSale = layout({ buyer: 1, seller: 2, nft_address: 7, marketplace: 8, currency: 18 }, (call) =>
  nftAction('NFT_SALE', { ...call.at, ...statedPrice(call, optionalCurrency(call)) }),
);

/** The layout of the arguments is not public, so the price is taken from the log. */
const coreExecuteSale = layout(
  { buyer: 1, seller: 2, nft_address: 5, marketplace: 6, currency: 16 },
  (call) => {
    const amount = priced(optionalCurrency(call), loggedNumber(call, 'price'), call.transaction);
    return nftAction('NFT_SALE', { ...call.at, ...amount });
  },
);

const withdrawFromTreasury = layout(
  { withdrawal_destination_account: 0, treasury_account: 1, marketplace: 2 },
  (call) => {
    const { currency, price: amount } = statedPrice(call);
    return nftAction('MARKETPLACE_WITHDRAW', { ...call.at, currency, amount, marketplace_authority: null });
  },
);

const read = anchorReader({
  sell: sell({ seller: 0, nft_address: 4, marketplace: 7, state: 8 }, 2),
  'mip1_sell ocp_sell': sell({ seller: 0, nft_address: 4, marketplace: 6, state: 7 }),
  core_sell: coreSell,
  cancel_sell: cancelSell,
  'mip1_cancel_sell ocp_cancel_sell': cancelSellAt({ seller: 0, nft_address: 4, marketplace: 6 }),
  core_cancel_sell: cancelSellAt({ seller: 1, nft_address: 4, marketplace: 5 }),
  ext_cancel_sell: cancelSellAt({ seller: 1, nft_address: 6, marketplace: 7 }),
  buy: buy(2),
  buy_v2: buy(0),
  cancel_buy: cancelBuy,
  execute_sale_v2: executeSale({ buyer: 0, seller: 1, nft_address: 4, marketplace: 9 }, 2),
  'mip1_execute_sale_v2 ocp_execute_sale_v2': executeSale({
    ...{ buyer: 1, seller: 2, nft_address: 7, marketplace: 9 },
  }),
  core_execute_sale_v2: coreExecuteSale,
  ext_execute_sale_v2: extExecuteSale,
  withdraw_from_treasury: withdrawFromTreasury,
});

export const magicEden: ProgramParser = { name: 'MAGIC_EDEN_V2', read };
