import type { CallTrace, Network, ResponseHandler, RpcResponse } from '../../protocol/call.ts';
import type { Failure } from '../../protocol/errors.ts';
import type { SubmissionListener } from './submission.ts';
import type { SubmitRequest } from './submit-request.ts';

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
