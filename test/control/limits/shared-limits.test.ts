import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { InMemoryLimitStore } from '../../../src/control/shared/limit-store.ts';
import { RedisLimitStore } from '../../../src/control/shared/redis-limit-store.ts';
import { eventually } from '../../service/eventually.ts';
import { DirectLimitStore } from './direct-limit-store.ts';
import { type Gateway, Gateways, NOON, quotaKey, slow } from './limit-gateways.ts';
import { type RedisServer, redisProgram, startRedis } from './redis-server.ts';

function sharedTests(gateways: Gateways): void {
  it('are exceeded by at most the local limits between syncs, and repay the excess', async () => {
    const all = await gateways.start(3);
    const bound = 100 + (3 - 1) * 100;
    expect(all.map((gateway) => gateway.takeAll())).toEqual([100, 100, 100]);
    await gateways.sync();
    expect(all.map((gateway) => gateway.takeAll())).toEqual([0, 0, 0]);
    const debt = all[0]?.rates.consume('f', slow, performance.now());
    // Two gateways have overdrawn the bucket; the retry time covers the debt.
    expect(debt?.retryAfter).toBeGreaterThan((bound - 100 - 1) / slow.rpcPerSecond);
  });

  it.each(['before', 'after'] as const)(
    'stay exact when a sync fails %s its report is stored',
    async (fails) => {
      const [a, b] = (await gateways.start(2)) as [Gateway, Gateway];
      b.take(20);
      await gateways.sync();
      for (let time = 0; time < 4; time++) {
        a.take(10);
        a.store.fails = fails;
        await a.shared.sync();
        await a.shared.sync();
        a.store.fails = null;
        await gateways.sync();
      }
      expect([a.takeAll(), b.shared.isConnected]).toEqual([40, true]);
    },
  );

  it('count REST requests across gateways, per endpoint group', async () => {
    const [a, b] = (await gateways.start(2)) as [Gateway, Gateway];
    a.request(25);
    b.request(15);
    await gateways.sync();
    expect(a.requestAll()).toBe(20);
    await gateways.sync();
    expect(b.requestAll()).toBe(0);
    expect(b.groups.consume('nft f', performance.now()).allowed).toBe(true);
  });

  it('count open connections across gateways, and release closed ones', async () => {
    const [a, b] = (await gateways.start(2)) as [Gateway, Gateway];
    expect(a.connectAll(10)).toBe(10);
    b.connections.tryAcquire('f', 10);
    b.connections.release('f');
    await gateways.sync();
    expect(b.connectAll(10)).toBe(0);
    a.connections.release('f', 4);
    await gateways.sync();
    expect(b.connectAll(10)).toBe(4);
  });

  it('release the connections of a dead gateway', async () => {
    const [a, b] = (await gateways.start(2, { presenceMs: 300 })) as [Gateway, Gateway];
    expect(a.connectAll(3)).toBe(3);
    b.connections.tryAcquire('f', 3);
    b.connections.release('f');
    await gateways.sync();
    expect(b.connectAll(3)).toBe(0);
    gateways.all = [b];
    await eventually(async () => {
      await b.shared.sync();
      return b.connectAll(3) === 3;
    }, 'its connections are free');
    a.connections.release('f', 3);
    await a.shared.stop();
  });

  it('share a quota exactly', async () => {
    const [a, b] = (await gateways.start(2)) as [Gateway, Gateway];
    a.spend(600);
    b.spend(300);
    await gateways.sync();
    expect([a.remaining, b.remaining]).toEqual([100, 100]);
    b.spend(100);
    await gateways.sync();
    expect(() => a.quota.reserve(quotaKey, NOON)).toThrow('credits');
  });
}

describe('limits of several gateways, in the primary process', () => {
  let store = new InMemoryLimitStore();
  const gateways = new Gateways(() => new DirectLimitStore(store));
  beforeEach(() => {
    store = new InMemoryLimitStore();
  });
  afterEach(() => gateways.stop());
  sharedTests(gateways);
});

describe.skipIf(redisProgram === null)(
  'limits of several gateways, on Redis (skipped where it is not installed)',
  () => {
    let redis: RedisServer;
    const gateways = new Gateways((limits) => new RedisLimitStore({ ...limits, url: redis.url, ca: null }));
    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis.destroy());
    beforeEach(async () => {
      await redis.kill();
      await redis.start();
    });
    afterEach(() => gateways.stop());

    sharedTests(gateways);

    it('recover without loss or double counting after the server loses its data', async () => {
      const [a, b] = (await gateways.start(2)) as [Gateway, Gateway];
      a.spend(600);
      b.spend(100);
      a.take(50);
      a.request(30);
      a.connections.tryAcquire('f', 10, 4);
      await gateways.sync();
      await redis.kill();
      await gateways.sync();
      await redis.start();
      await eventually(async () => {
        await gateways.sync();
        return gateways.all.every(({ shared }) => shared.isConnected);
      }, 'all are connected again');
      b.spend(1);
      a.take(1);
      b.take(1);
      a.request(1);
      b.request(1);
      b.connections.tryAcquire('f', 10);
      await gateways.sync();
      expect([a.remaining, b.remaining]).toEqual([299, 299]);
      expect(b.takeAll()).toBe(48);
      expect(b.requestAll()).toBe(28);
      expect(b.connectAll(10)).toBe(5);
    });

    it('fall back to local shares while the server is unreachable, without waiting', async () => {
      const [a, b] = (await gateways.start(2)) as [Gateway, Gateway];
      a.spend(200);
      await gateways.sync();
      await redis.kill();
      await gateways.sync();
      expect(gateways.all.map(({ states }) => states)).toEqual([
        [true, false],
        [true, false],
      ]);
      expect([a.takeAll(), b.takeAll()]).toEqual([50, 50]);
      expect([a.requestAll(), b.requestAll()]).toEqual([30, 30]);
      expect([a.connectAll(10), b.connectAll(10)]).toEqual([5, 5]);
      for (let credits = 0; credits < 400; credits++) {
        a.quota.reserve(quotaKey, NOON);
        a.spend(1);
      }
      expect(() => a.quota.reserve(quotaKey, NOON)).toThrow('credits');
      await redis.start();
      await eventually(async () => {
        await gateways.sync();
        return a.shared.isConnected && b.shared.isConnected;
      }, 'the server is found again');
      await gateways.sync();
      a.quota.reserve(quotaKey, NOON);
      expect([a.takeAll(), b.takeAll()]).toEqual([0, 0]);
    });

    it('use local shares from the start if the server is unreachable', async () => {
      await redis.kill();
      const alone = gateways.add({ gatewaysMin: 4, connectTimeoutMs: 50 });
      await alone.shared.start();
      expect(alone.takeAll()).toBe(25);
    });
  },
);
