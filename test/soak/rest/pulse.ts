import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

const EVERY_MS = 50;

/** Requests a cheap page repeatedly: its latency shows how long the event loop of the server is blocked. */
export class Pulse {
  readonly #url: string;
  readonly #tookMs: number[] = [];
  readonly #running: Promise<void>;
  #stopped = false;

  constructor(url: string) {
    this.#url = url;
    this.#running = this.#run();
  }

  /** @returns latencies, sorted. */
  async stop(): Promise<number[]> {
    this.#stopped = true;
    await this.#running;
    return this.#tookMs.toSorted((a, b) => a - b);
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const startedAt = performance.now();
      await (await fetch(this.#url)).arrayBuffer();
      this.#tookMs.push(performance.now() - startedAt);
      await delay(EVERY_MS);
    }
  }
}
