import type { WritableJson } from '../../../base/json.ts';
import { type Address, addressBytes } from '../../../solana/address.ts';
import { isOnCurve } from '../../../solana/program-address.ts';
import { nativeMint, programs } from '../../../solana/programs.ts';
import { rawAmount, uiAmountOf } from '../../amounts.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';
import type { ParsedAction } from './instruction-layout.ts';

const SOL_DECIMALS = 9;
/** No amount: how a listing without a price of its own says so. */
const NO_PRICE = 2n ** 64n - 1n;

/** What a marketplace counts in: SOL is shown as the mint of wrapped SOL; null where nothing says it. */
export type Currency = Address | null;

/** SOL, as the interface shows it. */
export const SOL: Currency = nativeMint;

/** The mint that an instruction names, where SOL may stand as no mint at all. */
export const currencyOf = (mint: Address | null): Currency =>
  mint === null || mint === programs.system ? SOL : mint;

/**
 * An amount in whole units of its currency.
 * @param raw - base units.
 * @returns null where the transaction does not say the currency, or how many decimals it has.
 */
export function priceIn(
  currency: Currency,
  raw: bigint | null,
  { decimals }: ExecutedTransaction,
): number | null {
  if (currency === null || raw === null || raw === NO_PRICE) return null;
  const scale = currency === SOL ? SOL_DECIMALS : decimals.get(currency);
  return scale === undefined ? null : uiAmountOf(raw, scale);
}

/**
 * What is told of NFTs, with the members in the order of the interface. Source: rest-api.md §3.1. An address or a
 * price is null where the transaction does not say it.
 */

/** What was asked for or paid. `raw` in base units of `currency`. */
type CurrencyAmount = Readonly<{ currency: Currency; raw: bigint | null }>;

type Offer = CurrencyAmount & Readonly<{ marketplace: Address; nft: Address | null }>;

/** Somebody bought an NFT. */
export const sale = (
  of: Offer & Readonly<{ buyer: Address; seller: Address }>,
  transaction: ExecutedTransaction,
): ParsedAction => ({
  type: 'NFT_SALE',
  info: {
    ...{ buyer: of.buyer, seller: of.seller, nft_address: of.nft, currency: of.currency },
    ...{ marketplace: of.marketplace, price: priceIn(of.currency, of.raw, transaction) },
  },
});

const bidInfo = (of: Offer & Readonly<{ bidder: Address }>, transaction: ExecutedTransaction) => ({
  ...{ bidder: of.bidder, currency: of.currency, marketplace: of.marketplace },
  ...{ price: priceIn(of.currency, of.raw, transaction), nft_address: of.nft },
});

/** Somebody offers a price for an NFT. */
export const bid = (
  of: Offer & Readonly<{ bidder: Address }>,
  transaction: ExecutedTransaction,
): ParsedAction => ({
  type: 'NFT_BID',
  info: bidInfo(of, transaction),
});

/** An offer is taken back. */
export const bidCancel = (
  of: Offer & Readonly<{ bidder: Address }>,
  transaction: ExecutedTransaction,
): ParsedAction => ({
  type: 'NFT_BID_CANCEL',
  info: bidInfo(of, transaction),
});

const listInfo = (of: Offer & Readonly<{ seller: Address }>, transaction: ExecutedTransaction) => ({
  ...{ seller: of.seller, marketplace: of.marketplace, price: priceIn(of.currency, of.raw, transaction) },
  ...{ nft_address: of.nft, currency: of.currency },
});

/** An NFT is for sale. */
export const list = (
  of: Offer & Readonly<{ seller: Address }>,
  transaction: ExecutedTransaction,
): ParsedAction => ({
  type: 'NFT_LIST',
  info: listInfo(of, transaction),
});

/** An NFT is no longer for sale. */
export const listCancel = (
  of: Readonly<{ seller: Address; marketplace: Address; nft: Address | null }> & Partial<CurrencyAmount>,
  transaction: ExecutedTransaction,
): ParsedAction => ({
  type: 'NFT_LIST_CANCEL',
  info: {
    ...{ seller: of.seller, marketplace: of.marketplace, nft_address: of.nft },
    price: priceIn(of.currency ?? null, of.raw ?? null, transaction),
  },
});

/** An NFT that is for sale has another price; the old one is in no instruction. */
export const listUpdate = (
  of: Offer & Readonly<{ seller: Address }>,
  transaction: ExecutedTransaction,
): ParsedAction => ({
  type: 'NFT_LIST_UPDATE',
  info: {
    ...{ seller: of.seller, marketplace: of.marketplace, nft_address: of.nft, old_price: null },
    new_price: priceIn(of.currency, of.raw, transaction),
  },
});

/** A marketplace pays out what it earned. */
export const marketplaceWithdraw = (
  of: CurrencyAmount &
    Readonly<{ marketplace: Address; treasury: Address; authority: Address | null; destination: Address }>,
  transaction: ExecutedTransaction,
): ParsedAction => ({
  type: 'MARKETPLACE_WITHDRAW',
  info: {
    ...{ currency: of.currency, marketplace: of.marketplace, treasury_account: of.treasury },
    ...{ marketplace_authority: of.authority, withdrawal_destination_account: of.destination },
    amount: priceIn(of.currency, of.raw, transaction),
  },
});

/** An NFT was made. `tokenAccount` is null for one that is an account of its own. */
export const nftMint = (
  of: Readonly<{
    nft: Address;
    tokenAccount: Address | null;
    owner: Address | null;
    collection: Address | null;
  }>,
): ParsedAction => ({
  type: 'NFT_MINT',
  info: {
    ...{ nft_address: of.nft, amount: 1, amount_raw: rawAmount(1n) },
    ...{ owner_associated_account: of.tokenAccount, owner: of.owner, collection_address: of.collection },
  },
});

/** An NFT changed hands. */
export const nftTransfer = (
  of: Readonly<{
    nft: Address;
    sender: Address | null;
    receiver: Address | null;
    receiverAccount: Address | null;
  }>,
): ParsedAction => ({
  type: 'NFT_TRANSFER',
  info: {
    ...{ amount: 1, receiver: of.receiver, sender: of.sender },
    ...{ receiver_associated_account: of.receiverAccount, nft_address: of.nft },
  },
});

/** An NFT is no more. */
export const nftBurn = (of: Readonly<{ nft: Address; wallet: Address | null }>): ParsedAction => ({
  type: 'NFT_BURN',
  info: { wallet: of.wallet, nft_address: of.nft, amount: 1 },
});

/**
 * What is told of offers for compressed NFTs: those members of the interface that the instruction has, in its order.
 * Source: rest-api.md §3.1.
 */

/** Who may take an offer, and for how long; seconds. */
export type OfferTerms = Readonly<{ expiresIn: bigint | null; privateTaker: Address | null }>;

const compressedAction = (type: string, info: Readonly<Record<string, WritableJson>>): ParsedAction => ({
  type: `COMPRESSED_NFT_${type}`,
  info,
});

const expiry = ({ expiresIn, privateTaker }: OfferTerms) => ({
  ...{ expire_in_second: expiresIn === null ? null : rawAmount(expiresIn), private_taker: privateTaker },
});

/** A listing was bought. */
export const compressedSale = (
  of: CurrencyAmount &
    Readonly<{ buyer: Address; seller: Address; listState: Address; marketplace: Address }> &
    Readonly<{ tree: Address; nft: Address; royaltyPercent: number | null }>,
  transaction: ExecutedTransaction,
): ParsedAction =>
  compressedAction('SALE', {
    ...{ buyer: of.buyer, seller: of.seller, currency: of.currency, list_state: of.listState },
    ...{ marketplace: of.marketplace, merkle_tree: of.tree, nft_address: of.nft },
    ...{ price: priceIn(of.currency, of.raw, transaction), royalty_percentage: of.royaltyPercent },
  });

/** A bid was accepted. */
export const compressedTakeBid = (
  of: CurrencyAmount &
    Readonly<{ buyer: Address; seller: Address; bidState: Address; marketplace: Address }> &
    Readonly<{ tree: Address; nft: Address; royaltyPercent: number | null }>,
  transaction: ExecutedTransaction,
): ParsedAction =>
  compressedAction('TAKE_BID', {
    ...{ buyer: of.buyer, seller: of.seller, currency: of.currency, marketplace: of.marketplace },
    ...{ merkle_tree: of.tree, nft_address: of.nft, price: priceIn(of.currency, of.raw, transaction) },
    ...{ royalty_percentage: of.royaltyPercent, bid_state: of.bidState },
  });

/** It is for sale. */
export const compressedList = (
  of: CurrencyAmount &
    OfferTerms &
    Readonly<{ seller: Address; listState: Address; marketplace: Address; tree: Address; nft: Address }>,
  transaction: ExecutedTransaction,
): ParsedAction =>
  compressedAction('LIST', {
    ...{ seller: of.seller, currency: of.currency, list_state: of.listState, marketplace: of.marketplace },
    ...{ merkle_tree: of.tree, nft_address: of.nft, price: priceIn(of.currency, of.raw, transaction) },
    ...expiry(of),
  });

/** It is no longer for sale. */
export const compressedListCancel = (
  of: Readonly<{ seller: Address; listState: Address; marketplace: Address; tree: Address; nft: Address }>,
): ParsedAction =>
  compressedAction('LIST_CANCEL', {
    ...{ seller: of.seller, list_state: of.listState, marketplace: of.marketplace },
    ...{ merkle_tree: of.tree, nft_address: of.nft },
  });

/** Its listing has other terms. */
export const compressedListUpdate = (
  of: CurrencyAmount &
    OfferTerms &
    Readonly<{ seller: Address; listState: Address; marketplace: Address; nft: Address | null }>,
  transaction: ExecutedTransaction,
): ParsedAction =>
  compressedAction('LIST_UPDATE', {
    ...{ seller: of.seller, currency: of.currency, list_state: of.listState, marketplace: of.marketplace },
    ...{ nft_address: of.nft, price: priceIn(of.currency, of.raw, transaction), ...expiry(of) },
  });

/** Somebody offers a price for one, or for some of a collection. */
export const compressedBid = (
  of: CurrencyAmount &
    OfferTerms &
    Readonly<{ bidder: Address; bidState: Address; marketplace: Address }> &
    Readonly<{ target: string; targetId: Address; quantity: number }>,
  transaction: ExecutedTransaction,
): ParsedAction =>
  compressedAction('BID', {
    ...{
      currency: of.currency,
      marketplace: of.marketplace,
      price: priceIn(of.currency, of.raw, transaction),
    },
    ...{ ...expiry(of), bid_state: of.bidState, bidder: of.bidder },
    ...{ target: of.target, target_id: of.targetId, quantity: of.quantity },
  });

/** The offer is taken back. */
export const compressedBidCancel = (
  of: Readonly<{ bidder: Address; bidState: Address; marketplace: Address }>,
): ParsedAction =>
  compressedAction('BID_CANCEL', { marketplace: of.marketplace, bid_state: of.bidState, bidder: of.bidder });

/**
 * Whether an NFT that only its address is known of may be a compressed one: theirs are derived, and never on the
 * curve; the mints of plain NFTs are key pairs.
 */
export const mayBeCompressed = (nft: Address): boolean => !isOnCurve(addressBytes(nft));
