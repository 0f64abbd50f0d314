import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConnectionLimit } from '../../src/access/connection-limit.ts';
import { defaultPlanLimits } from '../../src/access/key-record.ts';
import { QuotaLedger } from '../../src/access/quota.ts';
import { RateLimiter } from '../../src/access/rate-limit.ts';
import { WindowLimit } from '../../src/access/window-limit.ts';
import { SharedLimits, type SharingLimits, sharingLimits } from '../../src/control/shared/shared-limits.ts';
import { eventually } from '../service/eventually.ts';
import { type RedisServer, redisProgram, startRedis } from './redis-server.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const quotaKey = {
  customerId: 'anna',
  planId: 'small',
  limits: { ...defaultPlanLimits, monthlyCredits: 1_000 },
};

/** Tokens come in so slowly that no test waits for one. */
const slow = { rpcPerSecond: 0.001, rpcBurst: 100 };

/** What one gateway decides with. Nothing is exchanged but when a test says so. */
class Gateway {
  readonly rates = new RateLimiter({ isShared: true });
  readonly groups = new WindowLimit({ requestsMax: 60, windowMs: 600_000, namesMax: 100, isShared: true });
  readonly places = new ConnectionLimit({ isShared: true });
  readonly quota = new QuotaLedger();
  readonly states: boolean[] = [];
  readonly shared: SharedLimits;

  constructor(url: string, limits: Partial<SharingLimits> = {}) {
    const parts = {
      rates: this.rates,
      windows: { rest: this.groups },
      places: { ws: this.places },
      quota: this.quota,
    };
    this.shared = new SharedLimits({
      ...sharingLimits,
      syncIntervalMs: 60_000,
      ...limits,
      url,
      ca: null,
      prefix: 'test:',
      parts,
      onState: (error) => this.states.push(error === null),
    });
  }

  /** Takes as many as there are. */
  takeAll(family = 'f', limits = slow): number {
    let taken = 0;
    while (this.rates.take(family, limits, performance.now())?.allowed) taken += 1;
    return taken;
  }

  take(count: number): void {
    for (let i = 0; i < count; i++) {
      expect(this.rates.take('f', slow, performance.now())?.allowed).toBe(true);
    }
  }

  askAll(name = 'wallet f'): number {
    let let_ = 0;
    while (this.groups.take(name, performance.now()).allowed) let_ += 1;
    return let_;
  }

  ask(count: number): void {
    for (let i = 0; i < count; i++) this.groups.take('wallet f', performance.now());
  }

  connectAll(max: number): number {
    let open = 0;
    while (this.places.take('f', max)) open += 1;
    return open;
  }

  spend(credits: number): void {
    this.quota.spend(quotaKey, credits, NOON);
  }

  get left(): number {
    return this.quota.standing(quotaKey, NOON)?.remaining ?? Number.NaN;
  }
}

describe.skipIf(redisProgram === null)(
  'limits of several gateways, on Redis (skipped where it is not installed)',
  () => {
    let redis: RedisServer;
    let gateways: Gateway[] = [];
    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis.destroy());
    beforeEach(async () => {
      await redis.kill();
      await redis.start();
    });
    afterEach(async () => {
      for (const { shared } of gateways) await shared.stop();
      gateways = [];
    });

    async function start(count: number, limits: Partial<SharingLimits> = {}): Promise<Gateway[]> {
      gateways = Array.from({ length: count }, () => new Gateway(redis.url, limits));
      for (const { shared } of gateways) await shared.start();
      await syncAll();
      return gateways;
    }

    /** Every gateway hears what all took before. */
    async function syncAll(times = 2): Promise<void> {
      for (let round = 0; round < times; round++) for (const { shared } of gateways) await shared.sync();
    }

    const everyone = (gatewaysSeen: number) => gateways.map(() => gatewaysSeen);

    it('know how many they are', async () => {
      await start(3);
      expect(gateways.map(({ shared }) => shared.gateways)).toEqual(everyone(3));
      await gateways.pop()?.shared.stop();
      await syncAll();
      expect(gateways.map(({ shared }) => shared.gateways)).toEqual(everyone(2));
    });

    it('count the calls of all', async () => {
      const [a, b] = (await start(2)) as [Gateway, Gateway];
      a.take(70);
      b.take(10);
      await syncAll();
      expect(a.takeAll()).toBe(20);
      await syncAll();
      expect(b.takeAll()).toBe(0);
    });

    it('let through what each has before it hears of the others, no more, and have it paid back', async () => {
      const all = await start(3);
      const bound = 100 + (3 - 1) * 100;
      expect(all.map((gateway) => gateway.takeAll())).toEqual([100, 100, 100]);
      await syncAll();
      expect(all.map((gateway) => gateway.takeAll())).toEqual([0, 0, 0]);
      const debt = all[0]?.rates.take('f', slow, performance.now());
      // The bucket is overdrawn by two others: so long it takes until there is a token.
      expect(debt?.retryAfter).toBeGreaterThan((bound - 100 - 1) / slow.rpcPerSecond);
    });

    it('count REST requests of all, part by part', async () => {
      const [a, b] = (await start(2)) as [Gateway, Gateway];
      a.ask(25);
      b.ask(15);
      await syncAll();
      expect(a.askAll()).toBe(20);
      await syncAll();
      expect(b.askAll()).toBe(0);
      expect(b.groups.take('nft f', performance.now()).allowed).toBe(true);
    });

    it('count open connections of all, and give places back', async () => {
      const [a, b] = (await start(2)) as [Gateway, Gateway];
      expect(a.connectAll(10)).toBe(10);
      b.places.take('f', 10);
      b.places.giveBack('f');
      await syncAll();
      expect(b.connectAll(10)).toBe(0);
      a.places.giveBack('f', 4);
      await syncAll();
      expect(b.connectAll(10)).toBe(4);
    });

    it('free the places of a gateway that is gone', async () => {
      const [a, b] = (await start(2, { presenceMs: 300 })) as [Gateway, Gateway];
      expect(a.connectAll(3)).toBe(3);
      b.places.take('f', 3);
      b.places.giveBack('f');
      await syncAll();
      expect(b.connectAll(3)).toBe(0);
      // It says nothing more.
      gateways = [b];
      await eventually(async () => {
        await b.shared.sync();
        return b.connectAll(3) === 3;
      }, 'its places are free');
      a.places.giveBack('f', 3);
      await a.shared.stop();
    });

    it('share a quota, to the credit', async () => {
      const [a, b] = (await start(2)) as [Gateway, Gateway];
      a.spend(600);
      b.spend(300);
      await syncAll();
      expect([a.left, b.left]).toEqual([100, 100]);
      b.spend(100);
      await syncAll();
      expect(() => a.quota.check(quotaKey, NOON)).toThrow('credits');
    });

    it('begin with what others spent before', async () => {
      const [a] = (await start(1)) as [Gateway];
      a.spend(600);
      await syncAll();
      const late = new Gateway(redis.url);
      gateways.push(late);
      await late.shared.start();
      late.spend(1);
      await syncAll();
      expect(late.left).toBe(399);
    });

    it('lose nothing that counts and double nothing when the server forgets all', async () => {
      const [a, b] = (await start(2)) as [Gateway, Gateway];
      a.spend(600);
      b.spend(100);
      a.take(50);
      a.ask(30);
      a.places.take('f', 10, 4);
      await syncAll();
      await redis.kill();
      await syncAll();
      await redis.start();
      await eventually(async () => {
        await syncAll();
        return gateways.every(({ shared }) => shared.isThere);
      }, 'all are connected again');
      b.spend(1);
      a.take(1);
      b.take(1);
      a.ask(1);
      b.ask(1);
      b.places.take('f', 10);
      await syncAll();
      expect([a.left, b.left]).toEqual([299, 299]);
      expect(b.takeAll()).toBe(48);
      expect(b.askAll()).toBe(28);
      expect(b.connectAll(10)).toBe(5);
    });

    it('go on by themselves while the server is away, each with its part, and never wait for it', async () => {
      const [a, b] = (await start(2)) as [Gateway, Gateway];
      a.spend(200);
      await syncAll();
      await redis.kill();
      await syncAll();
      expect(gateways.map(({ states }) => states)).toEqual([
        [true, false],
        [true, false],
      ]);
      expect([a.takeAll(), b.takeAll()]).toEqual([50, 50]);
      expect([a.askAll(), b.askAll()]).toEqual([30, 30]);
      expect([a.connectAll(10), b.connectAll(10)]).toEqual([5, 5]);
      for (let credits = 0; credits < 400; credits++) {
        a.quota.check(quotaKey, NOON);
        a.spend(1);
      }
      expect(() => a.quota.check(quotaKey, NOON)).toThrow('credits');
      await redis.start();
      await eventually(async () => {
        await syncAll();
        return a.shared.isThere && b.shared.isThere;
      }, 'the server is found again');
      await syncAll();
      a.quota.check(quotaKey, NOON);
      expect([a.takeAll(), b.takeAll()]).toEqual([0, 0]);
    });

    it('count as divided from the start when it cannot be reached', async () => {
      await redis.kill();
      const alone = new Gateway(redis.url, { gatewaysLeast: 4, connectTimeoutMs: 50 });
      gateways = [alone];
      await alone.shared.start();
      expect(alone.takeAll()).toBe(25);
    });

    it('do not wait for a server that does not answer', async () => {
      const [a] = (await start(1, { commandTimeoutMs: 100, gatewaysLeast: 2 })) as [Gateway];
      redis.pause();
      a.take(1);
      await a.shared.sync();
      expect(a.shared.isThere).toBe(false);
      expect(a.takeAll()).toBeLessThanOrEqual(50);
      redis.goOn();
      await eventually(async () => {
        await a.shared.sync();
        return a.shared.isThere;
      }, 'it answers again');
    });

    it('exchange by themselves, again and again', async () => {
      const [a, b] = (await start(2, { syncIntervalMs: 5 })) as [Gateway, Gateway];
      a.spend(400);
      b.spend(1);
      await eventually(async () => {
        b.spend(1);
        return b.left < 600;
      }, 'the other is heard of');
    });
  },
);
