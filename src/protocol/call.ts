import type { Failure } from './errors.ts';
import type { MethodRow } from './methods.ts';
import type { MinSlot } from './min-slot.ts';
import type { StreamHandler } from './streamed-response.ts';
import type { SubmissionResult } from './submission-result.ts';

/** The networks of the spec, "Common rules". */
export const networks = ['mainnet-beta', 'devnet', 'testnet'] as const;
export type Network = (typeof networks)[number];

/** One time that a call was put to a node. Times are `performance.now()`. */
export type CallAttempt = Readonly<{
  node: string;
  startedAt: number;
  endedAt: number;
  /** `ok`, or what it came to in a few words. Holds nothing that a node sent. */
  outcome: string;
}>;

/** What may answer a call so that no node is asked for it alone. */
export type ServedFrom = 'cache' | 'shared' | 'heads' | 'store';

/** Hears what becomes of a call on its way. Must not throw. */
export interface CallTrace {
  onAttempt(attempt: CallAttempt): void;
  /**
   * No node was asked for this call alone: the answer was there, or was on its way to somebody else.
   * @param startedAt - when it was looked for, `performance.now()`.
   */
  onServedFrom?(from: ServedFrom, startedAt: number): void;
  /** A transaction that was accepted is followed no more: after the answer, once. More attempts may have come before. */
  onSubmissionEnd?(result: SubmissionResult): void;
}

/** One JSON-RPC call on its way to whoever answers it. */
export type Call = Readonly<{
  network: Network;
  method: string;
  /** The method's row in the table, or the row of unknown methods. */
  row: MethodRow;
  /** The raw JSON text of `params`, untouched; null when the member is absent. */
  params: Buffer | null;
  /** Absent or null: nobody wants to hear of it, and nothing is made for it. */
  trace?: CallTrace | null;
  /**
   * The slots that whoever asks must not be told less of: a node that is behind them is no good to ask. Absent or null:
   * any will do.
   */
  minSlot?: MinSlot | null;
}>;

/** What came back, still as the bytes that were received. */
export type RpcResponse = Readonly<{
  /**
   * Raw JSON of the `result` or of the `error` member. A view into what was received, and read only: others may have the
   * same bytes, now or later.
   */
  body: Buffer;
  /** The JSON-RPC error code, or 0 when `body` is a result. */
  errorCode: number;
}>;

/** Hears what a call came to: one of the two, once; it may be before `put` has returned. Must not throw. */
export interface ResponseHandler {
  onResponse(response: RpcResponse): void;
  /** Nobody answered. */
  onError(failure: Failure): void;
  /**
   * Takes a long result while it comes, in place of `answered`. Absent or null: every answer is had whole. Looked at when
   * an answer begins to come.
   */
  readonly stream?: StreamHandler | null;
}

/** A call that is under way. */
export interface PendingCall {
  /**
   * Whoever asked has left: the call fails with CLIENT_GONE, if it has not ended. What outlives its caller
   * (protocol/methods.ts) goes on.
   */
  cancel(): void;
}

/** Anything that answers calls: the pool, or a middleware in front of it. `request` (rpc-dispatcher.ts) returns a promise. */
export interface RpcDispatcher {
  dispatch(call: Call, handler: ResponseHandler): PendingCall;
}
