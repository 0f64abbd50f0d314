import type { WritableJson } from '../../../base/json.ts';
import { type Address, addressBytes } from '../../../solana/address.ts';
import { isOnCurve } from '../../../solana/program-address.ts';
import { nativeMint, programs } from '../../../solana/programs.ts';
import { rawAmount, uiAmountOf } from '../../amounts.ts';
import type { ParsedAction } from '../action.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';
import { type Call, optionalAccount } from './instruction-layout.ts';

const SOL_DECIMALS = 9;
/** Value that marks a listing without a price. */
const NO_PRICE = 2n ** 64n - 1n;

/** Mint of the currency (wrapped SOL stands for SOL); null if unknown. */
export type Currency = Address | null;

export const SOL: Currency = nativeMint;

/** A null mint or the system program means SOL. */
export const currencyOf = (mint: Address | null): Currency =>
  mint === null || mint === programs.system ? SOL : mint;

export const optionalCurrency = ({ at, instruction }: Call<'currency'>): Currency =>
  currencyOf(optionalAccount(at.currency, instruction));

function uiPriceOf(currency: Currency, raw: bigint | null, { decimals }: ExecutedTransaction): number | null {
  if (currency === null || raw === null || raw === NO_PRICE) return null;
  const scale = currency === SOL ? SOL_DECIMALS : decimals.get(currency);
  return scale === undefined ? null : uiAmountOf(raw, scale);
}

/** The price is null if `raw`, the currency or its decimals are unknown. @param raw - base units. */
export const priced = (currency: Currency, raw: bigint | null, transaction: ExecutedTransaction) => ({
  currency,
  price: uiPriceOf(currency, raw, transaction),
});

/** Reads a u64 price from the arguments. @param skipped - number of bytes before the price. */
export function statedPrice(
  { args, transaction }: Pick<Call<never>, 'args' | 'transaction'>,
  currency: Currency = SOL,
  skipped = 0,
) {
  args.skipBytes(skipped);
  return priced(currency, args.u64(), transaction);
}

/** Members in the order of rest-api.md §3.1. Actions for compressed NFTs omit members that the instruction lacks. */
const members = {
  NFT_MINT: 'nft_address amount amount_raw owner_associated_account owner collection_address',
  NFT_TRANSFER: 'amount receiver sender receiver_associated_account nft_address',
  NFT_BURN: 'wallet nft_address amount',
  NFT_SALE: 'buyer seller nft_address currency marketplace price',
  NFT_BID: 'bidder currency marketplace price nft_address',
  NFT_BID_CANCEL: 'bidder currency marketplace price nft_address',
  NFT_LIST: 'seller marketplace price nft_address currency',
  NFT_LIST_CANCEL: 'seller marketplace nft_address price',
  NFT_LIST_UPDATE: 'seller marketplace nft_address old_price new_price',
  MARKETPLACE_WITHDRAW:
    'currency marketplace treasury_account marketplace_authority withdrawal_destination_account amount',
  CREATE_TREE: 'tree_authority merkle_tree payer tree_creator max_depth max_buffer_size',
  COMPRESSED_NFT_MINT: 'tree_authority merkle_tree payer nft_address owner update_authority nft_metadata',
  COMPRESSED_NFT_TRANSFER: 'tree_authority merkle_tree sender receiver nft_address update_authority',
  COMPRESSED_NFT_BURN: 'tree_authority merkle_tree owner nft_address update_authority',
  COMPRESSED_NFT_SALE:
    'buyer seller currency list_state marketplace merkle_tree nft_address price royalty_percentage',
  COMPRESSED_NFT_TAKE_BID:
    'buyer seller currency marketplace merkle_tree nft_address price royalty_percentage bid_state',
  COMPRESSED_NFT_LIST:
    'seller currency list_state marketplace merkle_tree nft_address price expire_in_second private_taker',
  COMPRESSED_NFT_LIST_CANCEL: 'seller list_state marketplace merkle_tree nft_address',
  COMPRESSED_NFT_LIST_UPDATE:
    'seller currency list_state marketplace nft_address price expire_in_second private_taker',
  COMPRESSED_NFT_BID:
    'currency marketplace price expire_in_second private_taker bid_state bidder target target_id quantity',
  COMPRESSED_NFT_BID_CANCEL: 'marketplace bid_state bidder',
} as const;

export const ONE_NFT = { amount: 1, amount_raw: rawAmount(1n) };

type NftActionType = keyof typeof members;

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

/** Details that are not members of the action are omitted. */
export const nftAction = <Type extends NftActionType>(
  type: Type,
  details: Readonly<Record<Words<(typeof members)[Type]>, WritableJson>>,
): ParsedAction => ({
  type,
  info: Object.fromEntries(
    members[type].split(' ').map((name) => [name, details[name as keyof typeof details]]),
  ),
});

/** True if the address is off the curve, as the asset IDs of compressed NFTs are. Mints are usually public keys. */
export const mayBeCompressed = (nft: Address): boolean => !isOnCurve(addressBytes(nft));
