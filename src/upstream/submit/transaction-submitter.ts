import type { Logger } from '../../base/log.ts';
import type {
  Call,
  CallTrace,
  Network,
  PendingCall,
  ResponseHandler,
  RpcDispatcher,
  RpcResponse,
} from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { methodTraits } from '../../protocol/methods.ts';
import { type PendingSubmissionParts, PendingSubmissions } from './pending-submissions.ts';
import { Submission, type SubmissionListener, type SubmitLimits } from './submission.ts';
import { parseSubmitRequest, type SubmitRequest } from './submit-request.ts';

/** What sending stands on. */
export type TransactionSubmitterOptions = Omit<PendingSubmissionParts, 'next'> & Readonly<{ log: Logger }>;

/** Once handed over it is done: nobody can take it back. */
const uncancelable: PendingCall = { cancel: () => {} };

/**
 * A source that hands transactions to all nodes and to the endpoints for sending, and repeats them until they have
 * landed (submission.ts, pending-sends.ts). All else goes on to the source behind it, and so does what is no
 * transaction: it is a node's to say why.
 *
 * The same transaction that is sent again while it is under way, or soon after it was accepted, is not handed over
 * again: it gets the same answer. It must be sent under the same conditions: who skips preflight may not be refused by
 * somebody else's, and who names a slot or wants a preflight is not told of success without. The time is shorter than
 * the pace at which clients send a transaction again on purpose.
 */
export class TransactionSubmitter implements RpcDispatcher, CoalescedSubmissionListener {
  readonly #parts: PendingSubmissionParts & Readonly<{ log: Logger }>;
  readonly #pending: PendingSubmissions;
  readonly #inFlight = new Map<string, CoalescedSubmission>();
  /** Who waits for the answers of those. */
  #callers = 0;
  readonly #accepted: RecentSubmissions;

  constructor(next: RpcDispatcher, options: TransactionSubmitterOptions) {
    this.#parts = { ...options, next };
    this.#pending = new PendingSubmissions(this.#parts);
    this.#accepted = new RecentSubmissions(options.limits);
  }

  /** Transactions that are followed until they have landed. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Transactions that were given up for want of room. */
  get shed(): number {
    return this.#pending.shed;
  }

  dispatch(call: Call, handler: ResponseHandler): PendingCall {
    const request = methodTraits[call.row.kind].signed ? parseSubmitRequest(call.params) : null;
    if (request === null) return this.#parts.next.dispatch(call, handler);
    const { trace = null } = call;
    this.#submit(call, request, { handler, trace, rebroadcastsMax: request.rebroadcastsMax });
    return uncancelable;
  }

  /**
   * Repeats nothing more. What is pending is in the hands of nodes: the one that was asked first repeats it by itself,
   * unless whoever sent it set how often.
   */
  async close(): Promise<void> {
    const transactions = this.#pending.close();
    if (transactions > 0) {
      this.#parts.log.warn({ transactions }, 'transactions that have not landed yet are left to the nodes');
    }
    this.#parts.targets.close();
  }

  onEnd({ key, request, submitters }: CoalescedSubmission, isAccepted: boolean): void {
    const name = submissionKey(key, request);
    this.#inFlight.delete(name);
    this.#callers -= submitters.length;
    if (isAccepted) this.#accepted.add(name);
  }

  onAccepted({ key, request, submitters, network }: CoalescedSubmission): void {
    this.#pending.add(network, key, request, submitters);
  }

  #submit(call: Call, request: SubmitRequest, submitter: Submitter): void {
    const key = `${call.network} ${request.text}`;
    const name = submissionKey(key, request);
    if (this.#accepted.has(name)) {
      this.#pending.join(key, submitter);
      submitter.handler.onResponse(acceptedResponse(request));
      return;
    }
    const existing = this.#inFlight.get(name);
    if (!this.#hasCapacity(existing === undefined)) {
      submitter.handler.onError(new Failure('OVERLOADED', { facts: { network: call.network } }));
      return;
    }
    this.#callers++;
    if (existing !== undefined) {
      existing.submitters.push(submitter);
      return;
    }
    const coalesced = new CoalescedSubmission(call.network, key, request, submitter, this);
    this.#inFlight.set(name, coalesced);
    new Submission(this.#parts, call, request, coalesced).start();
  }

  #hasCapacity(isNew: boolean): boolean {
    const { underWayMax, callersMax } = this.#parts.limits;
    return this.#callers < callersMax && !(isNew && this.#inFlight.size >= underWayMax);
  }
}

const submissionKey = (key: string, { conditions }: SubmitRequest): string => `${key} ${conditions}`;

/** Somebody who sent a transaction. */
export type Submitter = Readonly<{
  handler: ResponseHandler;
  trace: CallTrace | null;
  /** How often they want it rebroadcast. */
  rebroadcastsMax: number;
}>;

/** Hears of the end of a submission. Must not throw. */
export interface CoalescedSubmissionListener {
  /** It is under way no longer, and nobody was answered yet. */
  onEnd(submission: CoalescedSubmission, isAccepted: boolean): void;
  /** It was accepted, and all were answered. */
  onAccepted(submission: CoalescedSubmission): void;
}

/** The answer to whoever sent a transaction that was accepted: the signature, as any node would write it. */
export const acceptedResponse = ({ signature }: SubmitRequest): RpcResponse => ({
  body: Buffer.from(`"${signature}"`),
  errorCode: 0,
});

/** All who sent the same transaction under the same conditions while it was under way: they share the answer. */
export class CoalescedSubmission implements SubmissionListener {
  readonly network: Network;
  /** Names network and bytes. */
  readonly key: string;
  readonly request: SubmitRequest;
  readonly submitters: Submitter[];
  readonly #listener: CoalescedSubmissionListener;

  constructor(
    network: Network,
    key: string,
    request: SubmitRequest,
    first: Submitter,
    listener: CoalescedSubmissionListener,
  ) {
    this.network = network;
    this.key = key;
    this.request = request;
    this.submitters = [first];
    this.#listener = listener;
  }

  onAccepted(): void {
    this.#listener.onEnd(this, true);
    for (const { handler } of this.submitters) handler.onResponse(acceptedResponse(this.request));
    this.#listener.onAccepted(this);
  }

  onRejected(response: RpcResponse): void {
    this.#listener.onEnd(this, false);
    for (const { handler } of this.submitters) handler.onResponse(response);
  }

  onError(failure: Failure): void {
    this.#listener.onEnd(this, false);
    for (const { handler } of this.submitters) handler.onError(failure);
  }
}

/** Transactions that were accepted a moment ago, by network, bytes and the conditions under which they were sent. */
export class RecentSubmissions {
  readonly #limits: Pick<SubmitLimits, 'acceptedMs' | 'acceptedMax'>;
  /** When each ends, in that order. */
  readonly #entries = new Map<string, number>();

  constructor(limits: Pick<SubmitLimits, 'acceptedMs' | 'acceptedMax'>) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  add(name: string): void {
    const { acceptedMs, acceptedMax } = this.#limits;
    const now = performance.now();
    this.#entries.delete(name);
    for (const [old, until] of this.#entries) {
      if (until > now && this.#entries.size < acceptedMax) break;
      this.#entries.delete(old);
    }
    this.#entries.set(name, now + acceptedMs);
  }

  has(name: string): boolean {
    const until = this.#entries.get(name);
    return until !== undefined && performance.now() < until;
  }
}
