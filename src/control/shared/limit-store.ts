import { Lru } from '../../base/cache/lru.ts';

/**
 * What gateways do with what they share, each as one step that nothing comes between:
 * - `presence`: says that a gateway is there; gives the time (Unix milliseconds) and how many there are.
 * - `leave`: says that it is not any more.
 * - `clock`: nothing; for whoever waits for the time, which comes with the presence.
 * - `rates`, `windows`, `places`, `quotas`: tell what was let through here, and give what was elsewhere.
 * - `floors`: tells what sessions were told here, and gives the most that they were told anywhere.
 *
 * `scripts.ts` says what keys and values of each are.
 */
export type LimitCommandName =
  | 'presence'
  | 'leave'
  | 'clock'
  | 'rates'
  | 'windows'
  | 'places'
  | 'quotas'
  | 'floors';

/** One step. */
export type LimitCommand = Readonly<{
  name: LimitCommandName;
  /** What it is about, one for each name. */
  keys: readonly string[];
  values: readonly (string | number)[];
}>;

/** Where gateways tell each other what they let through. */
export interface LimitStore {
  /** Why nobody can be asked now; null: somebody can. What is told then is taken as heard, so nobody must be told. */
  readonly problem: LimitStoreUnavailableError | null;
  /** Waits until it can be asked, or as long as that may take. Never rejects. */
  start(): Promise<void>;
  /**
   * One exchange.
   * @returns an answer for each step, in their order.
   * @throws what its client throws; then it is not known which steps were done.
   */
  execute(steps: readonly LimitCommand[]): Promise<readonly unknown[]>;
  stop(): Promise<void>;
}

/** Nobody can be asked; `cause` is the last error of a connection. */
export class LimitStoreUnavailableError extends Error {
  constructor(cause: unknown) {
    super('what shares limits is not connected', { cause });
    this.name = 'NotConnected';
  }
}

type InMemoryLimitStoreOptions = Readonly<{
  /** Names of each kind that are known at most; those that were told of longest ago are forgotten. */
  namesMax: number;
  /** Unix milliseconds. */
  now: () => number;
}>;

/** What holds when nothing else is said. */
const inMemoryLimitStoreOptions: InMemoryLimitStoreOptions = { namesMax: 1_000_000, now: Date.now };

/** A leaky bucket: what was missing of it then, and what each gateway had told by then in its last telling. */
type Bucket = Readonly<{
  missing: number;
  atMs: number;
  endsAt: number;
  reported: Map<string, ReportedTokens>;
}>;
type ReportedTokens = Readonly<{ sequence: number; taken: number }>;

/** Requests of each gateway by part of a window. */
type Parts = Readonly<{ ofGateways: Map<string, Map<number, number>> }> & { endsAt: number };

type HeldConnections = Readonly<{ open: number; endsAt: number }>;

/** What a session was told. */
type SessionSlots = Readonly<{ marks: readonly bigint[]; endsAt: number }>;

/** Credits of each gateway. */
type Spent = Readonly<{ ofGateways: Map<string, number> }> & { endsAt: number };

/**
 * What the gateways of one machine share, in the memory of the process that they are started by. Does what `scripts.ts`
 * has Redis do, and says the same.
 */
export class InMemoryLimitStore {
  readonly #now: () => number;
  /** When each was heard of last. */
  readonly #gateways = new Map<string, number>();
  readonly #buckets: Lru<string, Bucket>;
  readonly #windows: Lru<string, Parts>;
  /** Of each gateway, by name. */
  readonly #connections = new Map<string, Map<string, HeldConnections>>();
  readonly #spent: Lru<string, Spent>;
  readonly #minSlots: Lru<string, SessionSlots>;
  readonly #steps: Readonly<Record<LimitCommandName, (step: LimitCommand) => unknown>> = {
    presence: (step) => this.#presence(step),
    leave: ({ values: [gateway] }) => this.removeGateway(String(gateway)),
    clock: () => [],
    rates: (step) => this.#rates(step),
    windows: (step) => this.#windowParts(step),
    places: (step) => this.#heldConnections(step),
    quotas: (step) => this.#quotas(step),
    floors: (step) => this.#sessionMinSlots(step),
  };

  constructor(options: Partial<InMemoryLimitStoreOptions> = {}) {
    const { namesMax, now } = { ...inMemoryLimitStoreOptions, ...options };
    this.#now = now;
    this.#buckets = new Lru(namesMax);
    this.#windows = new Lru(namesMax);
    this.#spent = new Lru(namesMax);
    this.#minSlots = new Lru(namesMax);
  }

  /** One exchange of one gateway. @returns an answer for each step. */
  execute(steps: readonly LimitCommand[]): unknown[] {
    return steps.map((step) => this.#steps[step.name](step));
  }

  /** A gateway that is not there any more: the places that it held are free. */
  removeGateway(gateway: string): readonly [] {
    this.#gateways.delete(gateway);
    this.#connections.delete(gateway);
    return [];
  }

  #presence({ values: [name, lasts] }: LimitCommand): [number, number] {
    const now = this.#now();
    this.#gateways.set(String(name), now);
    for (const [gateway, seenAt] of this.#gateways) {
      if (seenAt <= now - Number(lasts)) this.removeGateway(gateway);
    }
    return [now, this.#gateways.size];
  }

  #rates({ keys, values: [name, buckets, between, ...values] }: LimitCommand): string[] {
    const now = this.#now();
    return keys.map((key, index) => {
      const [sequence, taken, mine, rate, size] = values.slice(index * 5, index * 5 + 5).map(Number) as Five;
      const current = unexpired(this.#buckets.get(key), now);
      const last = current?.reported.get(String(name));
      const counted = last?.sequence === sequence ? last.taken : 0;
      const added = Math.min(mine + Number(between) * rate, Math.max(0, taken - counted));
      const level = current === undefined ? mine : leaked(current, rate, now) + added;
      const missing = Math.min(level, size * Number(buckets));
      const reported =
        current === undefined || current.reported.size > 4 * Number(buckets) ? new Map() : current.reported;
      this.#buckets.set(key, {
        missing,
        atMs: now,
        reported: reported.set(String(name), { sequence, taken }),
        endsAt: now + Math.ceil((missing / rate + Number(between)) * 1_000) + 1_000,
      });
      return missing.toFixed(3);
    });
  }

  #windowParts({ keys, values: [name, oldest, lasts, ...values] }: LimitCommand): number[][] {
    const now = this.#now();
    let at = 0;
    return keys.map((key) => {
      const current: Parts = unexpired(this.#windows.get(key), now) ?? { ofGateways: new Map(), endsAt: 0 };
      current.endsAt = now + Number(lasts);
      this.#windows.set(key, current);
      const parts = Number(values[at++]);
      for (let part = 0; part < parts; part++, at += 2) {
        partsOf(current, String(name)).set(Number(values[at]), Number(values[at + 1]));
      }
      forgetParts(current, Number(oldest));
      return partsOfOthers(current, String(name));
    });
  }

  #heldConnections({ keys, values: [name, lasts, ...open] }: LimitCommand): number[] {
    const now = this.#now();
    const gateway = String(name);
    const own = this.#connections.get(gateway) ?? new Map<string, HeldConnections>();
    this.#connections.set(gateway, own);
    return keys.map((key, index) => {
      const held = Number(open[index]);
      if (held > 0) own.set(key, { open: held, endsAt: now + Number(lasts) });
      else own.delete(key);
      return this.#connectionsOfOthers(key, gateway, now);
    });
  }

  #connectionsOfOthers(key: string, own: string, now: number): number {
    let held = 0;
    for (const [gateway, connections] of this.#connections) {
      if (gateway !== own) held += unexpired(connections.get(key), now)?.open ?? 0;
    }
    return held;
  }

  #quotas({ keys, values: [name, endsAt, ...spent] }: LimitCommand): string[] {
    const now = this.#now();
    return keys.map((key, index) => {
      const current: Spent = unexpired(this.#spent.get(key), now) ?? { ofGateways: new Map(), endsAt: 0 };
      current.endsAt = Number(endsAt);
      current.ofGateways.set(String(name), Number(spent[index]));
      this.#spent.set(key, current);
      let others = 0;
      for (const [gateway, credits] of current.ofGateways) if (gateway !== name) others += credits;
      return others.toFixed(0);
    });
  }

  #sessionMinSlots({ keys, values: [lasts, ...values] }: LimitCommand): string[][] {
    const now = this.#now();
    const count = values.length / keys.length;
    return keys.map((key, index) => {
      const reported = values.slice(index * count, (index + 1) * count).map(BigInt);
      const marks = highest(unexpired(this.#minSlots.get(key), now)?.marks ?? [], reported);
      this.#minSlots.set(key, { marks, endsAt: now + Number(lasts) });
      return marks.map(String);
    });
  }
}

/** The highest of every mark of a session. */
function highest(current: readonly bigint[], reported: readonly bigint[]): bigint[] {
  return reported.map((mark, at) => (mark > (current[at] ?? 0n) ? mark : (current[at] ?? 0n)));
}

type Five = [number, number, number, number, number];

/** What does not hold any more is as if it were not there. */
const unexpired = <Entry extends { readonly endsAt: number }>(
  entry: Entry | undefined,
  now: number,
): Entry | undefined => (entry !== undefined && entry.endsAt > now ? entry : undefined);

const leaked = ({ missing, atMs }: Bucket, perSecond: number, now: number): number =>
  Math.max(0, missing - (Math.max(0, now - atMs) * perSecond) / 1_000);

function partsOf({ ofGateways }: Parts, gateway: string): Map<number, number> {
  const current = ofGateways.get(gateway);
  if (current !== undefined) return current;
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
