import type { ProgramParser } from '../action.ts';
import { cancel, currencyOfOffer, offerOf, withdrawFromTreasury } from './auction-house.ts';
import {
  anchorReader,
  fulfilledBy,
  type InstructionLayout,
  ignored,
  layout,
  unless,
} from './instruction-layout.ts';
import { bid, currencyOf, list, sale } from './nft-actions.ts';
import { mintedNfts } from './token-metadata.ts';

/**
 * Formfunction, a fork of Auction House: offers have their own instruction, a sale may cost more than
 * listed, and prints are sold when minted. Source: formfunction-hq/formfunction-monorepo 6d049d5,
 * packages/shared/src/constants/old-idls.
 */

const isFulfilled = fulfilledBy(['execute_sale_v2']);

const sell = layout({ wallet: 0, tokenAccount: 1, auctionHouse: 4, state: 6, mint: 8 }, (call) => {
  const { at, args, transaction } = call;
  // Bumps of trade state, free trade state and program signer.
  args.skipBytes(3);
  const terms = { price: args.u64(), size: args.u64() };
  const currency = currencyOfOffer(offerOf(call, at.mint, terms), transaction);
  const offer = { marketplace: at.auctionHouse, nft: at.mint, currency, raw: terms.price };
  return list({ seller: at.wallet, ...offer }, transaction);
});

const buy = layout({ wallet: 0, treasuryMint: 3, auctionHouse: 8, mint: 11 }, ({ at, args, transaction }) => {
  // Bumps of trade state and escrow.
  args.skipBytes(2);
  const amount = { currency: currencyOf(at.treasuryMint), raw: args.u64() };
  return bid({ bidder: at.wallet, marketplace: at.auctionHouse, nft: at.mint, ...amount }, transaction);
});

const executeSale = layout(
  { buyer: 0, seller: 1, mint: 3, treasuryMint: 5, auctionHouse: 10 },
  ({ at, args, transaction }) => {
    // Bumps of escrow, free trade state and program signer.
    args.skipBytes(3);
    // Buyer's price, which is paid; the seller's follows.
    const amount = { currency: currencyOf(at.treasuryMint), raw: args.u64() };
    const parties = { buyer: at.buyer, seller: at.seller };
    return sale({ ...parties, marketplace: at.auctionHouse, nft: at.mint, ...amount }, transaction);
  },
);

/** A buyer flagged as bot pays a tax and gets no print: no sale. */
const buyEdition: InstructionLayout = layout(
  { owner: 0, buyer: 3, treasuryMint: 4, auctionHouse: 6, print: 9 },
  ({ at, args, transaction }) => {
    if (transaction.err === null && !mintedNfts(transaction).has(at.print)) return null;
    // Bump and print number.
    args.skipBytes(1 + 8);
    const amount = { currency: currencyOf(at.treasuryMint), raw: args.u64() };
    const parties = { buyer: at.buyer, seller: at.owner };
    return sale({ ...parties, marketplace: at.auctionHouse, nft: at.print, ...amount }, transaction);
  },
);

const read = anchorReader({
  sell: unless(isFulfilled(6), sell),
  buy_v2: unless(isFulfilled(10), buy),
  cancel: cancel(4, 6),
  cancel_v2: cancel(4, 6),
  execute_sale_v2: executeSale,
  buy_edition_v2: buyEdition,
  withdraw_from_treasury: withdrawFromTreasury,
  create_trade_state: ignored,
  create_last_bid_price: ignored,
});

export const formfunction: ProgramParser = { name: 'FORMFUNCTION', read };
