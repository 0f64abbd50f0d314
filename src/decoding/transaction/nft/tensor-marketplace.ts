import type { ByteReader } from '../../../base/bytes.ts';
import { type Address, address, addressFromBytes } from '../../../solana/address.ts';
import type { ProgramParser } from '../action.ts';
import type { ExecutedInstruction, ExecutedTransaction } from '../executed-transaction.ts';
import { assetIdOf } from './bubblegum.ts';
import {
  anchorReader,
  type Call,
  type InstructionLayout,
  ignored,
  layout,
  optional,
  optionalAccount,
} from './instruction-layout.ts';
import {
  bid,
  type Currency,
  compressedBid,
  compressedBidCancel,
  compressedList,
  compressedListCancel,
  compressedListUpdate,
  compressedSale,
  compressedTakeBid,
  currencyOf,
  list,
  listCancel,
  listUpdate,
  marketplaceWithdraw,
  mayBeCompressed,
  type OfferTerms,
  SOL,
  sale,
} from './nft-actions.ts';
import { selfCall } from './program-logs.ts';

type TensorEvent = Readonly<{
  /** Base units of `currency`. */
  amount: bigint;
  currency: Currency;
  /** null for an offer on a whole collection. */
  asset: Address | null;
}>;

const MAKER = 0;
const TAKER = 1;

export const key = (args: ByteReader): Address => addressFromBytes(args.bytes(32));

/** Source: tensor-foundation/marketplace 153c22c, program/src/event.rs. */
function readEvent(event: ByteReader): TensorEvent | null {
  const variant = event.u8();
  if (variant !== MAKER && variant !== TAKER) return null;
  // Maker or taker.
  event.skipBytes(32);
  // Bid.
  optional(event, key);
  // Target and target ID; then optional field and field ID.
  event.skipBytes(1 + 32);
  optional(event, (some) => some.u8());
  optional(event, key);
  const amount = event.u64();
  // Quantity.
  event.skipBytes(4);
  // Fees: protocol, two brokers, creators.
  if (variant === TAKER) event.skipBytes(4 * 8);
  const currency = currencyOf(optional(event, key));
  if (variant === MAKER) {
    // Expiry, private taker.
    event.skipBytes(8);
    optional(event, key);
  }
  return { amount, currency, asset: optional(event, key) };
}

const tensorEventOf = (
  instruction: ExecutedInstruction,
  transaction: ExecutedTransaction,
): TensorEvent | null => selfCall(instruction, transaction, 'tcomp_noop', readEvent);

/**
 * Tensor Marketplace (TCOMP): listings and bids of compressed and other NFTs. A sale's instruction holds
 * only a limit; a self-call holds the paid price. Source: tensor-foundation/marketplace 153c22c,
 * clients/anchor/src/tcomp/idl/tcomp.ts and clients/js/src/generated.
 */
export const tensorMarketplaceProgram = address('TCMPhJdwDryooaGtiocG1u3xcYbRpiJzb283XfCZsDp');

const marketplace = tensorMarketplaceProgram;
const HASH_BYTES = 32;

const targets = ['assetId', 'whitelist'];

type CurrencyAmount = Readonly<{ currency: Currency; raw: bigint | null }>;

function paid(
  { instruction, transaction }: Pick<Call<never>, 'instruction' | 'transaction'>,
  named: Currency,
): CurrencyAmount {
  const event = tensorEventOf(instruction, transaction);
  return event === null ? { currency: named, raw: null } : { currency: event.currency, raw: event.amount };
}

function listing(args: ByteReader): CurrencyAmount & OfferTerms {
  const raw = args.u64();
  const expiresIn = optional(args, (some) => some.u64());
  const currency = currencyOf(optional(args, key));
  return { currency, raw, expiresIn, privateTaker: optional(args, key) };
}

/** Nonce, then index and hashes. */
function leafOf(args: ByteReader, tree: Address, hashes: number): Address {
  const nonce = args.u64();
  args.skipBytes(4 + hashes * HASH_BYTES);
  return assetIdOf(tree, nonce);
}

function skipItems(args: ByteReader): void {
  args.skipBytes(args.u32());
}

function royaltyPercent(args: ByteReader): number | null {
  skipItems(args);
  skipItems(args);
  args.skipBytes(2 + 8);
  return optional(args, (some) => some.u16());
}

type BuyPositions = Readonly<{ tree: number; listState: number; buyer: number; seller: number }>;

const buyCompressed = (positions: BuyPositions, currencyAt: number | null): InstructionLayout =>
  layout(positions, (call) => {
    const { at, args, instruction, transaction } = call;
    const nft = leafOf(args, at.tree, 2);
    const named = currencyAt === null ? SOL : (instruction.accounts[currencyAt] ?? null);
    const rest = { ...paid(call, named), royaltyPercent: royaltyPercent(args) };
    const parties = { buyer: at.buyer, seller: at.seller, listState: at.listState, marketplace };
    return compressedSale({ ...parties, tree: at.tree, nft, ...rest }, transaction);
  });

const buyPlain = (
  positions: Readonly<{ nft: number; buyer: number; seller: number }>,
  currencyAt: number | null,
): InstructionLayout =>
  layout(positions, (call) => {
    const { at, instruction, transaction } = call;
    const named = currencyAt === null ? SOL : (instruction.accounts[currencyAt] ?? null);
    const parties = { buyer: at.buyer, seller: at.seller, marketplace, nft: at.nft };
    return sale({ ...parties, ...paid(call, named) }, transaction);
  });

const listCompressed = layout({ owner: 1, tree: 3, listState: 9 }, ({ at, args, transaction }) => {
  const nft = leafOf(args, at.tree, 3);
  const listingAccounts = { seller: at.owner, listState: at.listState, marketplace, tree: at.tree };
  return compressedList({ ...listingAccounts, nft, ...listing(args) }, transaction);
});

const delistCompressed = (
  positions: Readonly<{ tree: number; listState: number; owner: number }>,
): InstructionLayout =>
  layout(positions, ({ at, args }) => {
    const nft = leafOf(args, at.tree, 3);
    const listingAccounts = { seller: at.owner, listState: at.listState, marketplace, tree: at.tree };
    return compressedListCancel({ ...listingAccounts, nft });
  });

const listPlain = (positions: Readonly<{ nft: number; owner: number }>): InstructionLayout =>
  layout(positions, ({ at, args, transaction }) =>
    list({ seller: at.owner, marketplace, nft: at.nft, ...listing(args) }, transaction),
  );

/** The currency is an account. */
const listWns = layout({ owner: 0, nft: 4, currency: 16 }, ({ at, args, instruction, transaction }) => {
  const amount = { currency: currencyOf(optionalAccount(at.currency, instruction)), raw: args.u64() };
  return list({ seller: at.owner, marketplace, nft: at.nft, ...amount }, transaction);
});

const delistPlain = (positions: Readonly<{ nft: number; owner: number }>): InstructionLayout =>
  layout(positions, ({ at, transaction }) =>
    listCancel({ seller: at.owner, marketplace, nft: at.nft }, transaction),
  );

/** Only the event names the NFT. */
const edit = layout({ listState: 0, owner: 1 }, ({ at, args, instruction, transaction }) => {
  const nft = tensorEventOf(instruction, transaction)?.asset ?? null;
  const terms = { seller: at.owner, marketplace, nft, ...listing(args) };
  return nft !== null && !mayBeCompressed(nft)
    ? listUpdate(terms, transaction)
    : compressedListUpdate({ ...terms, listState: at.listState }, transaction);
});

const placeBid = layout({ bidState: 2, bidder: 3 }, ({ at, args, transaction }) => {
  // Bid ID.
  args.skipBytes(32);
  const target = targets[args.u8()];
  const targetId = key(args);
  optional(args, (some) => some.u8());
  optional(args, key);
  const raw = args.u64();
  const quantity = args.u32();
  const expiresIn = optional(args, (some) => some.u64());
  const amount = { currency: currencyOf(optional(args, key)), raw };
  const privateTaker = optional(args, key);
  if (target === undefined) return null;
  if (target === 'assetId' && !mayBeCompressed(targetId)) {
    return bid({ bidder: at.bidder, marketplace, nft: targetId, ...amount }, transaction);
  }
  const offer = { bidder: at.bidder, bidState: at.bidState, marketplace, target, targetId, quantity };
  return compressedBid({ ...offer, ...amount, expiresIn, privateTaker }, transaction);
});

const cancelBid = layout({ bidState: 0, bidder: 1 }, ({ at }) =>
  compressedBidCancel({ bidder: at.bidder, bidState: at.bidState, marketplace }),
);

/** @param royalty - whether the arguments allow reading the royalty: full metadata precedes it otherwise. */
const takeBidCompressed = (royalty: boolean): InstructionLayout =>
  layout({ seller: 2, tree: 4, bidState: 11, buyer: 12 }, (call) => {
    const { at, args, transaction } = call;
    const nft = leafOf(args, at.tree, royalty ? 2 : 1);
    const rest = { ...paid(call, null), royaltyPercent: royalty ? royaltyPercent(args) : null };
    const parties = { buyer: at.buyer, seller: at.seller, bidState: at.bidState, marketplace };
    return compressedTakeBid({ ...parties, tree: at.tree, nft, ...rest }, transaction);
  });

const takeBidPlain = (nftAt: number): InstructionLayout =>
  layout({ seller: 1, buyer: 3, nft: nftAt }, (call) => {
    const { at, transaction } = call;
    const parties = { buyer: at.buyer, seller: at.seller, marketplace, nft: at.nft };
    return sale({ ...parties, ...paid(call, null) }, transaction);
  });

const withdrawFees = layout({ tcomp: 1, owner: 3, destination: 4 }, ({ at, args, transaction }) => {
  const accounts = { treasury: at.tcomp, authority: at.owner, destination: at.destination };
  return marketplaceWithdraw({ currency: SOL, raw: args.u64(), marketplace, ...accounts }, transaction);
});

const read = anchorReader({
  buy: buyCompressed({ tree: 2, listState: 8, buyer: 9, seller: 11 }, null),
  buy_spl: buyCompressed({ tree: 3, listState: 11, buyer: 12, seller: 15 }, 17),
  buy_legacy: buyPlain({ buyer: 1, nft: 5, seller: 6 }, null),
  buy_legacy_spl: buyPlain({ buyer: 2, nft: 6, seller: 8 }, 7),
  buy_t22: buyPlain({ buyer: 1, nft: 5, seller: 6 }, null),
  buy_t22_spl: buyPlain({ buyer: 2, nft: 6, seller: 8 }, 7),
  buy_wns: buyPlain({ buyer: 1, nft: 5, seller: 6 }, null),
  buy_wns_spl: buyPlain({ buyer: 2, nft: 6, seller: 8 }, 7),
  buy_core: buyPlain({ nft: 2, buyer: 4, seller: 6 }, null),
  buy_core_spl: buyPlain({ buyer: 2, nft: 4, seller: 7 }, 6),
  list: listCompressed,
  list_legacy: listPlain({ owner: 0, nft: 4 }),
  list_t22: listPlain({ owner: 0, nft: 4 }),
  list_wns: listWns,
  list_core: listPlain({ nft: 0, owner: 3 }),
  delist: delistCompressed({ tree: 1, listState: 6, owner: 7 }),
  delist_legacy: delistPlain({ owner: 0, nft: 4 }),
  delist_t22: delistPlain({ owner: 0, nft: 4 }),
  delist_wns: delistPlain({ owner: 0, nft: 4 }),
  delist_core: delistPlain({ nft: 0, owner: 2 }),
  close_expired_listing: delistCompressed({ listState: 0, owner: 1, tree: 5 }),
  close_expired_listing_legacy: delistPlain({ owner: 0, nft: 4 }),
  close_expired_listing_t22: delistPlain({ owner: 0, nft: 4 }),
  close_expired_listing_wns: delistPlain({ owner: 0, nft: 4 }),
  close_expired_listing_core: delistPlain({ nft: 1, owner: 3 }),
  edit,
  bid: placeBid,
  cancel_bid: cancelBid,
  close_expired_bid: cancelBid,
  take_bid_meta_hash: takeBidCompressed(true),
  take_bid_full_meta: takeBidCompressed(false),
  take_bid_legacy: takeBidPlain(9),
  take_bid_t22: takeBidPlain(9),
  take_bid_wns: takeBidPlain(9),
  take_bid_core: takeBidPlain(8),
  withdraw_fees: withdrawFees,
  tcomp_noop: ignored,
});

export const tensorMarketplace: ProgramParser = { name: 'TENSOR_MARKETPLACE', read };
