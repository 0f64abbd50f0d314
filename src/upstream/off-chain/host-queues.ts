import { Lru } from '../../base/cache/lru.ts';
import { CircuitBreaker } from '../circuit-breaker.ts';
import type { OffChainLimits } from './limits.ts';

/** `inconclusive`: we aborted the exchange before it counted as slow. */
export type HostOutcome = 'success' | 'failure' | 'inconclusive';

/** Permit for one exchange; must be released once. */
export type HostSlot = Readonly<{ release(outcome: HostOutcome): void }>;

type HostHealth = { readonly circuit: CircuitBreaker; proven: boolean };

type Waiter = (slot: HostSlot | null) => void;

type HostQueue = { readonly host: string; readonly waiting: Set<Waiter>; active: number };

/**
 * Concurrency limits in total and per host, bounded queues served round-robin, and a circuit breaker per
 * host. Slow hosts fill only their own queues.
 */
export class HostQueues {
  readonly #limits: OffChainLimits;
  readonly #queues = new Map<string, HostQueue>();
  /** Queues that can proceed; the queue that became ready first is served first. */
  readonly #ready = new Set<HostQueue>();
  readonly #health: Lru<string, HostHealth>;
  readonly #now: () => number;
  active = 0;
  waiting = 0;

  constructor(limits: OffChainLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
    this.#health = new Lru(limits.hostsMax);
  }

  canAccept(host: string): boolean {
    if (this.#isBackingOff(host)) return false;
    const queue = this.#queueOf(host);
    return this.#canStart(queue) || this.#canWait(queue);
  }

  /** @returns null if the queue is full, the circuit is open, or the signal aborts. Never rejects. */
  acquire(host: string, signal: AbortSignal): Promise<HostSlot | null> {
    if (signal.aborted || this.#isBackingOff(host)) return Promise.resolve(null);
    const queue = this.#queueOf(host);
    if (this.#canStart(queue)) return Promise.resolve(this.#start(queue));
    return this.#canWait(queue) ? this.#wait(queue, signal) : Promise.resolve(null);
  }

  #queueOf(host: string): HostQueue {
    return this.#queues.get(host) ?? { host, waiting: new Set(), active: 0 };
  }

  #isBackingOff(host: string): boolean {
    return this.#health.get(host)?.circuit.isOpen(this.#now()) ?? false;
  }

  #isProven(host: string): boolean {
    return this.#health.get(host)?.proven ?? false;
  }

  #canStart(queue: HostQueue): boolean {
    return this.active < this.#limits.inFlightMax && queue.waiting.size === 0 && this.#hasSlot(queue);
  }

  #canWait(queue: HostQueue): boolean {
    const { perHostQueueMax, unprovenPerHostQueueMax, queueMax } = this.#limits;
    const queueLimit = this.#isProven(queue.host) ? perHostQueueMax : unprovenPerHostQueueMax;
    return this.waiting < queueMax && queue.waiting.size < queueLimit;
  }

  #hasSlot(queue: HostQueue): boolean {
    const { perHostMax, unprovenPerHostMax } = this.#limits;
    return queue.active < (this.#isProven(queue.host) ? perHostMax : unprovenPerHostMax);
  }

  #wait(queue: HostQueue, signal: AbortSignal): Promise<HostSlot | null> {
    this.#queues.set(queue.host, queue);
    return new Promise((resolve) => {
      const onAbort = (): void => this.#reject(queue, waiter);
      const waiter: Waiter = (slot) => {
        signal.removeEventListener('abort', onAbort);
        resolve(slot);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      queue.waiting.add(waiter);
      this.waiting++;
      if (this.#hasSlot(queue)) this.#ready.add(queue);
    });
  }

  #start(queue: HostQueue): HostSlot {
    this.#queues.set(queue.host, queue);
    queue.active++;
    this.active++;
    this.#health.get(queue.host)?.circuit.recordStart(this.#now());
    let isReleased = false;
    return {
      release: (outcome) => {
        if (isReleased) return;
        isReleased = true;
        this.#release(queue, outcome);
      },
    };
  }

  #release(queue: HostQueue, outcome: HostOutcome): void {
    queue.active--;
    this.active--;
    this.#recordOutcome(queue.host, outcome);
    if (this.#isBackingOff(queue.host)) for (const waiter of [...queue.waiting]) this.#reject(queue, waiter);
    this.#updateReady(queue);
    this.#dispatchWaiting();
  }

  #recordOutcome(host: string, outcome: HostOutcome): void {
    const existing = this.#health.get(host);
    if (outcome === 'inconclusive') {
      existing?.circuit.release();
      return;
    }
    const health = existing ?? { circuit: new CircuitBreaker(this.#limits), proven: false };
    if (existing === undefined) this.#health.set(host, health);
    health.proven = outcome === 'success';
    if (outcome === 'success') health.circuit.recordSuccess();
    else health.circuit.recordFailure(this.#now());
  }

  #reject(queue: HostQueue, waiter: Waiter): void {
    if (!queue.waiting.delete(waiter)) return;
    this.waiting--;
    waiter(null);
    this.#updateReady(queue);
  }

  #updateReady(queue: HostQueue): void {
    if (queue.waiting.size > 0 && this.#hasSlot(queue)) this.#ready.add(queue);
    else this.#ready.delete(queue);
    if (queue.waiting.size === 0 && queue.active === 0) this.#queues.delete(queue.host);
  }

  /** Grants free permits, alternating between hosts. */
  #dispatchWaiting(): void {
    while (this.active < this.#limits.inFlightMax) {
      const [queue] = this.#ready;
      if (queue === undefined) return;
      const [waiter] = queue.waiting as Set<Waiter>;
      this.#ready.delete(queue);
      if (waiter === undefined) continue;
      queue.waiting.delete(waiter);
      this.waiting--;
      waiter(this.#start(queue));
      this.#updateReady(queue);
    }
  }
}
