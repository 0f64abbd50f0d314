import { type Address, addressBytes } from '../../../solana/address.ts';
import { isDerivedFrom, u64Seed } from '../../../solana/program-address.ts';
import { nativeMint, programs } from '../../../solana/programs.ts';
import type { ProgramParser } from '../action.ts';
import {
  anchorReader,
  type Call,
  fulfilledBy,
  type InstructionLayout,
  ignored,
  layout,
  optional,
  unless,
} from './instruction-layout.ts';
import { type Currency, currencyOf, nftAction, priced, statedPrice } from './nft-actions.ts';

const CURRENCIES_TRIED = 4;

const PREFIX = Buffer.from('auction_house');

type OfferCall = Call<'wallet' | 'tokenAccount' | 'marketplace' | 'state'>;

type Terms = Readonly<{ price: bigint; size: bigint }>;

/** Tries the seeds with and without the token account, because public bids are not bound to a token account. */
function isTradeState(
  { at, instruction: { program } }: OfferCall,
  mint: Address,
  { price, size }: Terms,
  currency: Address,
): boolean {
  const first = [PREFIX, addressBytes(at.wallet), addressBytes(at.marketplace)];
  const last = [addressBytes(currency), addressBytes(mint), u64Seed(price), u64Seed(size)];
  return (
    isDerivedFrom(at.state, [...first, addressBytes(at.tokenAccount), ...last], program) ||
    isDerivedFrom(at.state, [...first, ...last], program)
  );
}

/**
 * Finds the currency from which the trade state address is derived, by trying SOL and mints in the transaction. Source:
 * mpl-auction-house, `find_trade_state_address`.
 */
export function currencyOfOffer(call: OfferCall, mint: Address, terms: Terms): Currency {
  const mints = [...call.transaction.decimals.keys()];
  const others = mints.filter((other) => other !== nativeMint && other !== mint);
  const candidates = [nativeMint, ...others.slice(0, CURRENCIES_TRIED)];
  return candidates.find((candidate) => isTradeState(call, mint, terms, candidate)) ?? null;
}

const associatedSeeds = (wallet: Address, mint: Address): Uint8Array[] =>
  [wallet, programs.token, mint].map(addressBytes);

/** True for an offer from the NFT holder; all other offers are bids. null if the holder is unknown. */
function isListing({ at, transaction }: OfferCall, mint: Address): boolean | null {
  const owner = transaction.tokenAccounts.get(at.tokenAccount)?.owner ?? null;
  if (owner !== null) return owner === at.wallet;
  return isDerivedFrom(at.tokenAccount, associatedSeeds(at.wallet, mint), programs.ata) ? true : null;
}

// Metaplex Auction House. Offers are accounts (trade states); a sale takes one offer from each side. Auctioneer
// instructions have one more account before the auction house. Source: metaplex-foundation/metaplex-program-library
// 27bd23f, auction-house/js/idl/auction_house.json.

const isFulfilled = fulfilledBy([
  ...['execute_sale', 'execute_partial_sale'],
  ...['auctioneer_execute_sale', 'auctioneer_execute_partial_sale'],
]);

const mintOf = ({ at, transaction }: OfferCall): Address | null =>
  transaction.tokenAccounts.get(at.tokenAccount)?.mint ?? null;

export function readTerms({ args }: Pick<Call<never>, 'args'>, bumps: number): Terms {
  args.skipBytes(bumps);
  return { price: args.u64(), size: args.u64() };
}

const sell = layout({ wallet: 0, tokenAccount: 1, marketplace: 4, state: 6 }, (call) => {
  const { at, transaction } = call;
  const terms = readTerms(call, 3);
  const mint = mintOf(call);
  const currency = mint === null ? null : currencyOfOffer(call, mint, terms);
  const amount = priced(currency, terms.price, transaction);
  return nftAction('NFT_LIST', { ...at, seller: at.wallet, nft_address: mint, ...amount });
});

/** An auction has no price until it ends. */
const auctioneerSell = layout({ wallet: 0, tokenAccount: 1, marketplace: 5, state: 7 }, (call) => {
  const unpriced = { currency: null, price: null };
  return nftAction('NFT_LIST', {
    ...call.at,
    ...{ seller: call.at.wallet, nft_address: mintOf(call), ...unpriced },
  });
});

const buy = (marketplaceAt: number, stateAt: number): InstructionLayout =>
  unless(
    isFulfilled(stateAt),
    layout(
      { wallet: 0, treasuryMint: 3, tokenAccount: 4, marketplace: marketplaceAt, state: stateAt },
      (call) => {
        const { at, transaction } = call;
        const amount = priced(currencyOf(at.treasuryMint), readTerms(call, 2).price, transaction);
        return nftAction('NFT_BID', { ...at, bidder: at.wallet, nft_address: mintOf(call), ...amount });
      },
    ),
  );

export const cancel = (marketplaceAt: number, stateAt: number): InstructionLayout =>
  layout(
    { wallet: 0, tokenAccount: 1, nft_address: 2, marketplace: marketplaceAt, state: stateAt },
    (call) => {
      const { at, transaction } = call;
      const terms = readTerms(call, 0);
      const isListed = isListing(call, at.nft_address);
      if (isListed === null) return null;
      const amount = priced(currencyOfOffer(call, at.nft_address, terms), terms.price, transaction);
      return isListed
        ? nftAction('NFT_LIST_CANCEL', { ...at, seller: at.wallet, ...amount })
        : nftAction('NFT_BID_CANCEL', { ...at, bidder: at.wallet, ...amount });
    },
  );

const executeSale = (marketplaceAt: number, partial: boolean): InstructionLayout =>
  layout({ buyer: 0, seller: 1, nft_address: 3, treasuryMint: 5, marketplace: marketplaceAt }, (call) => {
    const { at, args, transaction } = call;
    const { price } = readTerms(call, 3);
    if (partial) optional(args, (some) => some.u64());
    const part = partial ? optional(args, (some) => some.u64()) : null;
    return nftAction('NFT_SALE', {
      ...at,
      ...priced(currencyOf(at.treasuryMint), part ?? price, transaction),
    });
  });

export const withdrawFromTreasury: InstructionLayout = layout(
  {
    ...{ treasuryMint: 0, marketplace_authority: 1, withdrawal_destination_account: 2 },
    ...{ treasury_account: 3, marketplace: 4 },
  },
  (call) => {
    const { currency, price: amount } = statedPrice(call, currencyOf(call.at.treasuryMint));
    return nftAction('MARKETPLACE_WITHDRAW', { ...call.at, currency, amount });
  },
);

const read = anchorReader({
  sell: unless(isFulfilled(6), sell),
  auctioneer_sell: unless(isFulfilled(7), auctioneerSell),
  'buy public_buy': buy(8, 10),
  'auctioneer_buy auctioneer_public_buy': buy(9, 11),
  cancel: cancel(4, 6),
  auctioneer_cancel: cancel(5, 7),
  execute_sale: executeSale(10, false),
  execute_partial_sale: executeSale(10, true),
  auctioneer_execute_sale: executeSale(11, false),
  auctioneer_execute_partial_sale: executeSale(11, true),
  withdraw_from_treasury: withdrawFromTreasury,
  // A receipt only repeats the offer or the sale.
  'print_listing_receipt cancel_listing_receipt print_bid_receipt cancel_bid_receipt': ignored,
  print_purchase_receipt: ignored,
});

export const auctionHouse: ProgramParser = { name: 'AUCTION_HOUSE', read };
