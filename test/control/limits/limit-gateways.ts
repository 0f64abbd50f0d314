import { expect } from 'vitest';
import type { LimitCommand, LimitStore } from '../../../src/control/shared/limit-store.ts';
import {
  SharedLimits,
  type SharingLimits,
  sharingLimits,
} from '../../../src/control/shared/shared-limits.ts';
import { defaultPlanLimits } from '../../../src/gateway/auth/key-record.ts';
import { ConnectionLimit } from '../../../src/gateway/limits/connection-limit.ts';
import { QuotaLedger } from '../../../src/gateway/limits/quota.ts';
import { RateLimiter } from '../../../src/gateway/limits/rate-limiter.ts';
import { SlidingWindowLimiter } from '../../../src/gateway/limits/sliding-window-limiter.ts';

const today = new Date();
export const NOON = Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), 15, 12);
export const quotaKey = {
  customerId: 'anna',
  planId: 'small',
  limits: { ...defaultPlanLimits, monthlyCredits: 1_000 },
};

/** So slow that no test waits for a token. */
export const slow = { rpcPerSecond: 0.001, rpcBurst: 100 };

/** Fails before or after executing the request, if set. */
class FailingLimitStore implements LimitStore {
  fails: 'before' | 'after' | null = null;
  readonly #store: LimitStore;

  constructor(exchange: LimitStore) {
    this.#store = exchange;
  }

  get problem(): LimitStore['problem'] {
    return this.#store.problem;
  }

  start(): Promise<void> {
    return this.#store.start();
  }

  async execute(steps: readonly LimitCommand[]): Promise<readonly unknown[]> {
    if (this.fails === 'before') throw new Error('the way there is gone');
    const answers = await this.#store.execute(steps);
    if (this.fails === 'after') throw new Error('the way back is gone');
    return answers;
  }

  stop(): Promise<void> {
    return this.#store.stop();
  }
}

/** The limiters of one gateway, which sync only when the test calls for it. */
export class Gateway {
  readonly rates = new RateLimiter({ isShared: true });
  readonly groups = new SlidingWindowLimiter({
    requestsMax: 60,
    windowMs: 600_000,
    namesMax: 100,
    isShared: true,
  });
  readonly connections = new ConnectionLimit({ isShared: true });
  readonly quota = new QuotaLedger();
  readonly states: boolean[] = [];
  readonly shared: SharedLimits;
  readonly store: FailingLimitStore;

  constructor(exchange: LimitStore, limits: Partial<SharingLimits> = {}) {
    const parts = {
      rates: this.rates,
      windows: { rest: this.groups },
      connections: { ws: this.connections },
      quota: this.quota,
    };
    this.store = new FailingLimitStore(exchange);
    this.shared = new SharedLimits({
      ...sharingLimits,
      syncIntervalMs: 60_000,
      ...limits,
      store: this.store,
      prefix: 'test:',
      parts,
      onState: (error) => this.states.push(error === null),
    });
  }

  takeAll(family = 'f', limits = slow): number {
    let taken = 0;
    while (this.rates.consume(family, limits, performance.now())?.allowed) taken += 1;
    return taken;
  }

  take(count: number): void {
    for (let i = 0; i < count; i++) {
      expect(this.rates.consume('f', slow, performance.now())?.allowed).toBe(true);
    }
  }

  requestAll(name = 'wallet f'): number {
    let allowed = 0;
    while (this.groups.consume(name, performance.now()).allowed) allowed += 1;
    return allowed;
  }

  request(count: number): void {
    for (let i = 0; i < count; i++) this.groups.consume('wallet f', performance.now());
  }

  connectAll(max: number): number {
    let open = 0;
    while (this.connections.tryAcquire('f', max)) open += 1;
    return open;
  }

  spend(credits: number): void {
    this.quota.spend(quotaKey, credits, NOON);
  }

  get remaining(): number {
    return this.quota.status(quotaKey, NOON)?.remaining ?? Number.NaN;
  }
}

export class Gateways {
  readonly #open: (limits: SharingLimits) => LimitStore;
  all: Gateway[] = [];

  constructor(open: (limits: SharingLimits) => LimitStore) {
    this.#open = open;
  }

  add(limits: Partial<SharingLimits> = {}): Gateway {
    const gateway = new Gateway(this.#open({ ...sharingLimits, ...limits }), limits);
    this.all.push(gateway);
    return gateway;
  }

  async start(count: number, limits: Partial<SharingLimits> = {}): Promise<Gateway[]> {
    for (let made = 0; made < count; made++) this.add(limits);
    for (const { shared } of this.all) await shared.start();
    await this.sync();
    return this.all;
  }

  /** The second round delivers to every gateway what the others reported in the first. */
  async sync(times = 2): Promise<void> {
    for (let round = 0; round < times; round++) for (const { shared } of this.all) await shared.sync();
  }

  async stop(): Promise<void> {
    for (const { shared } of this.all) await shared.stop();
    this.all = [];
  }
}
