import { Lru } from '../../base/lru.ts';
import type { ExchangeStep, StepName } from './limit-exchange.ts';

export type LimitBookOptions = Readonly<{
  /** Names of each kind that are known at most; those that were told of longest ago are forgotten. */
  namesMax: number;
  /** Unix milliseconds. */
  now: () => number;
}>;

/** What holds when nothing else is said. */
export const limitBookOptions: LimitBookOptions = { namesMax: 1_000_000, now: Date.now };

/** A leaky bucket: what was missing of it then, and what each gateway had told by then in its last telling. */
type Bucket = Readonly<{ missing: number; atMs: number; endsAt: number; told: Map<string, Told> }>;
type Told = Readonly<{ telling: number; taken: number }>;

/** Requests of each gateway by part of a window. */
type Parts = Readonly<{ ofGateways: Map<string, Map<number, number>> }> & { endsAt: number };

type Places = Readonly<{ open: number; endsAt: number }>;

/** What a session was told. */
type Floor = Readonly<{ marks: readonly bigint[]; endsAt: number }>;

/** Credits of each gateway. */
type Spent = Readonly<{ ofGateways: Map<string, number> }> & { endsAt: number };

/**
 * What the gateways of one machine share, in the memory of the process that they are started by. Does what `scripts.ts`
 * has Redis do, and says the same.
 */
export class LimitBook {
  readonly #now: () => number;
  /** When each was heard of last. */
  readonly #gateways = new Map<string, number>();
  readonly #buckets: Lru<string, Bucket>;
  readonly #windows: Lru<string, Parts>;
  /** Of each gateway, by name. */
  readonly #places = new Map<string, Map<string, Places>>();
  readonly #spent: Lru<string, Spent>;
  readonly #floors: Lru<string, Floor>;
  readonly #steps: Readonly<Record<StepName, (step: ExchangeStep) => unknown>> = {
    presence: (step) => this.#presence(step),
    leave: ({ values: [gateway] }) => this.leave(String(gateway)),
    clock: () => [],
    rates: (step) => this.#rates(step),
    windows: (step) => this.#windowParts(step),
    places: (step) => this.#heldPlaces(step),
    quotas: (step) => this.#quotas(step),
    floors: (step) => this.#sessionFloors(step),
  };

  constructor(options: Partial<LimitBookOptions> = {}) {
    const { namesMax, now } = { ...limitBookOptions, ...options };
    this.#now = now;
    this.#buckets = new Lru(namesMax);
    this.#windows = new Lru(namesMax);
    this.#spent = new Lru(namesMax);
    this.#floors = new Lru(namesMax);
  }

  /** One exchange of one gateway. @returns an answer for each step. */
  run(steps: readonly ExchangeStep[]): unknown[] {
    return steps.map((step) => this.#steps[step.name](step));
  }

  /** A gateway that is not there any more: the places that it held are free. */
  leave(gateway: string): readonly [] {
    this.#gateways.delete(gateway);
    this.#places.delete(gateway);
    return [];
  }

  #presence({ values: [name, lasts] }: ExchangeStep): [number, number] {
    const now = this.#now();
    this.#gateways.set(String(name), now);
    for (const [gateway, heardAt] of this.#gateways) {
      if (heardAt <= now - Number(lasts)) this.leave(gateway);
    }
    return [now, this.#gateways.size];
  }

  #rates({ keys, values: [name, buckets, between, ...values] }: ExchangeStep): string[] {
    const now = this.#now();
    return keys.map((key, index) => {
      const [telling, taken, mine, rate, size] = values.slice(index * 5, index * 5 + 5).map(Number) as Five;
      const known = alive(this.#buckets.get(key), now);
      const last = known?.told.get(String(name));
      const counted = last?.telling === telling ? last.taken : 0;
      const added = Math.min(mine + Number(between) * rate, Math.max(0, taken - counted));
      const level = known === undefined ? mine : leaked(known, rate, now) + added;
      const missing = Math.min(level, size * Number(buckets));
      const told = known === undefined || known.told.size > 4 * Number(buckets) ? new Map() : known.told;
      this.#buckets.set(key, {
        missing,
        atMs: now,
        told: told.set(String(name), { telling, taken }),
        endsAt: now + Math.ceil((missing / rate + Number(between)) * 1_000) + 1_000,
      });
      return missing.toFixed(3);
    });
  }

  #windowParts({ keys, values: [name, oldest, lasts, ...values] }: ExchangeStep): number[][] {
    const now = this.#now();
    let at = 0;
    return keys.map((key) => {
      const known: Parts = alive(this.#windows.get(key), now) ?? { ofGateways: new Map(), endsAt: 0 };
      known.endsAt = now + Number(lasts);
      this.#windows.set(key, known);
      const parts = Number(values[at++]);
      for (let part = 0; part < parts; part++, at += 2) {
        partsOf(known, String(name)).set(Number(values[at]), Number(values[at + 1]));
      }
      forgetParts(known, Number(oldest));
      return partsOfOthers(known, String(name));
    });
  }

  #heldPlaces({ keys, values: [name, lasts, ...open] }: ExchangeStep): number[] {
    const now = this.#now();
    const gateway = String(name);
    const own = this.#places.get(gateway) ?? new Map<string, Places>();
    this.#places.set(gateway, own);
    return keys.map((key, index) => {
      const held = Number(open[index]);
      if (held > 0) own.set(key, { open: held, endsAt: now + Number(lasts) });
      else own.delete(key);
      return this.#placesOfOthers(key, gateway, now);
    });
  }

  #placesOfOthers(key: string, own: string, now: number): number {
    let held = 0;
    for (const [gateway, places] of this.#places) {
      if (gateway !== own) held += alive(places.get(key), now)?.open ?? 0;
    }
    return held;
  }

  #quotas({ keys, values: [name, endsAt, ...spent] }: ExchangeStep): string[] {
    const now = this.#now();
    return keys.map((key, index) => {
      const known: Spent = alive(this.#spent.get(key), now) ?? { ofGateways: new Map(), endsAt: 0 };
      known.endsAt = Number(endsAt);
      known.ofGateways.set(String(name), Number(spent[index]));
      this.#spent.set(key, known);
      let others = 0;
      for (const [gateway, credits] of known.ofGateways) if (gateway !== name) others += credits;
      return others.toFixed(0);
    });
  }

  #sessionFloors({ keys, values: [lasts, ...values] }: ExchangeStep): string[][] {
    const now = this.#now();
    const count = values.length / keys.length;
    return keys.map((key, index) => {
      const told = values.slice(index * count, (index + 1) * count).map(BigInt);
      const marks = highest(alive(this.#floors.get(key), now)?.marks ?? [], told);
      this.#floors.set(key, { marks, endsAt: now + Number(lasts) });
      return marks.map(String);
    });
  }
}

/** The highest of every mark of a session. */
function highest(known: readonly bigint[], told: readonly bigint[]): bigint[] {
  return told.map((mark, at) => (mark > (known[at] ?? 0n) ? mark : (known[at] ?? 0n)));
}

type Five = [number, number, number, number, number];

/** What does not hold any more is as if it were not there. */
const alive = <Kept extends { readonly endsAt: number }>(
  kept: Kept | undefined,
  now: number,
): Kept | undefined => (kept !== undefined && kept.endsAt > now ? kept : undefined);

const leaked = ({ missing, atMs }: Bucket, perSecond: number, now: number): number =>
  Math.max(0, missing - (Math.max(0, now - atMs) * perSecond) / 1_000);

function partsOf({ ofGateways }: Parts, gateway: string): Map<number, number> {
  const known = ofGateways.get(gateway);
  if (known !== undefined) return known;
  const parts = new Map<number, number>();
  ofGateways.set(gateway, parts);
  return parts;
}

function forgetParts({ ofGateways }: Parts, oldest: number): void {
  for (const [gateway, parts] of ofGateways) {
    for (const part of parts.keys()) if (part < oldest) parts.delete(part);
    if (parts.size === 0) ofGateways.delete(gateway);
  }
}

/** Part, requests, part, requests, … */
function partsOfOthers({ ofGateways }: Parts, own: string): number[] {
  const others = [...ofGateways].filter(([gateway]) => gateway !== own);
  return others.flatMap(([, parts]) => [...parts].flat());
}
