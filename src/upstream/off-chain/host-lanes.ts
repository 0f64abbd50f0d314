import { Lru } from '../../base/lru.ts';
import { Circuit } from '../circuit.ts';
import type { OffChainLimits } from './limits.ts';

/** Places, room to wait, and when a host rests. */
export type HostLanesLimits = Pick<
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
export type Verdict = 'good' | 'bad' | 'unclear';

/** A place on the way to a host. Whoever has it gives it back, once. */
export type Place = Readonly<{ leave(verdict: Verdict): void }>;

/** What is remembered of a host that has done well or badly lately. */
type Health = { readonly circuit: Circuit; proven: boolean };

type Waiter = (place: Place | null) => void;

/** A host that is being asked, or waited for. */
type Lane = { readonly host: string; readonly waiting: Set<Waiter>; active: number };

/**
 * Who may ask which host when: places in all and per host, a bounded queue whose hosts take turns, and rest for hosts
 * that fail again and again. Slow hosts so fill their own lanes only.
 */
export class HostLanes {
  readonly #limits: HostLanesLimits;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes in which somebody waits and could go; the first has waited for its turn longest. */
  readonly #ready = new Set<Lane>();
  readonly #health: Lru<string, Health>;
  readonly #now: () => number;
  #active = 0;
  #waiting = 0;

  /** @param now - a steady clock, milliseconds. */
  constructor(limits: HostLanesLimits, now: () => number = () => performance.now()) {
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
  hasRoom(host: string): boolean {
    if (this.#rests(host)) return false;
    const lane = this.#laneOf(host);
    return this.#mayStart(lane) || this.#mayWait(lane);
  }

  /** Waits for a place. @returns null when there is no room, the host rests, or the signal came first. Never rejects. */
  enter(host: string, signal: AbortSignal): Promise<Place | null> {
    if (signal.aborted || this.#rests(host)) return Promise.resolve(null);
    const lane = this.#laneOf(host);
    if (this.#mayStart(lane)) return Promise.resolve(this.#start(lane));
    return this.#mayWait(lane) ? this.#wait(lane, signal) : Promise.resolve(null);
  }

  #laneOf(host: string): Lane {
    return this.#lanes.get(host) ?? { host, waiting: new Set(), active: 0 };
  }

  #rests(host: string): boolean {
    return this.#health.get(host)?.circuit.isOpen(this.#now()) ?? false;
  }

  #isProven(host: string): boolean {
    return this.#health.get(host)?.proven ?? false;
  }

  #mayStart(lane: Lane): boolean {
    return this.#active < this.#limits.inFlightMax && lane.waiting.size === 0 && this.#hasPlace(lane);
  }

  #mayWait(lane: Lane): boolean {
    const { perHostQueueMax, unprovenPerHostQueueMax, queueMax } = this.#limits;
    const most = this.#isProven(lane.host) ? perHostQueueMax : unprovenPerHostQueueMax;
    return this.#waiting < queueMax && lane.waiting.size < most;
  }

  #hasPlace(lane: Lane): boolean {
    const { perHostMax, unprovenPerHostMax } = this.#limits;
    return lane.active < (this.#isProven(lane.host) ? perHostMax : unprovenPerHostMax);
  }

  #wait(lane: Lane, signal: AbortSignal): Promise<Place | null> {
    this.#lanes.set(lane.host, lane);
    return new Promise((resolve) => {
      const leave = (): void => this.#dismiss(lane, waiter);
      const waiter: Waiter = (place) => {
        signal.removeEventListener('abort', leave);
        resolve(place);
      };
      signal.addEventListener('abort', leave, { once: true });
      lane.waiting.add(waiter);
      this.#waiting++;
      if (this.#hasPlace(lane)) this.#ready.add(lane);
    });
  }

  #start(lane: Lane): Place {
    this.#lanes.set(lane.host, lane);
    lane.active++;
    this.#active++;
    this.#health.get(lane.host)?.circuit.started(this.#now());
    let left = false;
    return {
      leave: (verdict) => {
        if (left) return;
        left = true;
        this.#leave(lane, verdict);
      },
    };
  }

  #leave(lane: Lane, verdict: Verdict): void {
    lane.active--;
    this.#active--;
    this.#learn(lane.host, verdict);
    if (this.#rests(lane.host)) for (const waiter of [...lane.waiting]) this.#dismiss(lane, waiter);
    this.#tidy(lane);
    this.#drain();
  }

  #learn(host: string, verdict: Verdict): void {
    const known = this.#health.get(host);
    if (verdict === 'unclear') {
      known?.circuit.released();
      return;
    }
    const health = known ?? { circuit: new Circuit(this.#limits), proven: false };
    if (known === undefined) this.#health.set(host, health);
    health.proven = verdict === 'good';
    if (verdict === 'good') health.circuit.succeeded();
    else health.circuit.failed(this.#now());
  }

  /** Lets one who waits go without a place. */
  #dismiss(lane: Lane, waiter: Waiter): void {
    if (!lane.waiting.delete(waiter)) return;
    this.#waiting--;
    waiter(null);
    this.#tidy(lane);
  }

  #tidy(lane: Lane): void {
    if (lane.waiting.size > 0 && this.#hasPlace(lane)) this.#ready.add(lane);
    else this.#ready.delete(lane);
    if (lane.waiting.size === 0 && lane.active === 0) this.#lanes.delete(lane.host);
  }

  /** Hands out free places, each to another host as long as there are several. */
  #drain(): void {
    while (this.#active < this.#limits.inFlightMax) {
      const [lane] = this.#ready;
      if (lane === undefined) return;
      const [waiter] = lane.waiting as Set<Waiter>;
      this.#ready.delete(lane);
      if (waiter === undefined) continue;
      lane.waiting.delete(waiter);
      this.#waiting--;
      waiter(this.#start(lane));
      this.#tidy(lane);
    }
  }
}
