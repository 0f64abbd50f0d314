import type { Failure } from '../../../src/protocol/errors.ts';
import type { FeedListener } from '../../../src/streams/feed.ts';

export class Recorder implements FeedListener {
  readonly raw: string[] = [];
  readonly failures: Failure[] = [];
  isDone = false;
  #wake: (() => void) | null = null;

  onNotification(result: Buffer, isLast: boolean): void {
    this.raw.push(result.toString());
    this.isDone ||= isLast;
    this.#wake?.();
  }

  onError(failure: Failure): void {
    this.failures.push(failure);
    this.#wake?.();
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
  get results(): any[] {
    return this.raw.map((text) => JSON.parse(text));
  }

  get failure(): string | null {
    return this.failures[0]?.code ?? null;
  }

  count(expected: number): Promise<void> {
    return this.until(({ raw }) => raw.length >= expected, `${expected} notifications`);
  }

  async until(condition: (recorder: this) => boolean, what: string, timeoutMs = 15_000): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (!condition(this)) {
      const left = deadline - Date.now();
      if (left <= 0)
        throw new Error(`not received in time: ${what}; received ${this.raw.length} notifications`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}
