import { type JsonValue, type WritableJson, writeJson } from '../../src/base/json.ts';
import type { Genesis } from '../../src/localnet/node.ts';

/** What the parameters of a case may name: facts of the ledger that the case is put to. */
export type CaseLedger = Readonly<{
  genesis: Genesis;
  /** A signature of a finalized transaction. */
  signature: string;
  /** A wallet that had part in it, and paid for it. */
  wallet: string;
  /** The bytes of that transaction. */
  wire: Readonly<{ base64: string; base58: string }>;
  /** A recent finalized slot. */
  finalized: bigint;
  /** The slot of that signature. */
  slot: bigint;
  /** A finalized transaction of version 0 and its slot. */
  versioned: Readonly<{ signature: string; slot: bigint }>;
  /** A finalized transaction that failed. */
  failed: string;
  /** The slot of each commitment; slots stand still while cases are put. */
  at: Readonly<{ processed: bigint; confirmed: bigint; finalized: bigint }>;
  blockhash: string;
  /** First slot that is still kept, greater than 1. */
  firstSlot: bigint;
  /** A token account of `wallet` with a delegate, its mint, and an account of another program that holds a mint. */
  token: Readonly<{ account: string; mint: string; delegate: string; otherMint: string }>;
  /**
   * A signed transfer of `wallet` that was never sent, its message, one whose signature is wrong, and one with a
   * blockhash that never was: base64.
   */
  unsent: Readonly<{ transaction: string; message: string; forged: string; stale: string }>;
}>;

/** What an error must say. `data` is compared, as a whole, only where the case has one. */
export type CaseError = Readonly<{
  code: number;
  message: string | RegExp;
  data?: JsonValue | ((ledger: CaseLedger) => JsonValue);
}>;

/** One call of a method and what Agave answers: an error, or a result with `check` or `sameAs`. */
export type MethodCase = Readonly<{
  method: string;
  /** A sentence of promise. */
  name: string;
  /** `params` as JSON text, so that integers stay exact; undefined leaves the member out. */
  params: (ledger: CaseLedger) => string | undefined;
  error?: CaseError;
  /** Looks into the result, as `parseJson` reads it; throws (expect) when it is not as promised. */
  check?: (result: JsonValue, ledger: CaseLedger) => void;
  /** Parameters that are answered with the same text. */
  sameAs?: (ledger: CaseLedger) => string | undefined;
  /** The call changes the ledger, so that two answers are not one text: only its kind is compared. */
  changes?: true;
}>;

/** `params` that name nothing of the ledger. */
export const fixed =
  (text: string): MethodCase['params'] =>
  () =>
    text;

/** `params` made of facts of the ledger. */
export const made =
  (make: (ledger: CaseLedger) => WritableJson): MethodCase['params'] =>
  (ledger) =>
    writeJson(make(ledger));

export const invalid = (message: string | RegExp, data?: JsonValue): CaseError =>
  data === undefined ? { code: -32602, message } : { code: -32602, message, data };
