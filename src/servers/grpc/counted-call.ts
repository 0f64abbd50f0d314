import type { CallHandler } from './call-handler.ts';

/** A handler that is counted until its call has ended. */
export class CountedCall implements CallHandler {
  readonly #handler: CallHandler;
  readonly #onClosed: () => void;

  constructor(handler: CallHandler, onClosed: () => void) {
    this.#handler = handler;
    this.#onClosed = onClosed;
  }

  get wants(): boolean {
    return this.#handler.wants;
  }

  get isEndless(): boolean {
    return this.#handler.isEndless;
  }

  messages(messages: readonly Buffer[], bytes: number): void {
    this.#handler.messages(messages, bytes);
  }

  halfClosed(): void {
    this.#handler.halfClosed();
  }

  look(nowMs: number): void {
    this.#handler.look(nowMs);
  }

  lagged(): void {
    this.#handler.lagged?.();
  }

  closed(): void {
    this.#onClosed();
    this.#handler.closed();
  }

  gone(): void {
    this.#handler.gone?.();
  }
}
