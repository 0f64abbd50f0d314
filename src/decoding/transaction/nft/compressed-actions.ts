import type { WritableJson } from '../../../base/json.ts';
import { type Address, addressBytes } from '../../../solana/address.ts';
import { isOnCurve } from '../../../solana/program-address.ts';
import { rawAmount } from '../../amounts.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';
import type { ParsedAction } from './instruction-layout.ts';
import { type Currency, priceIn } from './price.ts';

/**
 * What is told of offers for compressed NFTs: those members of the interface that the instruction has, in its order.
 * Source: rest-api.md §3.1.
 */

type CurrencyAmount = Readonly<{ currency: Currency; raw: bigint | null }>;

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
