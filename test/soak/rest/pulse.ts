import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

const EVERY_MS = 50;

/** How long the main thread of a process was ready to run and had no processor, as others had them all. Linux only. */
export const waitedForProcessorMs = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;

/** Asks for a page that costs nothing, again and again: how long it takes is how long the server's loop was held. */
export class Pulse {
  readonly #url: string;
  readonly #tookMs: number[] = [];
  readonly #running: Promise<void>;
  #stopped = false;

  constructor(url: string) {
    this.#url = url;
    this.#running = this.#run();
  }

  /** @returns how long each answer took, the shortest first. */
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
