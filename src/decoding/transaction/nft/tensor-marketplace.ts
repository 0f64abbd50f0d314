import type { ByteReader } from '../../../base/bytes.ts';
import { type Address, address } from '../../../solana/address.ts';
import { pubkey } from '../../../solana/codec.ts';
import { rawAmount } from '../../amounts.ts';
import type { ProgramParser } from '../action.ts';
import type { ExecutedInstruction } from '../executed-transaction.ts';
import { assetIdOf } from './bubblegum.ts';
import {
  anchorReader,
  type Call,
  type InstructionLayout,
  ignored,
  layout,
  optional,
} from './instruction-layout.ts';
import {
  type Currency,
  currencyOf,
  mayBeCompressed,
  nftAction,
  optionalCurrency,
  priced,
  SOL,
  statedPrice,
} from './nft-actions.ts';
import { type LoggingCall, selfCall } from './program-logs.ts';

type TensorEvent = Readonly<{
  amount: bigint;
  currency: Currency;
  /** null for an offer on a whole collection. */
  asset: Address | null;
}>;

const MAKER = 0;
const TAKER = 1;

/** Source: tensor-foundation/marketplace 153c22c, program/src/event.rs. */
function readEvent(event: ByteReader): TensorEvent | null {
  const variant = event.u8();
  if (variant !== MAKER && variant !== TAKER) return null;
  event.skipBytes(32); // Maker or taker.
  optional(event, pubkey.read); // Bid.
  event.skipBytes(1 + 32); // Target, target ID.
  optional(event, (some) => some.u8()); // Field.
  optional(event, pubkey.read); // Field ID.
  const amount = event.u64();
  event.skipBytes(4); // Quantity.
  if (variant === TAKER) event.skipBytes(4 * 8); // Fees: protocol, two brokers, creators.
  const currency = currencyOf(optional(event, pubkey.read));
  if (variant === MAKER) {
    event.skipBytes(8); // Expiry.
    optional(event, pubkey.read); // Private taker.
  }
  return { amount, currency, asset: optional(event, pubkey.read) };
}

const tensorEventOf = (call: LoggingCall): TensorEvent | null => selfCall(call, 'tcomp_noop', readEvent);

/**
 * Tensor Marketplace (TCOMP): listings and bids for compressed and other NFTs. A sale instruction contains only a
 * limit; a self-call contains the price paid. Source: tensor-foundation/marketplace 153c22c,
 * clients/anchor/src/tcomp/idl/tcomp.ts and clients/js/src/generated.
 */
export const tensorMarketplaceProgram = address('TCMPhJdwDryooaGtiocG1u3xcYbRpiJzb283XfCZsDp');

const marketplace = tensorMarketplaceProgram;
const HASH_BYTES = 32;

const targets = ['assetId', 'whitelist'];

/** Currency and price from the event; without an event, only the currency that the instruction names. */
function paid(call: LoggingCall, named: Currency) {
  const event = tensorEventOf(call);
  return priced(event === null ? named : event.currency, event?.amount ?? null, call.transaction);
}

function listingTerms({ args, transaction }: Pick<Call<never>, 'args' | 'transaction'>) {
  const raw = args.u64();
  const expire_in_second = optional(args, (some) => rawAmount(some.u64()));
  const currency = currencyOf(optional(args, pubkey.read));
  const private_taker = optional(args, pubkey.read);
  return { ...priced(currency, raw, transaction), expire_in_second, private_taker };
}

/** Layout: nonce, then index and hashes. */
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

type Positions<Name extends string> = Readonly<Record<Name, number>>;

/** @param position - account position of the currency; null for SOL. */
const currencyAt = ({ accounts }: ExecutedInstruction, position: number | null): Currency =>
  position === null ? SOL : (accounts[position] ?? null);

const buyCompressed = (
  positions: Positions<'buyer' | 'seller' | 'merkle_tree' | 'list_state'>,
  currencyPosition: number | null,
): InstructionLayout =>
  layout(positions, (call) => {
    const { at, args, instruction } = call;
    const nft_address = leafOf(args, at.merkle_tree, 2);
    const amount = paid(call, currencyAt(instruction, currencyPosition));
    const royalty_percentage = royaltyPercent(args);
    return nftAction('COMPRESSED_NFT_SALE', {
      ...at,
      marketplace,
      nft_address,
      ...amount,
      royalty_percentage,
    });
  });

const buyPlain = (
  positions: Positions<'buyer' | 'seller' | 'nft_address'>,
  currencyPosition: number | null,
): InstructionLayout =>
  layout(positions, (call) => {
    const amount = paid(call, currencyAt(call.instruction, currencyPosition));
    return nftAction('NFT_SALE', { ...call.at, marketplace, ...amount });
  });

const listCompressed = layout({ seller: 1, merkle_tree: 3, list_state: 9 }, (call) => {
  const { at, args } = call;
  const nft_address = leafOf(args, at.merkle_tree, 3);
  return nftAction('COMPRESSED_NFT_LIST', { ...at, marketplace, nft_address, ...listingTerms(call) });
});

const delistCompressed = (positions: Positions<'seller' | 'merkle_tree' | 'list_state'>): InstructionLayout =>
  layout(positions, ({ at, args }) => {
    const nft_address = leafOf(args, at.merkle_tree, 3);
    return nftAction('COMPRESSED_NFT_LIST_CANCEL', { ...at, marketplace, nft_address });
  });

const listPlain = (positions: Positions<'seller' | 'nft_address'>): InstructionLayout =>
  layout(positions, (call) => nftAction('NFT_LIST', { ...call.at, marketplace, ...listingTerms(call) }));

/** The currency comes from an account, not from the arguments. */
const listWns = layout({ seller: 0, nft_address: 4, currency: 16 }, (call) =>
  nftAction('NFT_LIST', { ...call.at, marketplace, ...statedPrice(call, optionalCurrency(call)) }),
);

const delistPlain = (positions: Positions<'seller' | 'nft_address'>): InstructionLayout =>
  layout(positions, ({ at }) => nftAction('NFT_LIST_CANCEL', { ...at, marketplace, price: null }));

/** Only the event names the NFT. */
const edit = layout({ list_state: 0, seller: 1 }, (call) => {
  const nft_address = tensorEventOf(call)?.asset ?? null;
  const listing = { ...call.at, marketplace, nft_address, ...listingTerms(call) };
  return nft_address !== null && !mayBeCompressed(nft_address)
    ? nftAction('NFT_LIST_UPDATE', { ...listing, old_price: null, new_price: listing.price })
    : nftAction('COMPRESSED_NFT_LIST_UPDATE', listing);
});

const placeBid = layout({ bid_state: 2, bidder: 3 }, ({ at, args, transaction }) => {
  args.skipBytes(32); // Bid ID.
  const target = targets[args.u8()];
  const target_id = pubkey.read(args);
  optional(args, (some) => some.u8());
  optional(args, pubkey.read);
  const raw = args.u64();
  const quantity = args.u32();
  const expire_in_second = optional(args, (some) => rawAmount(some.u64()));
  const currency = currencyOf(optional(args, pubkey.read));
  const private_taker = optional(args, pubkey.read);
  if (target === undefined) return null;
  const offer = { ...at, marketplace, ...priced(currency, raw, transaction) };
  if (target === 'assetId' && !mayBeCompressed(target_id)) {
    return nftAction('NFT_BID', { ...offer, nft_address: target_id });
  }
  const terms = { target, target_id, quantity, expire_in_second, private_taker };
  return nftAction('COMPRESSED_NFT_BID', { ...offer, ...terms });
});

const cancelBid = layout({ bid_state: 0, bidder: 1 }, ({ at }) =>
  nftAction('COMPRESSED_NFT_BID_CANCEL', { ...at, marketplace }),
);

/** @param royalty - whether to read the royalty; not possible if full metadata precedes it in the arguments. */
const takeBidCompressed = (royalty: boolean): InstructionLayout =>
  layout({ seller: 2, merkle_tree: 4, bid_state: 11, buyer: 12 }, (call) => {
    const { at, args } = call;
    const nft_address = leafOf(args, at.merkle_tree, royalty ? 2 : 1);
    const royalty_percentage = royalty ? royaltyPercent(args) : null;
    const trade = { ...at, marketplace, nft_address, ...paid(call, null) };
    return nftAction('COMPRESSED_NFT_TAKE_BID', { ...trade, royalty_percentage });
  });

const takeBidPlain = (nftAt: number): InstructionLayout =>
  layout({ seller: 1, buyer: 3, nft_address: nftAt }, (call) =>
    nftAction('NFT_SALE', { ...call.at, marketplace, ...paid(call, null) }),
  );

const withdrawFees = layout(
  { treasury_account: 1, marketplace_authority: 3, withdrawal_destination_account: 4 },
  (call) => {
    const { currency, price: amount } = statedPrice(call);
    return nftAction('MARKETPLACE_WITHDRAW', { ...call.at, marketplace, currency, amount });
  },
);

const read = anchorReader({
  buy: buyCompressed({ merkle_tree: 2, list_state: 8, buyer: 9, seller: 11 }, null),
  buy_spl: buyCompressed({ merkle_tree: 3, list_state: 11, buyer: 12, seller: 15 }, 17),
  'buy_legacy buy_t22 buy_wns': buyPlain({ buyer: 1, nft_address: 5, seller: 6 }, null),
  'buy_legacy_spl buy_t22_spl buy_wns_spl': buyPlain({ buyer: 2, nft_address: 6, seller: 8 }, 7),
  buy_core: buyPlain({ nft_address: 2, buyer: 4, seller: 6 }, null),
  buy_core_spl: buyPlain({ buyer: 2, nft_address: 4, seller: 7 }, 6),
  list: listCompressed,
  'list_legacy list_t22': listPlain({ seller: 0, nft_address: 4 }),
  list_wns: listWns,
  list_core: listPlain({ nft_address: 0, seller: 3 }),
  delist: delistCompressed({ merkle_tree: 1, list_state: 6, seller: 7 }),
  'delist_legacy delist_t22 delist_wns': delistPlain({ seller: 0, nft_address: 4 }),
  delist_core: delistPlain({ nft_address: 0, seller: 2 }),
  close_expired_listing: delistCompressed({ list_state: 0, seller: 1, merkle_tree: 5 }),
  'close_expired_listing_legacy close_expired_listing_t22': delistPlain({ seller: 0, nft_address: 4 }),
  close_expired_listing_wns: delistPlain({ seller: 0, nft_address: 4 }),
  close_expired_listing_core: delistPlain({ nft_address: 1, seller: 3 }),
  edit,
  bid: placeBid,
  'cancel_bid close_expired_bid': cancelBid,
  take_bid_meta_hash: takeBidCompressed(true),
  take_bid_full_meta: takeBidCompressed(false),
  'take_bid_legacy take_bid_t22 take_bid_wns': takeBidPlain(9),
  take_bid_core: takeBidPlain(8),
  withdraw_fees: withdrawFees,
  tcomp_noop: ignored,
});

export const tensorMarketplace: ProgramParser = { name: 'TENSOR_MARKETPLACE', read };
