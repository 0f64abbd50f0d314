import { type Address, addressBytes } from '../../../solana/address.ts';
import { isDerivedFrom, u64Seed } from '../../../solana/program-address.ts';
import { nativeMint, programs } from '../../../solana/programs.ts';
import type { ProgramParser } from '../action.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';
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
import {
  bid,
  bidCancel,
  type Currency,
  currencyOf,
  list,
  listCancel,
  marketplaceWithdraw,
  sale,
} from './nft-actions.ts';

const CURRENCIES_TRIED = 4;

const PREFIX = Buffer.from('auction_house');

type TradeState = Readonly<{
  program: Address;
  account: Address;
  wallet: Address;
  auctionHouse: Address;
  tokenAccount: Address;
  mint: Address;
  /** Base units. */
  price: bigint;
  size: bigint;
}>;

/** Public bids are not bound to a token account. */
function isIn(state: TradeState, currency: Address): boolean {
  const { account, program, wallet, auctionHouse, tokenAccount, mint, price, size } = state;
  const first = [PREFIX, addressBytes(wallet), addressBytes(auctionHouse)];
  const last = [addressBytes(currency), addressBytes(mint), u64Seed(price), u64Seed(size)];
  return (
    isDerivedFrom(account, [...first, addressBytes(tokenAccount), ...last], program) ||
    isDerivedFrom(account, [...first, ...last], program)
  );
}

/**
 * Finds the currency of an offer: the trade state address derives from it. Source: mpl-auction-house,
 * `find_trade_state_address`.
 * @returns null when neither SOL nor a mint of the transaction matches.
 */
export function currencyOfOffer(state: TradeState, { decimals }: ExecutedTransaction): Currency {
  const others = [...decimals.keys()].filter((mint) => mint !== nativeMint && mint !== state.mint);
  const candidates = [nativeMint, ...others.slice(0, CURRENCIES_TRIED)];
  return candidates.find((candidate) => isIn(state, candidate)) ?? null;
}

const associatedSeeds = (wallet: Address, mint: Address): Uint8Array[] =>
  [wallet, programs.token, mint].map(addressBytes);

/**
 * An offer by the NFT holder is a listing; any other is a bid.
 * @returns null when the holder is unknown.
 */
function isListing(
  { wallet, tokenAccount, mint }: Pick<TradeState, 'wallet' | 'tokenAccount' | 'mint'>,
  { tokenAccounts }: ExecutedTransaction,
): boolean | null {
  const owner = tokenAccounts.get(tokenAccount)?.owner ?? null;
  if (owner !== null) return owner === wallet;
  return isDerivedFrom(tokenAccount, associatedSeeds(wallet, mint), programs.ata) ? true : null;
}

/**
 * Metaplex Auction House. Offers are accounts (trade states); a sale takes one of each side. Prices are in
 * base units of the treasury mint. Auctioneer instructions have one more account before the auction house.
 * Source: metaplex-foundation/metaplex-program-library 27bd23f, auction-house/js/idl/auction_house.json.
 */

const isFulfilled = fulfilledBy([
  ...['execute_sale', 'execute_partial_sale'],
  ...['auctioneer_execute_sale', 'auctioneer_execute_partial_sale'],
]);

type OfferCall = Call<'wallet' | 'tokenAccount' | 'auctionHouse' | 'state'>;

const mintOf = ({ at, transaction }: Pick<OfferCall, 'at' | 'transaction'>): Address | null =>
  transaction.tokenAccounts.get(at.tokenAccount)?.mint ?? null;

export const offerOf = (
  { at, instruction }: Pick<OfferCall, 'at' | 'instruction'>,
  mint: Address,
  { price, size }: Pick<TradeState, 'price' | 'size'>,
): TradeState => ({
  ...{ program: instruction.program, account: at.state, wallet: at.wallet, auctionHouse: at.auctionHouse },
  ...{ tokenAccount: at.tokenAccount, mint, price, size },
});

const terms = ({ args }: Pick<OfferCall, 'args'>, bumps: number) => {
  args.skipBytes(bumps);
  return { price: args.u64(), size: args.u64() };
};

const sell = layout({ wallet: 0, tokenAccount: 1, auctionHouse: 4, state: 6 }, (call) => {
  const { at, transaction } = call;
  const { price, size } = terms(call, 3);
  const nft = mintOf(call);
  const currency = nft === null ? null : currencyOfOffer(offerOf(call, nft, { price, size }), transaction);
  return list({ seller: at.wallet, marketplace: at.auctionHouse, nft, currency, raw: price }, transaction);
});

/** An auction has no price until it ends. */
const auctioneerSell = layout({ wallet: 0, tokenAccount: 1, auctionHouse: 5, state: 7 }, (call) => {
  const { at, transaction } = call;
  const offer = { marketplace: at.auctionHouse, nft: mintOf(call), currency: null, raw: null };
  return list({ seller: at.wallet, ...offer }, transaction);
});

const buy = (auctionHouseAt: number, stateAt: number): InstructionLayout =>
  unless(
    isFulfilled(stateAt),
    layout(
      { wallet: 0, treasuryMint: 3, tokenAccount: 4, auctionHouse: auctionHouseAt, state: stateAt },
      (call) => {
        const { at, transaction } = call;
        const amount = { currency: currencyOf(at.treasuryMint), raw: terms(call, 2).price };
        const offer = { bidder: at.wallet, marketplace: at.auctionHouse, nft: mintOf(call) };
        return bid({ ...offer, ...amount }, transaction);
      },
    ),
  );

export const cancel = (auctionHouseAt: number, stateAt: number): InstructionLayout =>
  layout({ wallet: 0, tokenAccount: 1, mint: 2, auctionHouse: auctionHouseAt, state: stateAt }, (call) => {
    const { at, transaction } = call;
    const { price, size } = terms(call, 0);
    const listed = isListing(at, transaction);
    if (listed === null) return null;
    const currency = currencyOfOffer(offerOf(call, at.mint, { price, size }), transaction);
    const offer = { marketplace: at.auctionHouse, nft: at.mint, currency, raw: price };
    return listed
      ? listCancel({ seller: at.wallet, ...offer }, transaction)
      : bidCancel({ bidder: at.wallet, ...offer }, transaction);
  });

const executeSale = (auctionHouseAt: number, partial: boolean): InstructionLayout =>
  layout({ buyer: 0, seller: 1, mint: 3, treasuryMint: 5, auctionHouse: auctionHouseAt }, (call) => {
    const { at, args, transaction } = call;
    const { price } = terms(call, 3);
    if (partial) optional(args, (some) => some.u64());
    const part = partial ? optional(args, (some) => some.u64()) : null;
    const amount = { currency: currencyOf(at.treasuryMint), raw: part ?? price };
    const parties = { buyer: at.buyer, seller: at.seller };
    return sale({ ...parties, marketplace: at.auctionHouse, nft: at.mint, ...amount }, transaction);
  });

export const withdrawFromTreasury: InstructionLayout = layout(
  { treasuryMint: 0, authority: 1, destination: 2, treasury: 3, auctionHouse: 4 },
  ({ at, args, transaction }) => {
    const amount = { currency: currencyOf(at.treasuryMint), raw: args.u64() };
    const accounts = { treasury: at.treasury, authority: at.authority, destination: at.destination };
    return marketplaceWithdraw({ ...amount, marketplace: at.auctionHouse, ...accounts }, transaction);
  },
);

const read = anchorReader({
  sell: unless(isFulfilled(6), sell),
  auctioneer_sell: unless(isFulfilled(7), auctioneerSell),
  buy: buy(8, 10),
  public_buy: buy(8, 10),
  auctioneer_buy: buy(9, 11),
  auctioneer_public_buy: buy(9, 11),
  cancel: cancel(4, 6),
  auctioneer_cancel: cancel(5, 7),
  execute_sale: executeSale(10, false),
  execute_partial_sale: executeSale(10, true),
  auctioneer_execute_sale: executeSale(11, false),
  auctioneer_execute_partial_sale: executeSale(11, true),
  withdraw_from_treasury: withdrawFromTreasury,
  // Receipts repeat their offer.
  print_listing_receipt: ignored,
  cancel_listing_receipt: ignored,
  print_bid_receipt: ignored,
  cancel_bid_receipt: ignored,
  print_purchase_receipt: ignored,
});

export const auctionHouse: ProgramParser = { name: 'AUCTION_HOUSE', read };
