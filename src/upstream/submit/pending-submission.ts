import type { CallTrace, Network } from '../../protocol/call.ts';
import type { CallAttempt } from '../../protocol/errors.ts';
import { methods } from '../../protocol/methods.ts';
import type { RebroadcastAttempt, SubmissionResult } from '../../protocol/submission-result.ts';
import { verifyTransaction } from '../../solana/ed25519.ts';
import { decodeTransaction } from '../../solana/transaction/decode-transaction.ts';
import { WatchedTransaction } from '../confirmations/watched-transaction.ts';
import { withJitter } from '../exponential-backoff.ts';
import type { SubmitLimits } from './limits.ts';
import { type SubmissionParts, type SubmitListener, submitTransaction, toCallAttempt } from './submission.ts';
import type { SubmitRequest } from './submit-request.ts';

/** Maximum number of submitters of a transaction that are notified of its result. */
const TRACES_MAX = 100;
/** Maximum number of recorded pairs of node and outcome per transaction. */
const REBROADCAST_ATTEMPTS_MAX = 100;

export type SubmissionEnd = Omit<SubmissionResult, 'rebroadcasts' | 'rebroadcastAttempts'>;

export type SubmitterInfo = Readonly<{ trace: CallTrace | null; rebroadcastsMax: number }>;

/** A transaction that was accepted, but has not yet landed or expired. */
export class PendingSubmission {
  readonly network: Network;
  /** Network and base64 transaction. */
  readonly key: string;
  readonly params: Buffer;
  readonly watched: WatchedTransaction;
  rebroadcasts = 0;
  /** Time of the next rebroadcast, on the `performance.now()` clock. */
  dueAt = 0;
  readonly endsAt: number;
  #rebroadcastsMax: number;
  readonly #traces: CallTrace[] = [];
  #rebroadcastAttempts: Map<string, RebroadcastAttempt> | null = null;

  constructor(network: Network, key: string, request: SubmitRequest, limits: SubmitLimits) {
    const { blockhash, signature, bareParams, rebroadcastsMax } = request;
    const lifetime = blockhash === null ? null : { blockhash, lastValidBlockHeight: null };
    this.network = network;
    this.key = key;
    this.params = bareParams;
    this.watched = new WatchedTransaction(signature, 'confirmed', lifetime);
    this.endsAt = performance.now() + limits.pendingMaxMs;
    this.#rebroadcastsMax = rebroadcastsMax;
    this.scheduleIn(limits.rebroadcastIntervalMs);
  }

  /** The transaction is stored twice: in `params` and in `key`. */
  get bytes(): number {
    return this.key.length + this.params.length;
  }

  /** True for unsupported versions. Without preflight, nodes may accept unsigned transactions, which never land. */
  isSigned(): boolean {
    const decoded = decodeTransaction(Buffer.from(this.key.slice(this.network.length + 1), 'base64'));
    return 'fault' in decoded || verifyTransaction(decoded.transaction);
  }

  /** The highest rebroadcast limit of all submitters applies. */
  addSubmitter({ trace, rebroadcastsMax }: SubmitterInfo): void {
    this.#rebroadcastsMax = Math.max(this.#rebroadcastsMax, rebroadcastsMax);
    if (trace !== null && this.#traces.length < TRACES_MAX) this.#traces.push(trace);
  }

  /** Not due while any fork contains the transaction. */
  isDue(now: number): boolean {
    return this.dueAt <= now && this.rebroadcasts < this.#rebroadcastsMax && this.watched.status === null;
  }

  scheduleIn(ms: number): void {
    this.dueAt = performance.now() + withJitter(ms);
  }

  recordRebroadcast({ node, outcome, startedAt, endedAt }: CallAttempt): void {
    this.#rebroadcastAttempts ??= new Map();
    const name = `${node} ${outcome}`;
    const times = (this.#rebroadcastAttempts.get(name)?.times ?? 0) + 1;
    if (times === 1 && this.#rebroadcastAttempts.size >= REBROADCAST_ATTEMPTS_MAX) return;
    const at = Math.round(Date.now() - (performance.now() - startedAt));
    const ms = Math.round((endedAt - startedAt) * 1_000) / 1_000;
    this.#rebroadcastAttempts.set(name, { node, outcome, times, at, ms });
  }

  reportResult(result: SubmissionEnd): void {
    const { rebroadcasts } = this;
    const rebroadcastAttempts = [...(this.#rebroadcastAttempts?.values() ?? [])];
    for (const trace of this.#traces)
      trace.onSubmissionEnd?.({ ...result, rebroadcasts, rebroadcastAttempts });
  }
}

/**
 * @param onEnd - called when all attempts have ended, possibly before the function returns.
 * @returns false if there is no target, in which case `onEnd` is not called.
 */
export function rebroadcast(
  submission: PendingSubmission,
  { targets, limits }: SubmissionParts,
  onEnd: () => void,
): boolean {
  const { network, params } = submission;
  const nodes = [...targets.nodes(network), ...targets.sendOnly(network)];
  const call = { network, method: 'sendTransaction', row: methods.sendTransaction, params };
  let outstanding = nodes.length;
  const onSubmitOutcome: SubmitListener['onSubmitOutcome'] = (node, outcome, elapsedMs) => {
    submission.recordRebroadcast(toCallAttempt(node, outcome, elapsedMs));
    if (--outstanding === 0) onEnd();
  };
  for (const node of nodes) submitTransaction(node, call, limits.attemptTimeoutMs, { onSubmitOutcome });
  return nodes.length > 0;
}
