import type { Answer, Asker, Call, CallAttempt, CallTrace, DirectSource } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import { preflightFault } from '../attempt.ts';
import type { UpstreamNode } from '../node.ts';
import type { Outcome } from '../outcome.ts';
import { isAmbiguous, judge } from '../retry-rules.ts';
import { attemptOf, type Hearer, handTo, isTaken } from './hand-over.ts';
import type { SendLimits } from './limits.ts';
import type { SendRequest } from './send-request.ts';
import type { Senders } from './senders.ts';

/** What a submission stands on. */
export type SubmissionParts = Readonly<{
  /** Walks from node to node until one answers. */
  source: DirectSource;
  senders: Senders;
  limits: Pick<SendLimits, 'attemptTimeoutMs'>;
}>;

/** Hears how a submission ended: one of them, once. Must not throw. */
export interface SubmissionOwner {
  accepted(): void;
  /** A node's own error. */
  refused(answer: Answer): void;
  failed(failure: Failure): void;
}

/**
 * One transaction on its way to everybody who takes any.
 *
 * With preflight one node is asked to look at it, under the caller's own commitment and slot, as any call is asked:
 * a node that is behind, or gives no answer, makes room for the next. What it refuses is handed to nobody; that no
 * node looked at it is no reason to send it either, since whoever wants a preflight would rather not pay for what
 * fails. What it accepts is handed to all others at once, who need not look again: so one transaction costs one
 * simulation, and waits for one answer.
 *
 * Without preflight there is nothing to wait for: everybody has it at once, and whoever takes it first gives the
 * answer. When all have failed, the nodes are walked as for any call, until the time is up.
 */
export class Submission implements Asker, CallTrace, Hearer {
  readonly #parts: SubmissionParts;
  readonly #call: Call;
  readonly #request: SendRequest;
  readonly #owner: SubmissionOwner;
  /** Handed over, and not heard of yet. */
  #awaited = 0;
  #isOver = false;
  /** Somebody may have it without our having learned of it. */
  #isAmbiguous = false;
  /** What the first node refused it with that was not asked to look at it. */
  #refusal: Answer | null = null;
  /** Who has it: they are not handed it again. */
  readonly #takenBy = new Set<string>();

  constructor(parts: SubmissionParts, call: Call, request: SendRequest, owner: SubmissionOwner) {
    this.#parts = parts;
    this.#call = call;
    this.#request = request;
    this.#owner = owner;
  }

  /** It may be over when this returns. */
  begin(): void {
    if (this.#request.skipPreflight) this.#handToAll();
    else this.#walk();
  }

  /** An attempt on the walk has ended. */
  attempted(attempt: CallAttempt): void {
    if (attempt.outcome === 'ok') this.#takenBy.add(attempt.node);
    this.#call.trace?.attempted(attempt);
  }

  /** The walk has ended. */
  answered(answer: Answer): void {
    if (answer.errorCode === 0 || this.#hadItAlready(answer)) {
      this.#accept();
      if (!this.#request.skipPreflight) this.#handToOthers();
    } else if (this.#isAmbiguous && !isVerdict(answer)) {
      // What this node does not know says nothing about what another may have taken.
      this.#fail(new Failure('UPSTREAM_UNAVAILABLE'));
    } else {
      this.#isOver = true;
      this.#owner.refused(answer);
    }
  }

  failed(failure: Failure): void {
    this.#fail(failure);
  }

  heard(node: UpstreamNode, outcome: Outcome, elapsedMs: number): void {
    this.#call.trace?.attempted(attemptOf(node, outcome, elapsedMs));
    if (isTaken(outcome)) this.#accept();
    else this.#note(node, outcome);
    if (--this.#awaited > 0 || this.#isOver) return;
    if (this.#refusal === null) this.#walk();
    else this.answered(this.#refusal);
  }

  #walk(): void {
    this.#parts.source.put({ ...this.#call, params: this.#request.asked, trace: this }, this);
  }

  #handToAll(): void {
    const { asked, unlooked } = this.#request;
    const [first, ...others] = this.#parts.senders.nodes(this.#call.network);
    const sendOnly = this.#parts.senders.sendOnly(this.#call.network);
    // All are counted before any is heard of.
    this.#awaited = (first === undefined ? 0 : 1) + others.length + sendOnly.length;
    if (this.#awaited === 0) {
      this.#walk();
      return;
    }
    if (first !== undefined) this.#hand(first, asked);
    for (const node of others) this.#hand(node, unlooked);
    this.#handPlain(sendOnly);
  }

  /** After it was accepted: what they answer is only recorded. */
  #handToOthers(): void {
    const { senders } = this.#parts;
    const { network } = this.#call;
    const others = senders.nodes(network).filter(({ name }) => !this.#takenBy.has(name));
    this.#handPlain([...others, ...senders.sendOnly(network)]);
  }

  #handPlain(nodes: readonly UpstreamNode[]): void {
    for (const node of nodes) this.#hand(node, this.#request.plain);
  }

  #hand(node: UpstreamNode, params: Buffer): void {
    handTo(node, { ...this.#call, params, trace: null }, this.#parts.limits.attemptTimeoutMs, this);
  }

  /** Endpoints for sending alone have rules of their own: what they refuse says nothing about the transaction. */
  #note(node: UpstreamNode, outcome: Outcome): void {
    this.#isAmbiguous ||= isAmbiguous(outcome);
    if (outcome.kind !== 'answer' || this.#parts.senders.isSendOnly(node)) return;
    if (judge(this.#call.row.nature, outcome) === 'answer') this.#refusal ??= outcome.answer;
  }

  /** That it was processed already says that somebody took it; who wants a preflight is told that it failed. */
  #hadItAlready(answer: Answer): boolean {
    const { skipPreflight } = this.#request;
    return (this.#isAmbiguous || skipPreflight) && preflightFault(answer) === 'already-processed';
  }

  #accept(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#owner.accepted();
  }

  #fail(failure: Failure): void {
    this.#isOver = true;
    this.#owner.failed(this.#isAmbiguous ? this.#unknownEnd(failure) : failure);
  }

  /** The same failure, which says that the transaction may land all the same. */
  #unknownEnd(failure: Failure): Failure {
    if (failure.facts?.outcome === 'unknown') return failure;
    const { signature } = this.#request;
    const facts = { network: this.#call.network, ...failure.facts, outcome: 'unknown', signature };
    const isOfNodes = failure.row.owner === 'upstream';
    return new Failure(isOfNodes ? failure.code : 'UPSTREAM_UNAVAILABLE', { facts, cause: failure });
  }
}

/** Whether an error is about the transaction, and not about what the node has or has not seen yet. */
const isVerdict = (answer: Answer): boolean =>
  nodeErrorRow(answer.errorCode).rule === 'believe' && preflightFault(answer) !== 'blockhash-not-found';
