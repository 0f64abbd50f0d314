import type { Address } from '../../address.ts';
import type { Mint } from '../../token/mint.ts';
import type { Members } from '../wire-order.ts';

/** What kind of account it is, and what is in it. Kinds without content have no `info`. */
export type AccountParts = Readonly<{ type: string; info?: Members | readonly Members[] }>;

/** What else must be known to show an account. */
export type AccountLookup = Readonly<{
  /** The mint of a token account; null when there is none. Without it token accounts are not parsed. */
  mint?: (mint: Address) => Pick<Mint, 'decimals'> | null;
}>;
