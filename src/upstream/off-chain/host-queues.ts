import { Lru } from '../../base/cache/lru.ts';
import { CircuitBreaker } from '../circuit-breaker.ts';
import type { OffChainLimits } from './limits.ts';

/** Places, room to wait, and when a host rests. */
export type HostQueuesLimits = Pick<
  OffChainLimits,
  | 'inFlightMax'
  | 'perHostMax'
  | 'unprovenPerHostMax'
  | 'queueMax'
  | 'perHostQueueMax'
  | 'unprovenPerHostQueueMax'
  | 'hostsMax'
  | 'circuitFailuresMax'
  | 'circuitOpenMs'
>;

/** What an exchange says about its host; `unclear` when it ended by no doing of the host. */
export type HostOutcome = 'good' | 'bad' | 'unclear';

/** A place on the way to a host. Whoever has it gives it back, once. */
export type HostSlot = Readonly<{ release(outcome: HostOutcome): void }>;

/** What is remembered of a host that has done well or badly lately. */
type HostHealth = { readonly circuit: CircuitBreaker; proven: boolean };

type Waiter = (slot: HostSlot | null) => void;

/** A host that is being asked, or waited for. */
type HostQueue = { readonly host: string; readonly waiting: Set<Waiter>; active: number };

/**
 * Who may ask which host when: places in all and per host, a bounded queue whose hosts take turns, and rest for hosts
 * that fail again and again. Slow hosts so fill their own lanes only.
 */
export class HostQueues {
  readonly #limits: HostQueuesLimits;
  readonly #queues = new Map<string, HostQueue>();
  /** Lanes in which somebody waits and could go; the first has waited for its turn longest. */
  readonly #ready = new Set<HostQueue>();
  readonly #health: Lru<string, HostHealth>;
  readonly #now: () => number;
  #active = 0;
  #waiting = 0;

  /** @param now - a steady clock, milliseconds. */
  constructor(limits: HostQueuesLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
    this.#health = new Lru(limits.hostsMax);
  }

  /** Exchanges under way. */
  get active(): number {
    return this.#active;
  }

  /** Fetches that wait for a place. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether somebody who comes now would get a place, or room to wait. */
  canAccept(host: string): boolean {
    if (this.#isBackingOff(host)) return false;
    const queue = this.#queueOf(host);
    return this.#canStart(queue) || this.#canWait(queue);
  }

  /** Waits for a place. @returns null when there is no room, the host rests, or the signal came first. Never rejects. */
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
    return this.#active < this.#limits.inFlightMax && queue.waiting.size === 0 && this.#hasSlot(queue);
  }

  #canWait(queue: HostQueue): boolean {
    const { perHostQueueMax, unprovenPerHostQueueMax, queueMax } = this.#limits;
    const queueLimit = this.#isProven(queue.host) ? perHostQueueMax : unprovenPerHostQueueMax;
    return this.#waiting < queueMax && queue.waiting.size < queueLimit;
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
      this.#waiting++;
      if (this.#hasSlot(queue)) this.#ready.add(queue);
    });
  }

  #start(queue: HostQueue): HostSlot {
    this.#queues.set(queue.host, queue);
    queue.active++;
    this.#active++;
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
    this.#active--;
    this.#recordOutcome(queue.host, outcome);
    if (this.#isBackingOff(queue.host)) for (const waiter of [...queue.waiting]) this.#reject(queue, waiter);
    this.#updateReady(queue);
    this.#dispatchWaiting();
  }

  #recordOutcome(host: string, outcome: HostOutcome): void {
    const existing = this.#health.get(host);
    if (outcome === 'unclear') {
      existing?.circuit.release();
      return;
    }
    const health = existing ?? { circuit: new CircuitBreaker(this.#limits), proven: false };
    if (existing === undefined) this.#health.set(host, health);
    health.proven = outcome === 'good';
    if (outcome === 'good') health.circuit.recordSuccess();
    else health.circuit.recordFailure(this.#now());
  }

  /** Lets one who waits go without a place. */
  #reject(queue: HostQueue, waiter: Waiter): void {
    if (!queue.waiting.delete(waiter)) return;
    this.#waiting--;
    waiter(null);
    this.#updateReady(queue);
  }

  #updateReady(queue: HostQueue): void {
    if (queue.waiting.size > 0 && this.#hasSlot(queue)) this.#ready.add(queue);
    else this.#ready.delete(queue);
    if (queue.waiting.size === 0 && queue.active === 0) this.#queues.delete(queue.host);
  }

  /** Hands out free places, each to another host as long as there are several. */
  #dispatchWaiting(): void {
    while (this.#active < this.#limits.inFlightMax) {
      const [queue] = this.#ready;
      if (queue === undefined) return;
      const [waiter] = queue.waiting as Set<Waiter>;
      this.#ready.delete(queue);
      if (waiter === undefined) continue;
      queue.waiting.delete(waiter);
      this.#waiting--;
      waiter(this.#start(queue));
      this.#updateReady(queue);
    }
  }
}
