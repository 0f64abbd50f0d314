import { Lru } from '../../base/cache/lru.ts';

/** Atomic commands; the scripts in redis-limit-store.ts document their values. */
export const limitCommandNames = [
  'presence',
  'remove-gateway',
  'rates',
  'windows',
  'connections',
  'quotas',
  'min-slots',
] as const;

export type LimitCommandName = (typeof limitCommandNames)[number];

export type LimitCommand = Readonly<{
  name: LimitCommandName;
  keys: readonly string[];
  values: readonly (string | number)[];
}>;

/** Store through which gateways exchange their usage of shared limits. */
export interface LimitStore {
  /** Null if the store is reachable. */
  readonly problem: LimitStoreUnavailableError | null;
  /** Waits until the store is reachable or the connect timeout has passed. Never rejects. */
  start(): Promise<void>;
  /** Executes commands in one round trip. If it throws, any of the commands may have been executed. */
  execute(steps: readonly LimitCommand[]): Promise<readonly unknown[]>;
  stop(): Promise<void>;
}

/** `cause` is the last connection error. */
export class LimitStoreUnavailableError extends Error {
  constructor(cause: unknown) {
    super('the shared limit store is not connected', { cause });
    this.name = 'NotConnected';
  }
}

/** Maximum names per kind; the least recently updated are evicted. */
const NAMES_MAX = 1_000_000;

/** A leaky bucket: the number of missing tokens, and the last report from each gateway. */
type Bucket = Readonly<{
  missing: number;
  atMs: number;
  endsAt: number;
  reported: Map<string, Readonly<{ sequence: number; taken: number }>>;
}>;

type Parts = Readonly<{ ofGateways: Map<string, Map<number, number>> }> & { endsAt: number };

type HeldConnections = Readonly<{ open: number; endsAt: number }>;

type SessionSlots = Readonly<{ marks: readonly bigint[]; endsAt: number }>;

type Spent = Readonly<{ ofGateways: Map<string, number> }> & { endsAt: number };

/** Limit store for the workers of one machine. Runs in the primary process and replies like RedisLimitStore. */
export class InMemoryLimitStore {
  readonly #now: () => number;
  readonly #gateways = new Map<string, number>();
  readonly #buckets: Lru<string, Bucket>;
  readonly #windows: Lru<string, Parts>;
  readonly #connections = new Map<string, Map<string, HeldConnections>>();
  readonly #spent: Lru<string, Spent>;
  readonly #minSlots: Lru<string, SessionSlots>;
  readonly #handlers: Readonly<Record<LimitCommandName, (step: LimitCommand) => unknown>> = {
    presence: (step) => this.#presence(step),
    'remove-gateway': ({ values: [gateway] }) => this.removeGateway(String(gateway)),
    rates: (step) => this.#rates(step),
    windows: (step) => this.#windowParts(step),
    connections: (step) => this.#heldConnections(step),
    quotas: (step) => this.#quotas(step),
    'min-slots': (step) => this.#sessionMinSlots(step),
  };

  constructor({ namesMax = NAMES_MAX, now = Date.now } = {}) {
    this.#now = now;
    this.#buckets = new Lru(namesMax);
    this.#windows = new Lru(namesMax);
    this.#spent = new Lru(namesMax);
    this.#minSlots = new Lru(namesMax);
  }

  execute(steps: readonly LimitCommand[]): unknown[] {
    return steps.map((step) => this.#handlers[step.name](step));
  }

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
      const [sequence, taken, mine, rate, size] = values
        .slice(index * 5, index * 5 + 5)
        .map(Number) as RateValues;
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

const highest = (current: readonly bigint[], reported: readonly bigint[]): bigint[] =>
  reported.map((mark, at) => (mark > (current[at] ?? 0n) ? mark : (current[at] ?? 0n)));

type RateValues = [number, number, number, number, number];

const unexpired = <Entry extends { readonly endsAt: number }>(
  entry: Entry | undefined,
  now: number,
): Entry | undefined => (entry !== undefined && entry.endsAt > now ? entry : undefined);

const leaked = ({ missing, atMs }: Bucket, perSecond: number, now: number): number =>
  Math.max(0, missing - (Math.max(0, now - atMs) * perSecond) / 1_000);

function partsOf({ ofGateways }: Parts, gateway: string): Map<number, number> {
  const parts = ofGateways.get(gateway) ?? new Map<number, number>();
  ofGateways.set(gateway, parts);
  return parts;
}

function forgetParts({ ofGateways }: Parts, oldest: number): void {
  for (const [gateway, parts] of ofGateways) {
    for (const part of parts.keys()) if (part < oldest) parts.delete(part);
    if (parts.size === 0) ofGateways.delete(gateway);
  }
}

/** Flat list of alternating part numbers and request counts. */
function partsOfOthers({ ofGateways }: Parts, own: string): number[] {
  const others = [...ofGateways].filter(([gateway]) => gateway !== own);
  return others.flatMap(([, parts]) => [...parts].flat());
}
