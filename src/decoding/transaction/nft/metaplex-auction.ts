import type { ProgramParser } from '../action.ts';
import { layout, numberedReader } from './instruction-layout.ts';
import { bid, currencyOf } from './nft-actions.ts';

/**
 * Metaplex v1 auctions, used by Holaplex stores. A bid does not name the NFT, and redeeming is a plain
 * transfer: only bids are shown. Source: metaplex-foundation/metaplex v1, `AuctionInstruction`; recorded
 * transactions of Holaplex.
 */
const placeBid = layout({ bidder: 0, auction: 5, mint: 7 }, ({ at, args, transaction }) => {
  const amount = { currency: currencyOf(at.mint), raw: args.u64() };
  return bid({ bidder: at.bidder, marketplace: at.auction, nft: null, ...amount }, transaction);
});

export const metaplexAuction: ProgramParser = {
  name: 'METAPLEX_AUCTION',
  read: numberedReader({ 6: placeBid }),
};
