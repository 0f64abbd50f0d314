import type { WritableJson } from '../../../base/json.ts';
import { type Address, addressBytes } from '../../../solana/address.ts';
import { isOnCurve } from '../../../solana/program-address.ts';
import { nativeMint, programs } from '../../../solana/programs.ts';
import { rawAmount, uiAmountOf } from '../../amounts.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';
import type { ParsedAction } from './instruction-layout.ts';

const SOL_DECIMALS = 9;
/** Price of a listing without a price. */
const NO_PRICE = 2n ** 64n - 1n;

/** Mint of the currency, wrapped SOL for SOL; null when unknown. */
export type Currency = Address | null;

export const SOL: Currency = nativeMint;

/** No mint or the system program means SOL. */
export const currencyOf = (mint: Address | null): Currency =>
  mint === null || mint === programs.system ? SOL : mint;

/**
 * @param raw - base units.
 * @returns null when currency or decimals are unknown.
 */
function uiPriceOf(currency: Currency, raw: bigint | null, { decimals }: ExecutedTransaction): number | null {
  if (currency === null || raw === null || raw === NO_PRICE) return null;
  const scale = currency === SOL ? SOL_DECIMALS : decimals.get(currency);
  return scale === undefined ? null : uiAmountOf(raw, scale);
}

/** NFT actions with members in the order of rest-api.md §3.1. Unknown addresses and prices are null. */

type CurrencyAmount = Readonly<{ currency: Currency; raw: bigint | null }>;

type Offer = CurrencyAmount & Readonly<{ marketplace: Address; nft: Address | null }>;

export const sale = (
  details: Offer & Readonly<{ buyer: Address; seller: Address }>,
  transaction: ExecutedTransaction,
): ParsedAction => ({
  type: 'NFT_SALE',
  info: {
    ...{ buyer: details.buyer, seller: details.seller, nft_address: details.nft, currency: details.currency },
    ...{ marketplace: details.marketplace, price: uiPriceOf(details.currency, details.raw, transaction) },
  },
});

const bidInfo = (details: Offer & Readonly<{ bidder: Address }>, transaction: ExecutedTransaction) => ({
  ...{ bidder: details.bidder, currency: details.currency, marketplace: details.marketplace },
  ...{ price: uiPriceOf(details.currency, details.raw, transaction), nft_address: details.nft },
});

export const bid = (
  details: Offer & Readonly<{ bidder: Address }>,
  transaction: ExecutedTransaction,
): ParsedAction => ({
  type: 'NFT_BID',
  info: bidInfo(details, transaction),
});

export const bidCancel = (
  details: Offer & Readonly<{ bidder: Address }>,
  transaction: ExecutedTransaction,
): ParsedAction => ({
  type: 'NFT_BID_CANCEL',
  info: bidInfo(details, transaction),
});

const listInfo = (details: Offer & Readonly<{ seller: Address }>, transaction: ExecutedTransaction) => ({
  ...{
    seller: details.seller,
    marketplace: details.marketplace,
    price: uiPriceOf(details.currency, details.raw, transaction),
  },
  ...{ nft_address: details.nft, currency: details.currency },
});

export const list = (
  details: Offer & Readonly<{ seller: Address }>,
  transaction: ExecutedTransaction,
): ParsedAction => ({
  type: 'NFT_LIST',
  info: listInfo(details, transaction),
});

export const listCancel = (
  details: Readonly<{ seller: Address; marketplace: Address; nft: Address | null }> & Partial<CurrencyAmount>,
  transaction: ExecutedTransaction,
): ParsedAction => ({
  type: 'NFT_LIST_CANCEL',
  info: {
    ...{ seller: details.seller, marketplace: details.marketplace, nft_address: details.nft },
    price: uiPriceOf(details.currency ?? null, details.raw ?? null, transaction),
  },
});

/** The old price is in no instruction. */
export const listUpdate = (
  details: Offer & Readonly<{ seller: Address }>,
  transaction: ExecutedTransaction,
): ParsedAction => ({
  type: 'NFT_LIST_UPDATE',
  info: {
    ...{
      seller: details.seller,
      marketplace: details.marketplace,
      nft_address: details.nft,
      old_price: null,
    },
    new_price: uiPriceOf(details.currency, details.raw, transaction),
  },
});

export const marketplaceWithdraw = (
  details: CurrencyAmount &
    Readonly<{ marketplace: Address; treasury: Address; authority: Address | null; destination: Address }>,
  transaction: ExecutedTransaction,
): ParsedAction => ({
  type: 'MARKETPLACE_WITHDRAW',
  info: {
    ...{ currency: details.currency, marketplace: details.marketplace, treasury_account: details.treasury },
    ...{ marketplace_authority: details.authority, withdrawal_destination_account: details.destination },
    amount: uiPriceOf(details.currency, details.raw, transaction),
  },
});

export const nftMint = (
  details: Readonly<{
    nft: Address;
    tokenAccount: Address | null;
    owner: Address | null;
    collection: Address | null;
  }>,
): ParsedAction => ({
  type: 'NFT_MINT',
  info: {
    ...{ nft_address: details.nft, amount: 1, amount_raw: rawAmount(1n) },
    ...{
      owner_associated_account: details.tokenAccount,
      owner: details.owner,
      collection_address: details.collection,
    },
  },
});

export const nftTransfer = (
  details: Readonly<{
    nft: Address;
    sender: Address | null;
    receiver: Address | null;
    receiverAccount: Address | null;
  }>,
): ParsedAction => ({
  type: 'NFT_TRANSFER',
  info: {
    ...{ amount: 1, receiver: details.receiver, sender: details.sender },
    ...{ receiver_associated_account: details.receiverAccount, nft_address: details.nft },
  },
});

export const nftBurn = (details: Readonly<{ nft: Address; wallet: Address | null }>): ParsedAction => ({
  type: 'NFT_BURN',
  info: { wallet: details.wallet, nft_address: details.nft, amount: 1 },
});

/** Compressed NFT offers: the members of rest-api.md §3.1 that the instruction has, in its order. */

/** `expiresIn` in seconds. */
export type OfferTerms = Readonly<{ expiresIn: bigint | null; privateTaker: Address | null }>;

const compressedAction = (type: string, info: Readonly<Record<string, WritableJson>>): ParsedAction => ({
  type: `COMPRESSED_NFT_${type}`,
  info,
});

const expiry = ({ expiresIn, privateTaker }: OfferTerms) => ({
  ...{ expire_in_second: expiresIn === null ? null : rawAmount(expiresIn), private_taker: privateTaker },
});

export const compressedSale = (
  details: CurrencyAmount &
    Readonly<{ buyer: Address; seller: Address; listState: Address; marketplace: Address }> &
    Readonly<{ tree: Address; nft: Address; royaltyPercent: number | null }>,
  transaction: ExecutedTransaction,
): ParsedAction =>
  compressedAction('SALE', {
    ...{
      buyer: details.buyer,
      seller: details.seller,
      currency: details.currency,
      list_state: details.listState,
    },
    ...{ marketplace: details.marketplace, merkle_tree: details.tree, nft_address: details.nft },
    ...{
      price: uiPriceOf(details.currency, details.raw, transaction),
      royalty_percentage: details.royaltyPercent,
    },
  });

export const compressedTakeBid = (
  details: CurrencyAmount &
    Readonly<{ buyer: Address; seller: Address; bidState: Address; marketplace: Address }> &
    Readonly<{ tree: Address; nft: Address; royaltyPercent: number | null }>,
  transaction: ExecutedTransaction,
): ParsedAction =>
  compressedAction('TAKE_BID', {
    ...{
      buyer: details.buyer,
      seller: details.seller,
      currency: details.currency,
      marketplace: details.marketplace,
    },
    ...{
      merkle_tree: details.tree,
      nft_address: details.nft,
      price: uiPriceOf(details.currency, details.raw, transaction),
    },
    ...{ royalty_percentage: details.royaltyPercent, bid_state: details.bidState },
  });

export const compressedList = (
  details: CurrencyAmount &
    OfferTerms &
    Readonly<{ seller: Address; listState: Address; marketplace: Address; tree: Address; nft: Address }>,
  transaction: ExecutedTransaction,
): ParsedAction =>
  compressedAction('LIST', {
    ...{
      seller: details.seller,
      currency: details.currency,
      list_state: details.listState,
      marketplace: details.marketplace,
    },
    ...{
      merkle_tree: details.tree,
      nft_address: details.nft,
      price: uiPriceOf(details.currency, details.raw, transaction),
    },
    ...expiry(details),
  });

export const compressedListCancel = (
  details: Readonly<{
    seller: Address;
    listState: Address;
    marketplace: Address;
    tree: Address;
    nft: Address;
  }>,
): ParsedAction =>
  compressedAction('LIST_CANCEL', {
    ...{ seller: details.seller, list_state: details.listState, marketplace: details.marketplace },
    ...{ merkle_tree: details.tree, nft_address: details.nft },
  });

export const compressedListUpdate = (
  details: CurrencyAmount &
    OfferTerms &
    Readonly<{ seller: Address; listState: Address; marketplace: Address; nft: Address | null }>,
  transaction: ExecutedTransaction,
): ParsedAction =>
  compressedAction('LIST_UPDATE', {
    ...{
      seller: details.seller,
      currency: details.currency,
      list_state: details.listState,
      marketplace: details.marketplace,
    },
    ...{
      nft_address: details.nft,
      price: uiPriceOf(details.currency, details.raw, transaction),
      ...expiry(details),
    },
  });

export const compressedBid = (
  details: CurrencyAmount &
    OfferTerms &
    Readonly<{ bidder: Address; bidState: Address; marketplace: Address }> &
    Readonly<{ target: string; targetId: Address; quantity: number }>,
  transaction: ExecutedTransaction,
): ParsedAction =>
  compressedAction('BID', {
    ...{
      currency: details.currency,
      marketplace: details.marketplace,
      price: uiPriceOf(details.currency, details.raw, transaction),
    },
    ...{ ...expiry(details), bid_state: details.bidState, bidder: details.bidder },
    ...{ target: details.target, target_id: details.targetId, quantity: details.quantity },
  });

export const compressedBidCancel = (
  details: Readonly<{ bidder: Address; bidState: Address; marketplace: Address }>,
): ParsedAction =>
  compressedAction('BID_CANCEL', {
    marketplace: details.marketplace,
    bid_state: details.bidState,
    bidder: details.bidder,
  });

/** Whether an address may be a compressed NFT: asset IDs are off the curve, mints are key pairs. */
export const mayBeCompressed = (nft: Address): boolean => !isOnCurve(addressBytes(nft));
