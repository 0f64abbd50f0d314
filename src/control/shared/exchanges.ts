import type { ConnectionLimit } from '../../access/connection-limit.ts';
import type { QuotaAccount, QuotaLedger } from '../../access/quota.ts';
import type { RateLimiter } from '../../access/rate-limit.ts';
import type { CountedParts, WindowLimit } from '../../access/window-limit.ts';
import type { ExchangeStep } from './limit-exchange.ts';

/** When something is said. */
export type SayTime = Readonly<{
  /** Of `performance.now()`. */
  nowMs: number;
  /** Whether it is time to say again what would be forgotten otherwise. */
  isRound: boolean;
  /** Whether the server may not know what was said to it before. */
  isAnew: boolean;
}>;

/** When an answer came, by this clock, and when it was given, by the server's (Unix milliseconds). */
export type HearTime = Readonly<{ nowMs: number; serverMs: number }>;

/** One step, and what to do with its answer. */
export type Said = ExchangeStep & Readonly<{ hear(answer: readonly unknown[], time: HearTime): void }>;

/** One kind of limit that is shared. */
export interface Exchange {
  /** What there is to say; null: nothing. */
  say(time: SayTime): Said | null;
}

/** What all kinds have in common. */
type Common = Readonly<{ gateway: string; namesMax: number }>;

/** So many intervals may lie between two tellings of a name, where there are many. */
const INTERVALS = 5;

/** Tokens taken, there; tokens missing, back. */
export function ratesExchange(
  rates: RateLimiter,
  prefix: string,
  {
    gateway,
    namesMax,
    gateways,
    intervalMs,
  }: Common & Readonly<{ gateways: () => number; intervalMs: number }>,
): Exchange {
  return {
    say({ nowMs }) {
      const taken = rates.taken(namesMax, nowMs);
      if (taken.length === 0) return null;
      const values = taken.flatMap((one) => [
        ...[one.telling, one.taken, one.missing.toFixed(3), one.perSecond, one.capacity],
      ]);
      return {
        name: 'rates',
        keys: taken.map(({ familyId }) => prefix + familyId),
        // More cannot be missing than each gateway has taken of a full bucket, and of what came in meanwhile.
        values: [gateway, gateways() + 1, (INTERVALS * intervalMs) / 1_000, ...values],
        hear(answer, { nowMs: heardMs }) {
          taken.forEach(({ familyId }, index) => {
            rates.learn(familyId, Number(answer[index]), heardMs);
          });
        },
      };
    },
  };
}

/** Parts of windows by the server's clock: this one's are moved by a whole number of them. */
export function windowExchange(window: WindowLimit, prefix: string, { gateway, namesMax }: Common): Exchange {
  let shift: number | null = null;
  const follow = ({ nowMs, serverMs }: HearTime): void => {
    const wanted = (serverMs - nowMs) / window.partMs;
    // Not moved for less than a part: what was said before stands under its old number.
    if (shift === null || Math.abs(wanted - shift) > 1) shift = Math.round(wanted);
  };
  const said = (counted: readonly CountedParts[], nowMs: number, by: number): Said => ({
    name: 'windows',
    keys: counted.map(({ name }) => prefix + name),
    values: [
      gateway,
      Math.floor(nowMs / window.partMs) + by - window.partsMax + 1,
      Math.ceil(window.partMs * window.partsMax * 2),
      ...counted.flatMap(({ parts }) => [
        parts.length,
        ...parts.flatMap(([part, requests]) => [part + by, requests]),
      ]),
    ],
    hear(answer, time) {
      counted.forEach(({ name }, index) => {
        window.learn(name, pairsOf(answer[index] as number[], by), time.nowMs);
      });
      follow(time);
    },
  });
  return {
    say({ nowMs, isAnew }) {
      if (isAnew) {
        window.tellAnew();
        shift = null;
      }
      // The server's time is known after a first exchange, of nothing.
      if (shift === null) return { name: 'clock', keys: [], values: [], hear: (_, time) => follow(time) };
      const counted = window.counted(namesMax);
      return counted.length === 0 ? null : said(counted, nowMs, shift);
    },
  };
}

const pairsOf = (flat: readonly number[], by: number): [number, number][] =>
  Array.from({ length: flat.length / 2 }, (_, pair) => [
    (flat[pair * 2] as number) - by,
    flat[pair * 2 + 1] as number,
  ]);

/** Places held, there; places that others hold, back. */
export function placesExchange(
  places: ConnectionLimit,
  prefix: string,
  { gateway, namesMax, presenceMs }: Common & Readonly<{ presenceMs: number }>,
): Exchange {
  return {
    say({ isRound, isAnew }) {
      const held = places.held(namesMax, isAnew ? 'anew' : isRound ? 'next' : null);
      if (held.length === 0) return null;
      return {
        name: 'places',
        keys: held.map(({ name }) => prefix + name),
        values: [gateway, presenceMs, ...held.map(({ open }) => open)],
        hear(answer) {
          held.forEach(({ name }, index) => {
            places.learn(name, Number(answer[index]));
          });
        },
      };
    },
  };
}

/** How long after the month its credits are kept. */
const KEPT_AFTER_MS = 40 * 86_400_000;

/** The part of an exchange that accounts may have which did not change. */
const REST_SHARE = 0.1;
/** So often an account is told of again after it changed: what others spend of it is heard of with it. */
const TELLINGS = 10;

/**
 * Accounts in the order in which they are told of: first those that changed, the longest waiting ahead; then, a few at a
 * time, those that changed lately, and all the others, each once in a round. A round begins when the one before is over,
 * however many there are, so that nothing is asked in a hurry while nothing happens.
 */
class FollowedAccounts {
  readonly #ledger: QuotaLedger;
  readonly #changes: () => QuotaAccount[];
  /** As they are now. */
  readonly #changed = new Map<string, QuotaAccount>();
  /** None of them is among `#changed`. */
  readonly #recent = new Map<string, Readonly<{ account: QuotaAccount; left: number }>>();
  #rest: Iterator<QuotaAccount> | null = null;
  /** Whether the server is to know of all soon. */
  #isHasty = false;
  #month = 0;

  constructor(ledger: QuotaLedger) {
    this.#ledger = ledger;
    this.#changes = ledger.listen();
  }

  /** Those whose turn it is. */
  next({ isRound, isAnew }: SayTime, most: number): QuotaAccount[] {
    const { monthStart } = this.#ledger;
    if (monthStart !== this.#month) {
      this.#changed.clear();
      this.#recent.clear();
      this.#rest = null;
    }
    this.#month = monthStart;
    for (const account of this.#changes()) {
      this.#changed.set(nameOf(account), account);
      this.#recent.delete(nameOf(account));
    }
    if (isAnew || (isRound && this.#rest === null)) this.#rest = this.#ledger.each();
    if (isAnew) this.#isHasty = true;
    const share = Math.ceil(most * REST_SHARE);
    const recent = this.#takeRecent(Math.min(share, most - Math.min(this.#changed.size, most)));
    const accounts = [...this.#takeChanged(most), ...recent];
    const room = most - accounts.length;
    this.#takeRest(accounts, this.#isHasty ? room : Math.min(room, share - recent.length));
    return accounts;
  }

  #takeChanged(most: number): QuotaAccount[] {
    const taken = firstOf(this.#changed, most);
    for (const [name, account] of taken) {
      if (this.#recent.size < most) this.#recent.set(name, { account, left: TELLINGS });
    }
    return taken.map(([, account]) => account);
  }

  #takeRecent(most: number): QuotaAccount[] {
    const taken = firstOf(this.#recent, most);
    for (const [name, { account, left }] of taken) {
      if (left > 1) this.#recent.set(name, { account, left: left - 1 });
    }
    return taken.map(([, { account }]) => account);
  }

  #takeRest(accounts: QuotaAccount[], most: number): void {
    const end = accounts.length + most;
    while (accounts.length < end && this.#rest !== null) {
      const { value, done } = this.#rest.next();
      if (done === true) {
        this.#rest = null;
        this.#isHasty = false;
      } else accounts.push(value);
    }
  }
}

/** Takes the first entries out. */
function firstOf<Value>(map: Map<string, Value>, most: number): [string, Value][] {
  const taken: [string, Value][] = [];
  for (const entry of map) {
    if (taken.length >= most) break;
    taken.push(entry);
    map.delete(entry[0]);
  }
  return taken;
}

const nameOf = ({ customerId, planId }: QuotaAccount): string => `${customerId} ${planId}`;

/** Credits that were spent here in all, there; what other runs spent, back. */
export function quotaExchange(ledger: QuotaLedger, prefix: string, { gateway, namesMax }: Common): Exchange {
  const followed = new FollowedAccounts(ledger);
  return {
    say(time) {
      const { monthStart } = ledger;
      const accounts = followed.next(time, namesMax);
      if (accounts.length === 0) return null;
      const name = new Date(monthStart).toISOString().slice(0, 7);
      return {
        name: 'quotas',
        keys: accounts.map(({ customerId, planId }) => `${prefix}${name}:${customerId}:${planId}`),
        values: [gateway, monthStart + KEPT_AFTER_MS, ...accounts.map(({ own }) => own)],
        hear(answer) {
          accounts.forEach(({ customerId, planId }, index) => {
            ledger.learnTold({ customerId, planId, credits: Number(answer[index]) }, monthStart);
          });
        },
      };
    },
  };
}
