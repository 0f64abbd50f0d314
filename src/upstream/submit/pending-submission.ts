import type { CallAttempt, CallTrace, Network } from '../../protocol/call.ts';
import type { RebroadcastAttempt, SubmissionResult } from '../../protocol/submission-result.ts';
import { verifyTransaction } from '../../solana/ed25519.ts';
import { decodeTransaction } from '../../solana/transaction/decode-transaction.ts';
import { WatchedTransaction } from '../confirmations/watched-transaction.ts';
import { withJitter } from '../exponential-backoff.ts';
import type { SubmitLimits } from './limits.ts';
import type { SubmitRequest } from './submit-request.ts';

/** Of those who sent the same transaction so many are told what became of it. */
const TRACES_MAX = 100;
/** So many pairs of a node and what it said are kept of the rebroadcasts of one transaction. */
const REBROADCAST_ATTEMPTS_MAX = 100;

/** Somebody who sent a transaction, as far as what follows concerns them. */
export type SubmitterInfo = Readonly<{ trace: CallTrace | null; rebroadcastsMax: number }>;

/** A transaction that was accepted, until it has landed or cannot land any more. */
export class PendingSubmission {
  readonly network: Network;
  /** Names network and bytes. */
  readonly key: string;
  /** For everybody it is handed to again. */
  readonly params: Buffer;
  readonly watched: WatchedTransaction;
  /** How often it was rebroadcast. */
  rebroadcasts = 0;
  /** When it is due; `performance.now()`. */
  dueAt = 0;
  readonly endsAt: number;
  #rebroadcastsMax: number;
  readonly #traces: CallTrace[] = [];
  /** By node and outcome; made with the first rebroadcast. */
  #rebroadcastAttempts: Map<string, RebroadcastAttempt> | null = null;

  constructor(network: Network, key: string, request: SubmitRequest, limits: SubmitLimits) {
    const { blockhash, signature, plain, rebroadcastsMax } = request;
    const lifetime = blockhash === null ? null : { blockhash, lastValidBlockHeight: null };
    this.network = network;
    this.key = key;
    this.params = plain;
    this.watched = new WatchedTransaction(signature, 'confirmed', lifetime);
    this.endsAt = performance.now() + limits.pendingMaxMs;
    this.#rebroadcastsMax = rebroadcastsMax;
    this.scheduleIn(limits.rebroadcastIntervalMs);
  }

  /** What it takes: its bytes stand here and in its name. */
  get bytes(): number {
    return this.key.length + this.params.length;
  }

  /**
   * Whether its signatures are those of what it says, as far as we read its version: what was accepted without preflight may
   * be anything, and without them it can never land. Looked at each time, and so before the first rebroadcast only.
   */
  isSigned(): boolean {
    const decoded = decodeTransaction(Buffer.from(this.key.slice(this.network.length + 1), 'base64'));
    return 'fault' in decoded || verifyTransaction(decoded.transaction);
  }

  /** Somebody else sent it too: it is rebroadcast as often as the more patient of them wants it. */
  addSubmitter({ trace, rebroadcastsMax }: SubmitterInfo): void {
    this.#rebroadcastsMax = Math.max(this.#rebroadcastsMax, rebroadcastsMax);
    if (trace !== null && this.#traces.length < TRACES_MAX) this.#traces.push(trace);
  }

  /** Whether it is to be rebroadcast now. While some fork has it there is no need. */
  isDue(now: number): boolean {
    return this.dueAt <= now && this.rebroadcasts < this.#rebroadcastsMax && this.watched.status === null;
  }

  /** It is due in about so long. */
  scheduleIn(ms: number): void {
    this.dueAt = performance.now() + withJitter(ms);
  }

  /** A node was handed it again. */
  recordRebroadcast({ node, outcome, startedAt, endedAt }: CallAttempt): void {
    this.#rebroadcastAttempts ??= new Map();
    const name = `${node} ${outcome}`;
    const times = (this.#rebroadcastAttempts.get(name)?.times ?? 0) + 1;
    if (times === 1 && this.#rebroadcastAttempts.size >= REBROADCAST_ATTEMPTS_MAX) return;
    const at = Math.round(Date.now() - (performance.now() - startedAt));
    const ms = Math.round((endedAt - startedAt) * 1_000) / 1_000;
    this.#rebroadcastAttempts.set(name, { node, outcome, times, at, ms });
  }

  /** Tells all who sent it. */
  reportResult(result: Omit<SubmissionResult, 'rebroadcasts' | 'rebroadcastAttempts'>): void {
    const { rebroadcasts } = this;
    const rebroadcastAttempts = [...(this.#rebroadcastAttempts?.values() ?? [])];
    for (const trace of this.#traces)
      trace.onSubmissionEnd?.({ ...result, rebroadcasts, rebroadcastAttempts });
  }
}
