import type { Failure } from './errors.ts';
import type { MethodRow } from './methods.ts';
import type { MinSlot } from './min-slot.ts';
import type { StreamHandler } from './streamed-response.ts';
import type { SubmissionResult } from './submission-result.ts';

/** Source: spec, "Common rules". */
export const networks = ['mainnet-beta', 'devnet', 'testnet'] as const;
export type Network = (typeof networks)[number];

/** One attempt at a node. Times are `performance.now()`. */
export type CallAttempt = Readonly<{
  node: string;
  startedAt: number;
  endedAt: number;
  /** `ok` or a short description. Contains nothing that a node sent. */
  outcome: string;
}>;

/** What answered a call without an attempt of its own. */
export type ServedFrom = 'cache' | 'shared' | 'heads' | 'store';

/** Receives the attempts of a call. Must not throw. */
export interface CallTrace {
  onAttempt(attempt: CallAttempt): void;
  /**
   * The call was answered by a cache or by joining another call.
   * @param startedAt - start of the lookup, `performance.now()`.
   */
  onServedFrom?(from: ServedFrom, startedAt: number): void;
  /** Tracking of an accepted transaction ended. Called once, after the response and further attempts. */
  onSubmissionEnd?(result: SubmissionResult): void;
}

/** One JSON-RPC call. */
export type Call = Readonly<{
  network: Network;
  method: string;
  /** Row of the method table, or `unknownMethod`. */
  row: MethodRow;
  /** Raw JSON text of `params`; null if absent. */
  params: Buffer | null;
  /** Absent or null: not traced. */
  trace?: CallTrace | null;
  /** Minimum slots of the caller's session. Absent or null: none. */
  minSlot?: MinSlot | null;
}>;

/** Response as received bytes. */
export type RpcResponse = Readonly<{
  /** Raw JSON of the `result` or `error` member. A read-only view that other callers may share. */
  body: Buffer;
  /** JSON-RPC error code; 0 for a result. */
  errorCode: number;
}>;

/** Receives the response or the failure exactly once, possibly synchronously. Must not throw. */
export interface ResponseHandler {
  onResponse(response: RpcResponse): void;
  /** No node responded. */
  onError(failure: Failure): void;
  /**
   * Receives large results as a stream, in place of `onResponse`. Absent or null: buffered. Read when the
   * response starts.
   */
  readonly stream?: StreamHandler | null;
}

export interface PendingCall {
  /** Cancels the call: it fails with CLIENT_GONE, unless its method outlives its caller (methods.ts). */
  cancel(): void;
}

/**
 * Dispatches calls: the node pool, or a middleware in front of it. `request` (rpc-dispatcher.ts)
 * returns a promise.
 */
export interface RpcDispatcher {
  dispatch(call: Call, handler: ResponseHandler): PendingCall;
}
