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
function priceIn(currency: Currency, raw: bigint | null, { decimals }: ExecutedTransaction): number | null {
  if (currency === null || raw === null || raw === NO_PRICE) return null;
  const scale = currency === SOL ? SOL_DECIMALS : decimals.get(currency);
  return scale === undefined ? null : uiAmountOf(raw, scale);
}

/** NFT actions with members in the order of rest-api.md §3.1. Unknown addresses and prices are null. */

type CurrencyAmount = Readonly<{ currency: Currency; raw: bigint | null }>;

type Offer = CurrencyAmount & Readonly<{ marketplace: Address; nft: Address | null }>;

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

export const bid = (
  of: Offer & Readonly<{ bidder: Address }>,
  transaction: ExecutedTransaction,
): ParsedAction => ({
  type: 'NFT_BID',
  info: bidInfo(of, transaction),
});

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

export const list = (
  of: Offer & Readonly<{ seller: Address }>,
  transaction: ExecutedTransaction,
): ParsedAction => ({
  type: 'NFT_LIST',
  info: listInfo(of, transaction),
});

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

/** The old price is in no instruction. */
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

export const nftBurn = (of: Readonly<{ nft: Address; wallet: Address | null }>): ParsedAction => ({
  type: 'NFT_BURN',
  info: { wallet: of.wallet, nft_address: of.nft, amount: 1 },
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

export const compressedListCancel = (
  of: Readonly<{ seller: Address; listState: Address; marketplace: Address; tree: Address; nft: Address }>,
): ParsedAction =>
  compressedAction('LIST_CANCEL', {
    ...{ seller: of.seller, list_state: of.listState, marketplace: of.marketplace },
    ...{ merkle_tree: of.tree, nft_address: of.nft },
  });

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

export const compressedBidCancel = (
  of: Readonly<{ bidder: Address; bidState: Address; marketplace: Address }>,
): ParsedAction =>
  compressedAction('BID_CANCEL', { marketplace: of.marketplace, bid_state: of.bidState, bidder: of.bidder });

/** Whether an address may be a compressed NFT: asset IDs are off the curve, mints are key pairs. */
export const mayBeCompressed = (nft: Address): boolean => !isOnCurve(addressBytes(nft));
