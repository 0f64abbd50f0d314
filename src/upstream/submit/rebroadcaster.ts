import { type JsonValue, writeJson } from '../../base/json.ts';
import type { Call, Network, RpcResponse } from '../../protocol/call.ts';
import { StatusPoller } from '../confirmations/status-poller.ts';
import type { Confirmation } from '../confirmations/watched-transaction.ts';
import type { UpstreamNode } from '../node.ts';
import { attempt } from '../retry/attempt.ts';
import type { SubmitLimits } from './limits.ts';
import {
  PendingSubmission,
  rebroadcast,
  type SubmissionEnd,
  type SubmitterInfo,
} from './pending-submission.ts';
import type { SubmissionParts } from './submission.ts';
import type { SubmitRequest } from './submit-request.ts';

/** Number of checks for due rebroadcasts per rebroadcast interval. */
const CHECKS_PER_INTERVAL = 20;

export type RebroadcasterParts = SubmissionParts & Readonly<{ limits: SubmitLimits }>;

const notLanded = { slot: null, err: null } as const;

async function queryOtherNode(
  nodes: readonly UpstreamNode[],
  call: Call,
  excludedNode: string,
  timeoutMs: number,
): Promise<RpcResponse | null> {
  for (const node of nodes) {
    if (node.name === excludedNode) continue;
    const { outcome, elapsedMs } = await attempt(node, call, timeoutMs);
    node.recordOutcome(outcome, elapsedMs);
    if (outcome.kind === 'response' && outcome.response.errorCode === 0) return outcome.response;
  }
  return null;
}

/** No chain error is longer than this. */
const ERR_MAX_LENGTH = 1_024;

function errText(err: JsonValue): string | null {
  const text = typeof err === 'string' ? err : writeJson(err);
  return text.length > ERR_MAX_LENGTH ? null : text;
}

/**
 * Rebroadcasts accepted transactions until they are confirmed or expire. Above the limit, drops the transactions with
 * the most rebroadcasts first, so that a flood of transactions that cannot land does not displace others. Polls
 * statuses, which costs nodes less than a subscription per transaction.
 */
export class Rebroadcaster {
  readonly #parts: RebroadcasterParts;
  readonly #byKey = new Map<string, PendingSubmission>();
  /** Indexed by number of rebroadcasts; each set is in insertion order. */
  readonly #byCount: Set<PendingSubmission>[] = [];
  readonly #pollers = new Map<Network, StatusPoller>();
  #timer: NodeJS.Timeout | null = null;
  #bytes = 0;
  #inFlight = 0;
  shed = 0;
  #isClosed = false;

  constructor(parts: RebroadcasterParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#byKey.size;
  }

  add(network: Network, key: string, request: SubmitRequest, submitters: readonly SubmitterInfo[]): void {
    if (this.#isClosed) return;
    const submission =
      this.#byKey.get(key) ?? this.#track(new PendingSubmission(network, key, request, this.#parts.limits));
    for (const submitter of submitters) submission.addSubmitter(submitter);
    const { pendingMax, pendingMaxBytes } = this.#parts.limits;
    while (this.#byKey.size > pendingMax || this.#bytes > pendingMaxBytes) this.#dropOne();
  }

  join(key: string, submitter: SubmitterInfo): void {
    this.#byKey.get(key)?.addSubmitter(submitter);
  }

  /** Submitters are not notified. @returns the number of dropped transactions. */
  close(): number {
    this.#isClosed = true;
    const all = [...this.#byKey.values()];
    for (const submission of all) this.#remove(submission);
    return all.length;
  }

  #track(submission: PendingSubmission): PendingSubmission {
    this.#byKey.set(submission.key, submission);
    this.#bytes += submission.bytes;
    this.#setOf(0).add(submission);
    this.#pollerOf(submission.network).add(submission.watched);
    void submission.watched.outcome
      .then((confirmation) => this.#onConfirmation(submission, confirmation))
      .catch(() => this.#end(submission, { status: 'unconfirmed', ...notLanded }));
    this.#timer ??= setInterval(
      () => this.#checkDue(),
      Math.max(1, this.#parts.limits.rebroadcastIntervalMs / CHECKS_PER_INTERVAL),
    );
    return submission;
  }

  #setOf(rebroadcasts: number): Set<PendingSubmission> {
    let set = this.#byCount[rebroadcasts];
    if (set === undefined) {
      set = new Set();
      this.#byCount[rebroadcasts] = set;
    }
    return set;
  }

  #pollerOf(network: Network): StatusPoller {
    let poller = this.#pollers.get(network);
    if (poller === undefined) {
      const { limits, targets, next } = this.#parts;
      poller = new StatusPoller(network, next, limits, (call, excludedNode) =>
        queryOtherNode(targets.nodes(network), call, excludedNode, limits.attemptTimeoutMs),
      );
      this.#pollers.set(network, poller);
    }
    return poller;
  }

  #checkDue(): void {
    const now = performance.now();
    const due: PendingSubmission[] = [];
    const expired: PendingSubmission[] = [];
    for (const set of this.#byCount) {
      for (const submission of set) {
        if (submission.endsAt <= now) expired.push(submission);
        else if (submission.isDue(now)) due.push(submission);
      }
    }
    for (const submission of expired) this.#end(submission, { status: 'unconfirmed', ...notLanded });
    const { rebroadcastConcurrency } = this.#parts.limits;
    // `slice` limits the number of signature verifications per check.
    for (const submission of due.slice(0, rebroadcastConcurrency)) {
      if (this.#inFlight >= rebroadcastConcurrency) break;
      if (submission.rebroadcasts === 0 && !submission.isSigned())
        this.#end(submission, { status: 'unconfirmed', ...notLanded });
      else this.#rebroadcast(submission);
    }
  }

  #rebroadcast(submission: PendingSubmission): void {
    const { rebroadcastIntervalMs } = this.#parts.limits;
    this.#inFlight++;
    if (!rebroadcast(submission, this.#parts, () => this.#inFlight--)) {
      this.#inFlight--;
      submission.scheduleIn(rebroadcastIntervalMs / CHECKS_PER_INTERVAL);
      return;
    }
    this.#setOf(submission.rebroadcasts).delete(submission);
    this.#setOf(++submission.rebroadcasts).add(submission);
    submission.scheduleIn(rebroadcastIntervalMs);
  }

  #onConfirmation(submission: PendingSubmission, { err, failure }: Confirmation): void {
    if (failure?.code === 'TRANSACTION_EXPIRED') this.#end(submission, { status: 'expired', ...notLanded });
    if (failure !== null) return;
    const { slot } = submission.watched;
    if (err === null) this.#end(submission, { status: 'confirmed', slot, err: null });
    else this.#end(submission, { status: 'failed', slot, err: errText(err) });
  }

  #dropOne(): void {
    const mostRebroadcast = this.#byCount.findLast((set) => set.size > 0);
    const [first] = mostRebroadcast ?? [];
    if (first === undefined) throw new RangeError('no pending submission to drop');
    this.shed++;
    this.#end(first, { status: 'shed', ...notLanded });
  }

  #end(submission: PendingSubmission, result: SubmissionEnd): void {
    if (this.#remove(submission)) submission.reportResult(result);
  }

  #remove(submission: PendingSubmission): boolean {
    if (this.#byKey.get(submission.key) !== submission) return false;
    this.#byKey.delete(submission.key);
    this.#bytes -= submission.bytes;
    this.#setOf(submission.rebroadcasts).delete(submission);
    this.#pollerOf(submission.network).delete(submission.watched);
    if (this.#byKey.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
    return true;
  }
}
