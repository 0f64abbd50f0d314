import type { Address } from '../../address.ts';
import type { MintScale } from '../../token/mint-scale.ts';
import type { Members } from '../wire-order.ts';

/** What kind of account it is, and what is in it. Kinds without content have no `info`. */
export type AccountParts = Readonly<{ type: string; info?: Members | readonly Members[] }>;

/** What else must be known to show an account. */
export type AccountLookup = Readonly<{
  /**
   * How amounts of a token account's mint are shown (`decodeMintScale` of the mint's data); null when there is no
   * such mint. Without it token accounts are not parsed.
   */
  mint?: (mint: Address) => MintScale | null;
  /**
   * The Unix time of the bank's clock, in seconds. Without it, amounts of mints that bear interest or multiply are
   * shown as their decimals say.
   */
  unixTimestamp?: bigint;
}>;
