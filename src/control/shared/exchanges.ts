import type { ConnectionLimit } from '../../access/connection-limit.ts';
import { Followed } from '../../access/followed.ts';
import type { QuotaAccount, QuotaLedger } from '../../access/quota.ts';
import type { RateLimiter } from '../../access/rate-limit.ts';
import type { CountedParts, WindowLimit } from '../../access/window-limit.ts';
import { PLACES, QUOTAS, RATES, WINDOWS } from './scripts.ts';

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

/** One run of a script, and what to do with its answer. */
export type Said = Readonly<{
  script: string;
  keys: readonly string[];
  values: readonly (string | number)[];
  hear(answer: readonly unknown[], time: HearTime): void;
}>;

/** One kind of limit that is shared. */
export interface Exchange {
  /** What there is to say; null: nothing. */
  say(time: SayTime): Said | null;
}

/** What all kinds have in common. */
type Common = Readonly<{ gateway: string; namesMax: number }>;

/** Tokens taken, there; tokens missing, back. */
export function ratesExchange(
  rates: RateLimiter,
  prefix: string,
  { namesMax, gateways }: Common & Readonly<{ gateways: () => number }>,
): Exchange {
  return {
    say({ nowMs }) {
      const taken = rates.taken(namesMax, nowMs);
      if (taken.length === 0) return null;
      const values = taken.flatMap((one) => [one.taken, one.missing.toFixed(3), one.perSecond, one.capacity]);
      return {
        script: RATES,
        keys: taken.map(({ familyId }) => prefix + familyId),
        // More cannot be missing than each gateway has taken of a full bucket, and of what came in meanwhile.
        values: [gateways() + 1, ...values],
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
    script: WINDOWS,
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
      if (shift === null)
        return { script: 'return {}', keys: [], values: [], hear: (_, time) => follow(time) };
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
  { gateway, presenceMs }: Common & Readonly<{ presenceMs: number }>,
): Exchange {
  return {
    say({ isRound, isAnew }) {
      const held = places.held(isRound || isAnew);
      if (held.length === 0) return null;
      return {
        script: PLACES,
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

/** Accounts by their last known state, those that changed lately first in line. */
class FollowedAccounts {
  readonly #ledger: QuotaLedger;
  readonly #changes: () => QuotaAccount[];
  readonly #names = new Followed(Number.POSITIVE_INFINITY);
  #accounts = new Map<string, QuotaAccount>();
  #month = 0;

  constructor(ledger: QuotaLedger) {
    this.#ledger = ledger;
    this.#changes = ledger.listen();
  }

  /** Those whose turn it is. @param isAll - all of the month are to be told of. */
  next(isAll: boolean, most: number): QuotaAccount[] {
    const { monthStart } = this.#ledger;
    if (monthStart !== this.#month) this.#accounts = new Map();
    this.#month = monthStart;
    const changed = this.#changes();
    for (const account of isAll ? this.#ledger.accounts() : changed) this.#add(account);
    return this.#names.next(most).flatMap((name) => this.#accounts.get(name) ?? []);
  }

  #add(account: QuotaAccount): void {
    const name = `${account.customerId} ${account.planId}`;
    this.#accounts.set(name, account);
    this.#names.add(name);
  }
}

/** Credits that were spent here in all, there; what other runs spent, back. */
export function quotaExchange(ledger: QuotaLedger, prefix: string, { gateway, namesMax }: Common): Exchange {
  const followed = new FollowedAccounts(ledger);
  return {
    say({ isRound, isAnew }) {
      const { monthStart } = ledger;
      const accounts = followed.next(isRound || isAnew, namesMax);
      if (accounts.length === 0) return null;
      const name = new Date(monthStart).toISOString().slice(0, 7);
      return {
        script: QUOTAS,
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
