import type { Answer, Asker, CallTrace, Network } from '../../protocol/call.ts';
import type { Failure } from '../../protocol/errors.ts';
import type { SendRequest } from './send-request.ts';
import type { SubmissionOwner } from './submission.ts';

/** Somebody who sent a transaction. */
export type Sender = Readonly<{
  asker: Asker;
  trace: CallTrace | null;
  /** How often they want it rebroadcast. */
  rebroadcastsMax: number;
}>;

/** Hears of the end of a submission. Must not throw. */
export interface TogetherOwner {
  /** It is under way no longer, and nobody was answered yet. */
  ended(together: SentTogether, isAccepted: boolean): void;
  /** It was accepted, and all were answered. */
  accepted(together: SentTogether): void;
}

/** The answer to whoever sent a transaction that was accepted: the signature, as any node would write it. */
export const acceptance = ({ signature }: SendRequest): Answer => ({
  body: Buffer.from(`"${signature}"`),
  errorCode: 0,
});

/** All who sent the same transaction under the same conditions while it was under way: they share the answer. */
export class SentTogether implements SubmissionOwner {
  readonly network: Network;
  /** Names network and bytes. */
  readonly key: string;
  readonly request: SendRequest;
  readonly senders: Sender[];
  readonly #owner: TogetherOwner;

  constructor(network: Network, key: string, request: SendRequest, first: Sender, owner: TogetherOwner) {
    this.network = network;
    this.key = key;
    this.request = request;
    this.senders = [first];
    this.#owner = owner;
  }

  accepted(): void {
    this.#owner.ended(this, true);
    for (const { asker } of this.senders) asker.answered(acceptance(this.request));
    this.#owner.accepted(this);
  }

  refused(answer: Answer): void {
    this.#owner.ended(this, false);
    for (const { asker } of this.senders) asker.answered(answer);
  }

  failed(failure: Failure): void {
    this.#owner.ended(this, false);
    for (const { asker } of this.senders) asker.failed(failure);
  }
}
