import type { Genesis } from '../../packages/localnet/src/node.ts';
import { type JsonValue, type WritableJson, writeJson } from '../../src/base/json.ts';

export type CaseLedger = Readonly<{
  genesis: Genesis;
  signature: string;
  /** The wallet that paid for `signature`. */
  wallet: string;
  wire: Readonly<{ base64: string; base58: string }>;
  finalized: bigint;
  slot: bigint;
  versioned: Readonly<{ signature: string; slot: bigint }>;
  failed: string;
  /** The ledger produces no slots during the cases. */
  at: Readonly<{ processed: bigint; confirmed: bigint; finalized: bigint }>;
  blockhash: string;
  /** First available slot, greater than 1. */
  firstSlot: bigint;
  /** A token account of `wallet` with a delegate, and its mint. */
  token: Readonly<{ account: string; mint: string; delegate: string }>;
  /**
   * In base64: an unsent signed transfer of `wallet`, its message, one with an invalid signature, and one
   * with an unknown blockhash.
   */
  unsent: Readonly<{ transaction: string; message: string; forged: string; stale: string }>;
}>;

/** Expected error. `data` is compared exactly, if present. */
export type CaseError = Readonly<{
  code: number;
  message: string | RegExp;
  data?: JsonValue | ((ledger: CaseLedger) => JsonValue);
}>;

/** A call and Agave's response: an error, or a result with `check` or `sameAs`. */
export type MethodCase = Readonly<{
  method: string;
  name: string;
  /** JSON text, or params built from the ledger; undefined omits the member. */
  params: string | ((ledger: CaseLedger) => WritableJson) | undefined;
  error?: CaseError;
  check?: (result: JsonValue, ledger: CaseLedger) => void;
  /** Params that return the same response text. */
  sameAs?: MethodCase['params'];
  /** The call changes the ledger, so two responses differ: only their members are compared. */
  changes?: true;
}>;

export const textOf = (params: MethodCase['params'], ledger: CaseLedger): string | undefined =>
  typeof params === 'function' ? writeJson(params(ledger)) : params;

export const invalid = (message: string | RegExp, data?: JsonValue): CaseError =>
  data === undefined ? { code: -32602, message } : { code: -32602, message, data };
