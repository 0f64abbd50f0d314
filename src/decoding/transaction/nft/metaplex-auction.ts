import type { ProgramParser } from '../action.ts';
import { layout, numberedReader } from './instruction-layout.ts';
import { bid, currencyOf } from './nft-actions.ts';

/**
 * The auctions of Metaplex's first marketplace, on which Holaplex ran its stores. A bid names the auction and not
 * what is sold in it; who redeems what was won gets it by a transfer, without a price: only bids are told.
 * Source: metaplex-foundation/metaplex v1, `AuctionInstruction`; recorded transactions of Holaplex.
 */
const placeBid = layout({ bidder: 0, auction: 5, mint: 7 }, ({ at, args, transaction }) => {
  const amount = { currency: currencyOf(at.mint), raw: args.u64() };
  return bid({ bidder: at.bidder, marketplace: at.auction, nft: null, ...amount }, transaction);
});

/** The program of the auctions. */
export const metaplexAuction: ProgramParser = {
  name: 'METAPLEX_AUCTION',
  read: numberedReader({ 6: placeBid }),
};
