import type { GrpcCallHandler } from './grpc-call-handler.ts';

/** Wraps a handler to release a permit when its call ends. */
export class CountedCall implements GrpcCallHandler {
  readonly #handler: GrpcCallHandler;
  readonly #release: () => void;

  constructor(handler: GrpcCallHandler, release: () => void) {
    this.#handler = handler;
    this.#release = release;
  }

  get needsRequest(): boolean {
    return this.#handler.needsRequest;
  }

  get isEndless(): boolean {
    return this.#handler.isEndless;
  }

  onMessages(messages: readonly Buffer[], bytes: number): void {
    this.#handler.onMessages(messages, bytes);
  }

  onHalfClose(): void {
    this.#handler.onHalfClose();
  }

  tick(nowMs: number): void {
    this.#handler.tick(nowMs);
  }

  onLagging(): void {
    this.#handler.onLagging?.();
  }

  onClose(): void {
    this.#release();
    this.#handler.onClose();
  }

  onStreamClose(): void {
    this.#handler.onStreamClose?.();
  }
}
