import type { Logger } from '../../base/log.ts';
import type {
  Call,
  Network,
  PendingCall,
  ResponseHandler,
  RpcDispatcher,
  RpcResponse,
} from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { methodTraits } from '../../protocol/methods.ts';
import { noopPendingCall } from '../../protocol/rpc-dispatcher.ts';
import type { SubmitLimits } from './limits.ts';
import type { SubmitterInfo } from './pending-submission.ts';
import { Rebroadcaster, type RebroadcasterParts } from './rebroadcaster.ts';
import { Submission, type SubmissionListener } from './submission.ts';
import { parseSubmitRequest, type SubmitRequest } from './submit-request.ts';

export type TransactionSubmitterOptions = Omit<RebroadcasterParts, 'next'> & Readonly<{ log: Logger }>;

/**
 * Submits transactions to all nodes and send-only endpoints, and rebroadcasts them until they land. Forwards all other
 * calls. Also forwards calls whose params are not a transaction, so that a node reports the error.
 *
 * A duplicate, with the same options (preflight, commitment, slot), of a transaction that is in flight or was accepted
 * within `acceptedMs` gets the same response without a new submission. `acceptedMs` is shorter than the interval at
 * which clients deliberately resend.
 */
export class TransactionSubmitter implements RpcDispatcher {
  readonly #parts: RebroadcasterParts & Readonly<{ log: Logger }>;
  readonly #pending: Rebroadcaster;
  readonly #inFlight = new Map<string, CoalescedSubmission>();
  /** Number of submitters awaiting a response. */
  #callers = 0;
  readonly #accepted: RecentSubmissions;

  constructor(next: RpcDispatcher, options: TransactionSubmitterOptions) {
    this.#parts = { ...options, next };
    this.#pending = new Rebroadcaster(this.#parts);
    this.#accepted = new RecentSubmissions(options.limits);
  }

  get pending(): number {
    return this.#pending.size;
  }

  get shed(): number {
    return this.#pending.shed;
  }

  dispatch(call: Call, handler: ResponseHandler): PendingCall {
    const request = methodTraits[call.row.kind].signed ? parseSubmitRequest(call.params) : null;
    if (request === null) return this.#parts.next.dispatch(call, handler);
    const { trace = null } = call;
    this.#submit(call, request, { handler, trace, rebroadcastsMax: request.rebroadcastsMax });
    // A submitted transaction cannot be recalled.
    return noopPendingCall;
  }

  /** After this, the first node continues to rebroadcast by itself, unless the client set `maxRetries`. */
  async close(): Promise<void> {
    const transactions = this.#pending.close();
    if (transactions > 0) {
      this.#parts.log.warn(
        { transactions },
        'Shutting down with pending transactions; nodes continue to rebroadcast them',
      );
    }
    this.#parts.targets.close();
  }

  /** Called before any submitter gets the response. */
  onEnd({ key, request, submitters }: CoalescedSubmission, isAccepted: boolean): void {
    const name = submissionKey(key, request);
    this.#inFlight.delete(name);
    this.#callers -= submitters.length;
    if (isAccepted) this.#accepted.add(name);
  }

  /** Called after all submitters have received the response. */
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
    const { inFlightMax, callersMax } = this.#parts.limits;
    return this.#callers < callersMax && !(isNew && this.#inFlight.size >= inFlightMax);
  }
}

const submissionKey = (key: string, { optionsKey }: SubmitRequest): string => `${key} ${optionsKey}`;

type Submitter = SubmitterInfo & Readonly<{ handler: ResponseHandler }>;

const acceptedResponse = ({ signature }: SubmitRequest): RpcResponse => ({
  body: Buffer.from(`"${signature}"`),
  errorCode: 0,
});

/** Submitters of the same in-flight transaction, who share the response. */
class CoalescedSubmission implements SubmissionListener {
  readonly network: Network;
  readonly key: string;
  readonly request: SubmitRequest;
  readonly submitters: Submitter[];
  readonly #owner: TransactionSubmitter;

  constructor(
    network: Network,
    key: string,
    request: SubmitRequest,
    first: Submitter,
    owner: TransactionSubmitter,
  ) {
    this.network = network;
    this.key = key;
    this.request = request;
    this.submitters = [first];
    this.#owner = owner;
  }

  onAccepted(): void {
    this.#owner.onEnd(this, true);
    for (const { handler } of this.submitters) handler.onResponse(acceptedResponse(this.request));
    this.#owner.onAccepted(this);
  }

  onRejected(response: RpcResponse): void {
    this.#owner.onEnd(this, false);
    for (const { handler } of this.submitters) handler.onResponse(response);
  }

  onError(failure: Failure): void {
    this.#owner.onEnd(this, false);
    for (const { handler } of this.submitters) handler.onError(failure);
  }
}

/** Recently accepted transactions, keyed by network, bytes and options. */
class RecentSubmissions {
  readonly #limits: Pick<SubmitLimits, 'acceptedMs' | 'acceptedMax'>;
  readonly #entries = new Map<string, number>();

  constructor(limits: Pick<SubmitLimits, 'acceptedMs' | 'acceptedMax'>) {
    this.#limits = limits;
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
