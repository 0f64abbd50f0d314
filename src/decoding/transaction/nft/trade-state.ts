import { type Address, addressBytes } from '../../../solana/address.ts';
import { isDerivedFrom, u64Seed } from '../../../solana/program-address.ts';
import { nativeMint, programs } from '../../../solana/programs.ts';
import type { ExecutedTransaction } from '../executed-transaction.ts';
import type { Currency } from './price.ts';

/** Mints of the transaction that are tried as the currency of an offer. */
const CURRENCIES_TRIED = 4;

const PREFIX = Buffer.from('auction_house');

/** An offer of an auction house, as its instruction names it. */
export type TradeState = Readonly<{
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

/** A bid that is open to whoever has the NFT is not tied to a token account. */
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
 * The currency of an offer whose instruction does not name it: the account of the offer is derived from it, so that
 * the right one proves itself. Source: mpl-auction-house, `find_trade_state_address`.
 * @returns null where neither SOL nor a mint of the transaction is it.
 */
export function currencyOfOffer(state: TradeState, { decimals }: ExecutedTransaction): Currency {
  const others = [...decimals.keys()].filter((mint) => mint !== nativeMint && mint !== state.mint);
  const candidates = [nativeMint, ...others.slice(0, CURRENCIES_TRIED)];
  return candidates.find((candidate) => isIn(state, candidate)) ?? null;
}

const associatedSeeds = (wallet: Address, mint: Address): Uint8Array[] =>
  [wallet, programs.token, mint].map(addressBytes);

/**
 * Whether an offer is of the one who has the NFT, and so a listing; an offer of anybody else is a bid.
 * @returns null where nothing says whose the token account is.
 */
export function isListing(
  { wallet, tokenAccount, mint }: Pick<TradeState, 'wallet' | 'tokenAccount' | 'mint'>,
  { tokenAccounts }: ExecutedTransaction,
): boolean | null {
  const owner = tokenAccounts.get(tokenAccount)?.owner ?? null;
  if (owner !== null) return owner === wallet;
  return isDerivedFrom(tokenAccount, associatedSeeds(wallet, mint), programs.ata) ? true : null;
}
