import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import type { ExecutedInstruction } from './instruction.ts';

/** A token account as the transaction knew it: from token balances, else from what created it on the way. */
export type TransactionTokenAccount = Readonly<{
  address: Address;
  mint: Address;
  /** null where nothing in the transaction says it. */
  owner: Address | null;
  decimals: number | null;
  /** Which token program keeps it; null where nothing says it. */
  program: Address | null;
  /** Base units; 0 where it did not exist. */
  before: bigint;
  after: bigint;
}>;

/**
 * A transaction that ran, as insight reads it: from getTransaction in either encoding, `json` or `jsonParsed`, with
 * everything looked up that its instructions only point at.
 */
export type ExecutedTransaction = Readonly<{
  slot: bigint;
  /** Unix seconds; null where the node does not know. */
  blockTime: bigint | null;
  signatures: readonly string[];
  feePayer: Address;
  signers: readonly Address[];
  /** Lamports. */
  fee: bigint;
  /** The chain's error; null when it succeeded. */
  err: JsonValue;
  /** Static keys, then loaded writable ones, then loaded readonly ones. */
  accountKeys: readonly Address[];
  /** Lamports, in the order of `accountKeys`. */
  preBalances: readonly bigint[];
  postBalances: readonly bigint[];
  instructions: readonly ExecutedInstruction[];
  logs: readonly string[];
  /** Every token account that the transaction names or makes, by its address, those with balances first. */
  tokenAccounts: ReadonlyMap<Address, TransactionTokenAccount>;
  /** Mints that it names, with their decimals where it says them. */
  decimals: ReadonlyMap<Address, number>;
}>;
