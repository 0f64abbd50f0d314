import type { JsonValue, WritableJson } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';

/** An instruction that ran, outer or inner, in the order in which they began. */
export type ExecutedInstruction = Readonly<{
  /** 0-based number among all instructions of the transaction, each outer one followed by its inner ones. */
  index: number;
  /** Index of the outer instruction that it belongs to. */
  outer: number;
  /** 1 for an outer one, more for each call between; null where the node does not say. */
  height: number | null;
  /** The outer instruction's program, for an inner one; null for an outer one. */
  parentProgram: Address | null;
  /** The instruction that called this one, by its `index`; null for an outer one. Without `height`, the outer one. */
  caller: number | null;
  program: Address;
  accounts: readonly Address[];
  /**
   * Empty where a node parsed the instruction and kept its bytes. Decoded when it is first asked for, which takes long
   * where it is long: look at the program before.
   */
  data: Uint8Array;
  /**
   * What jsonParsed shows of it, whether a node or `ledger/parsed/` read it; null for programs that it does not know.
   * A memo, of which it shows the text alone, has the type `memo` and the info `{memo}`.
   */
  parsed: ParsedView | null;
}>;

/** An instruction by its meaning, as jsonParsed shows it: what it is called, and its members by their names. */
export type ParsedView = Readonly<{ type: string; info: Readonly<Record<string, WritableJson>> }>;

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
