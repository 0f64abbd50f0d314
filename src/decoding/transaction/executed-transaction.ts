import type { JsonValue, WritableJson } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';

export type ExecutedInstruction = Readonly<{
  /** 0-based index in execution order: inner instructions follow their outer instruction. */
  index: number;
  /** Position of the outer instruction among the transaction's outer instructions. */
  outer: number;
  height: number | null;
  parentProgram: Address | null;
  /** `index` of the calling instruction (of the outer instruction if `height` is null); null for outer instructions. */
  caller: number | null;
  program: Address;
  accounts: readonly Address[];
  /** Empty if the node parsed the instruction. Decoding is lazy and slow: check the program first. */
  data: Uint8Array;
  /** jsonParsed form; null for unknown programs. A memo has the type `memo` and the info `{memo}`. */
  parsed: ParsedView | null;
}>;

export type ParsedView = Readonly<{ type: string; info: Readonly<Record<string, WritableJson>> }>;

export type TransactionTokenAccount = Readonly<{
  address: Address;
  mint: Address;
  owner: Address | null;
  decimals: number | null;
  /** Base units; 0 before creation. */
  before: bigint;
  after: bigint;
}>;

export type ExecutedTransaction = Readonly<{
  /** Unix seconds. */
  blockTime: bigint | null;
  signatures: readonly string[];
  feePayer: Address;
  signers: readonly Address[];
  /** Lamports. */
  fee: bigint;
  err: JsonValue;
  accountKeys: readonly Address[];
  preBalances: readonly bigint[];
  postBalances: readonly bigint[];
  instructions: readonly ExecutedInstruction[];
  logs: readonly string[];
  tokenAccounts: ReadonlyMap<Address, TransactionTokenAccount>;
  decimals: ReadonlyMap<Address, number>;
}>;
