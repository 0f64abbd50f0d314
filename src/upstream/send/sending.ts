import type { Logger } from '../../base/log.ts';
import type { Answer, Asked, Asker, Call, DirectSource } from '../../protocol/call.ts';
import { askDirectly } from '../../protocol/direct-source.ts';
import { Failure } from '../../protocol/errors.ts';
import { natures } from '../../protocol/methods.ts';
import { AcceptedSends } from './accepted-sends.ts';
import { type PendingParts, PendingSends } from './pending-sends.ts';
import { readSendRequest, type SendRequest } from './send-request.ts';
import { acceptance, type Sender, SentTogether, type TogetherOwner } from './sent-together.ts';
import { Submission } from './submission.ts';

/** What sending stands on. */
export type SendingParts = PendingParts & Readonly<{ log: Logger }>;

/** Once handed over it is done: nobody can take it back. */
const cannotLeave: Asked = { leave: () => {} };

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
export class Sending implements DirectSource, TogetherOwner {
  readonly #parts: SendingParts;
  readonly #pending: PendingSends;
  readonly #underWay = new Map<string, SentTogether>();
  /** Who waits for the answers of those. */
  #callers = 0;
  readonly #accepted: AcceptedSends;

  constructor(parts: SendingParts) {
    this.#parts = parts;
    this.#pending = new PendingSends(parts);
    this.#accepted = new AcceptedSends(parts.limits);
  }

  /** Transactions that are followed until they have landed. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Transactions that were given up for want of room. */
  get shed(): number {
    return this.#pending.shed;
  }

  ask(call: Call, signal?: AbortSignal): Promise<Answer> {
    return askDirectly(this, call, signal);
  }

  put(call: Call, asker: Asker): Asked {
    const request = natures[call.row.nature].signed ? readSendRequest(call.params) : null;
    if (request === null) return this.#parts.source.put(call, asker);
    const { trace = null } = call;
    this.#send(call, request, { asker, trace, rebroadcastsMax: request.rebroadcastsMax });
    return cannotLeave;
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
    this.#parts.senders.close();
  }

  ended({ key, request, senders }: SentTogether, isAccepted: boolean): void {
    const name = nameOf(key, request);
    this.#underWay.delete(name);
    this.#callers -= senders.length;
    if (isAccepted) this.#accepted.add(name);
  }

  accepted({ key, request, senders, network }: SentTogether): void {
    this.#pending.add(network, key, request, senders);
  }

  #send(call: Call, request: SendRequest, sender: Sender): void {
    const key = `${call.network} ${request.text}`;
    const name = nameOf(key, request);
    if (this.#accepted.has(name)) {
      this.#pending.join(key, sender);
      sender.asker.answered(acceptance(request));
      return;
    }
    const known = this.#underWay.get(name);
    if (!this.#hasPlace(known === undefined)) {
      sender.asker.failed(new Failure('OVERLOADED', { facts: { network: call.network } }));
      return;
    }
    this.#callers++;
    if (known !== undefined) {
      known.senders.push(sender);
      return;
    }
    const together = new SentTogether(call.network, key, request, sender, this);
    this.#underWay.set(name, together);
    new Submission(this.#parts, call, request, together).begin();
  }

  #hasPlace(isNew: boolean): boolean {
    const { underWayMax, callersMax } = this.#parts.limits;
    return this.#callers < callersMax && !(isNew && this.#underWay.size >= underWayMax);
  }
}

const nameOf = (key: string, { conditions }: SendRequest): string => `${key} ${conditions}`;
