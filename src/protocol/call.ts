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
  /** @param startedAt - of the lookup, `performance.now()`. */
  onServedFrom?(from: ServedFrom, startedAt: number): void;
  /** Tracking of an accepted transaction ended. Called once, after the response and further attempts. */
  onSubmissionEnd?(result: SubmissionResult): void;
}

export type Call = Readonly<{
  network: Network;
  method: string;
  /** Row of the method table, or `unknownMethod`. */
  row: MethodRow;
  /** Raw JSON. */
  params: Buffer | null;
  trace?: CallTrace | null;
  /** Minimum slots of the caller's session. */
  minSlot?: MinSlot | null;
}>;

export type RpcResponse = Readonly<{
  /** Raw JSON of `result` or `error`: read-only, other callers may share it. */
  body: Buffer;
  /** JSON-RPC error code; 0 for a result. */
  errorCode: number;
}>;

/** Receives the response or the failure exactly once, possibly synchronously. Must not throw. */
export interface ResponseHandler {
  onResponse(response: RpcResponse): void;
  onError(failure: Failure): void;
  /** Receives large results as a stream in place of `onResponse`. Read when the response starts. */
  readonly stream?: StreamHandler | null;
}

export interface PendingCall {
  /** Cancels the call: it fails with CLIENT_GONE, unless its method outlives its caller (methods.ts). */
  cancel(): void;
}

/** The node pool, or a middleware in front of it. `request` (rpc-dispatcher.ts) returns a promise. */
export interface RpcDispatcher {
  dispatch(call: Call, handler: ResponseHandler): PendingCall;
}
