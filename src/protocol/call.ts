import type { CallAttempt, Failure } from './errors.ts';
import type { MethodRow } from './methods.ts';
import type { MinSlot } from './min-slot.ts';
import type { StreamHandler } from './streamed-response.ts';
import type { SubmissionResult } from './submission-result.ts';

/** Networks that exist without configuration. Source: spec, "Common rules". */
export const standardNetworks = ['mainnet-beta', 'devnet', 'testnet'] as const;
export type StandardNetwork = (typeof standardNetworks)[number];

declare const isCustom: unique symbol;
/** A standard network, or a custom one: a name that `isNetworkName` accepts and the configuration lists. */
export type Network = StandardNetwork | (string & { readonly [isCustom]: true });

export const NETWORK_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
/** Whether the text can name a network. Stored rows may name networks that the configuration no longer lists. */
export const isNetworkName = (value: unknown): value is Network =>
  typeof value === 'string' && NETWORK_NAME.test(value);

export const isStandardNetwork = (network: string): network is StandardNetwork =>
  standardNetworks.some((name) => name === network);

/** Origin of the response to a call that was not sent to a node itself. */
export type ServedFrom = 'cache' | 'shared' | 'heads' | 'store';

/** Receives the trace events of a call. Must not throw. */
export interface CallTrace {
  onAttempt(attempt: CallAttempt): void;
  /** @param startedAt - start of the lookup, on the `performance.now()` clock. */
  onServedFrom?(from: ServedFrom, startedAt: number): void;
  /** Called once when the tracking of an accepted transaction ends, after the response and any further attempts. */
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
  /** Minimum slots for the caller's session. */
  minSlot?: MinSlot | null;
  /** Whether the response may be cached on disk. */
  usesDisk?: boolean;
}>;

export type RpcResponse = Readonly<{
  /** Raw JSON of `result` or `error`. Read-only, because other callers may share it. */
  body: Buffer;
  /** JSON-RPC error code; 0 for a result. */
  errorCode: number;
  /** Attempts that led to this error, for the request log; empty if no node sent it; absent for results. */
  attempts?: readonly CallAttempt[];
}>;

/** Receives the response or the failure exactly once, possibly synchronously. Must not throw. */
export interface ResponseHandler {
  onResponse(response: RpcResponse): void;
  onError(failure: Failure): void;
  /** Receives large results as a stream in place of `onResponse`. The property is read when the response starts. */
  readonly stream?: StreamHandler | null;
}

export interface PendingCall {
  /** Cancels the call, which then fails with CLIENT_GONE. No effect on methods with `outlivesCaller` (methods.ts). */
  cancel(): void;
}

/** The node pool, or a middleware in front of it. `request` (rpc-dispatcher.ts) is the promise-based form. */
export interface RpcDispatcher {
  dispatch(call: Call, handler: ResponseHandler): PendingCall;
}
