import type { JsonValue } from '../../src/base/json.ts';
import type { Genesis } from '../../src/localnet/node.ts';

/** What the parameters of a case may name: facts of the ledger that the case is put to. */
export type CaseLedger = Readonly<{
  genesis: Genesis;
  /** A signature of a finalized transaction. */
  signature: string;
  /** A wallet that had part in it. */
  wallet: string;
  /** A recent finalized slot. */
  finalized: bigint;
}>;

/** What an error must say. `data` is compared only where the case has one. */
export type CaseError = Readonly<{ code: number; message: string | RegExp; data?: JsonValue }>;

/** One call of a method and what Agave answers. A case without `error` is answered with a result. */
export type MethodCase = Readonly<{
  method: string;
  /** A sentence of promise. */
  name: string;
  /** `params` as JSON text, so that integers stay exact; undefined leaves the member out. */
  params: (ledger: CaseLedger) => string | undefined;
  error?: CaseError;
  /** Looks into the result, as `parseJson` reads it; throws (expect) when it is not as promised. */
  check?: (result: JsonValue, ledger: CaseLedger) => void;
}>;

/** `params` that name nothing of the ledger. */
export const fixed =
  (text: string): MethodCase['params'] =>
  () =>
    text;
