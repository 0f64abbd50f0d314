import type { Call } from '../../protocol/call.ts';
import type { StreamedResponse } from '../../protocol/streamed-response.ts';
import { type AttemptListener, sendAttempt } from '../attempt.ts';
import type { PendingRequest } from '../exchange.ts';
import type { UpstreamNode } from '../node.ts';
import type { Outcome } from '../outcome.ts';

/** Whose call is put to a second node. */
export interface HedgeListener {
  readonly acceptsStream: boolean;
  /** How the attempt ended; `hedgedLong` in its place when it has come to a long result. */
  onHedgeOutcome(outcome: Outcome, elapsedMs: number): void;
  onHedgeStream(response: StreamedResponse, elapsedMs: number): void;
}

/** The attempt at a second node, beside the one at the first. */
export class HedgeAttempt implements AttemptListener {
  readonly #listener: HedgeListener;
  #pending: PendingRequest | null = null;
  #hasEnded = false;

  constructor(listener: HedgeListener) {
    this.#listener = listener;
  }

  send(call: Call, node: UpstreamNode, timeoutMs: number, now: number): void {
    const pending = sendAttempt(node, call, timeoutMs, this, now);
    if (!this.#hasEnded) this.#pending = pending;
  }

  onOutcome(outcome: Outcome, elapsedMs: number): void {
    this.#hasEnded = true;
    this.#listener.onHedgeOutcome(outcome, elapsedMs);
  }

  get acceptsStream(): boolean {
    return this.#listener.acceptsStream;
  }

  onStream(response: StreamedResponse, elapsedMs: number): void {
    this.#hasEnded = true;
    this.#listener.onHedgeStream(response, elapsedMs);
  }

  abort(): void {
    this.#pending?.abort();
  }

  expire(): void {
    this.#pending?.expire();
  }
}
