import type { Address } from '../../../solana/address.ts';
import { rawAmount } from '../../amounts.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';
import type { ParsedAction } from './instruction-layout.ts';
import { type Currency, priceIn } from './price.ts';

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
