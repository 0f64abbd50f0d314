import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LimitStore } from '../../../src/control/shared/limit-store.ts';
import { InMemoryLimitStore } from '../../../src/control/shared/limit-store.ts';
import { RedisLimitStore } from '../../../src/control/shared/redis-limit-store.ts';
import { SharedMinSlotStore } from '../../../src/control/shared/shared-min-slot-store.ts';
import { SessionMinSlots } from '../../../src/gateway/session-min-slots.ts';
import type { Call } from '../../../src/protocol/call.ts';
import { request } from '../../../src/protocol/rpc-dispatcher.ts';
import { CallKeys } from '../../../src/upstream/middleware/call-key.ts';
import { MonotonicReads } from '../../../src/upstream/middleware/monotonic-reads.ts';
import { ResponseCounts } from '../../../src/upstream/middleware/response-counts.ts';
import { internalKey } from '../../project/callers.ts';
import { at, callOf, ScriptedDispatcher } from '../../upstream/mock/scripted-dispatcher.ts';
import { DirectLimitStore } from './direct-limit-store.ts';
import { type RedisServer, redisProgram, startRedis } from './redis-server.ts';

const key = { ...internalKey, familyId: 'f', neverBack: true };
const balance = callOf('getBalance', ['a', { commitment: 'confirmed' }]);

/** A process whose node returns these slots in turn. */
function createProcess(exchange: LimitStore, ...slots: number[]) {
  const minSlots = new SharedMinSlotStore({ store: exchange, prefix: 'test:slot:', retentionMs: 60_000 });
  const sessions = new SessionMinSlots({}, minSlots);
  const source = new ScriptedDispatcher();
  source.script = () => at(slots.length > 1 ? slots.shift()! : slots[0]!);
  const limits = { waitMs: 2_000, backoffMs: 1 };
  const parts = { keys: new CallKeys(), counts: new ResponseCounts(), limits };
  const reads = new MonotonicReads(source, parts);
  /** The slot that a read in the session returns, or the error. */
  const read = async (session: string | null = null, call: Call = balance): Promise<string> => {
    const minSlot = sessions.minSlotFor({ ...key, monotonicReads: session === null }, 'devnet', session);
    const { body } = await request(reads, { ...call, minSlot });
    return /lot":(\d+)/.exec(body.toString())?.[1] ?? body.toString();
  };
  return { read, source };
}

function sharedTests(open: () => LimitStore): void {
  it('share a minimum slot across processes', async () => {
    const a = createProcess(open(), 105, 105, 107);
    const b = createProcess(open(), 100, 104, 106);
    expect([await a.read(), await b.read(), b.source.calls.length]).toEqual(['105', '106', 3]);
    expect([await a.read(), a.source.calls.length]).toEqual(['107', 3]);
  });

  it('are isolated from other sessions of the same key', async () => {
    const a = createProcess(open(), 205);
    const b = createProcess(open(), 200);
    expect([await a.read('one'), await b.read('other'), await b.read(null)]).toEqual(['205', '200', '200']);
  });
}

describe('sessions of several processes, with the store in one of them', () => {
  const store = new InMemoryLimitStore();
  sharedTests(() => new DirectLimitStore(store));

  it('continue locally if the store is unreachable, with one connection attempt for all reads', async () => {
    let runs = 0;
    const run = (): Promise<never> => Promise.reject(new Error(`away ${++runs}`));
    const unreachable = Object.assign(new DirectLimitStore(store), { execute: run });
    const { read } = createProcess(unreachable, 300, 299, 301);
    expect([await read('x'), await read('x'), await read('y'), runs]).toEqual(['300', '301', '301', 1]);
  });
});

describe.skipIf(redisProgram === null)(
  'sessions of several processes, with the store in Redis (skipped where it is not installed)',
  () => {
    let redis: RedisServer;
    const exchanges: LimitStore[] = [];
    const reach = { ca: null, connectTimeoutMs: 2_000, commandTimeoutMs: 2_000, reconnectMaxMs: 100 };
    beforeAll(async () => {
      redis = await startRedis();
      for (let i = 0; i < 2; i++) exchanges.push(new RedisLimitStore({ ...reach, url: redis.url }));
      for (const exchange of exchanges) await exchange.start();
    });
    afterAll(async () => {
      for (const exchange of exchanges) await exchange.stop();
      await redis.destroy();
    });
    let next = 0;
    sharedTests(() => exchanges[next++ % exchanges.length]!);
  },
);
