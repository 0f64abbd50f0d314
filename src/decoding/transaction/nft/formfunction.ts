import type { ProgramParser } from '../action.ts';
import { cancel, currencyOfOffer, readTerms, withdrawFromTreasury } from './auction-house.ts';
import { anchorReader, fulfilledBy, ignored, layout, unless } from './instruction-layout.ts';
import { currencyOf, nftAction, priced, statedPrice } from './nft-actions.ts';
import { mintedNfts } from './token-metadata.ts';

// Formfunction, a fork of Auction House: trade states are created by a separate instruction, the price paid may exceed
// the listed price, and prints are sold when minted. Source: formfunction-hq/formfunction-monorepo 6d049d5,
// packages/shared/src/constants/old-idls.

const isFulfilled = fulfilledBy(['execute_sale_v2']);

const sell = layout({ wallet: 0, tokenAccount: 1, marketplace: 4, state: 6, nft_address: 8 }, (call) => {
  const { at, transaction } = call;
  // Skip the bumps of trade state, free trade state and program signer.
  const terms = readTerms(call, 3);
  const amount = priced(currencyOfOffer(call, at.nft_address, terms), terms.price, transaction);
  return nftAction('NFT_LIST', { ...at, seller: at.wallet, ...amount });
});

const buy = layout({ bidder: 0, treasuryMint: 3, marketplace: 8, nft_address: 11 }, (call) =>
  // Skip the bumps of trade state and escrow.
  nftAction('NFT_BID', { ...call.at, ...statedPrice(call, currencyOf(call.at.treasuryMint), 2) }),
);

const executeSale = layout(
  { buyer: 0, seller: 1, nft_address: 3, treasuryMint: 5, marketplace: 10 },
  // Skip the bumps of escrow, free trade state and program signer. The price that the buyer pays follows.
  (call) => nftAction('NFT_SALE', { ...call.at, ...statedPrice(call, currencyOf(call.at.treasuryMint), 3) }),
);

/** If the buyer is flagged as a bot, there is no sale: the buyer pays a tax and gets no print. */
const buyEdition = layout(
  { seller: 0, buyer: 3, treasuryMint: 4, marketplace: 6, nft_address: 9 },
  (call) => {
    const { at, transaction } = call;
    if (transaction.err === null && !mintedNfts(transaction).has(at.nft_address)) return null;
    // Skip the bump and the print number.
    return nftAction('NFT_SALE', { ...at, ...statedPrice(call, currencyOf(at.treasuryMint), 1 + 8) });
  },
);

const read = anchorReader({
  sell: unless(isFulfilled(6), sell),
  buy_v2: unless(isFulfilled(10), buy),
  'cancel cancel_v2': cancel(4, 6),
  execute_sale_v2: executeSale,
  buy_edition_v2: buyEdition,
  withdraw_from_treasury: withdrawFromTreasury,
  'create_trade_state create_last_bid_price': ignored,
});

export const formfunction: ProgramParser = { name: 'FORMFUNCTION', read };
