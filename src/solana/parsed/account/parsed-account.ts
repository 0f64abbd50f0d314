import type { Address } from '../../address.ts';
import type { MintScale } from '../../token/ui-amount.ts';
import type { Members } from '../wire-order.ts';

export type AccountParts = Readonly<{ type: string; info?: Members | readonly Members[] }>;

export type AccountLookup = Readonly<{
  /** Returns null for an unknown mint. Without this function, token accounts are parsed only for wrapped SOL. */
  mint?: (mint: Address) => MintScale | null;
  /** Bank clock in Unix seconds. undefined: interest and scaling are ignored. */
  unixTimestamp?: bigint;
}>;
