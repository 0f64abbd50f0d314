import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { houseKey } from '../../src/access/key-record.ts';
import { LimitBook } from '../../src/control/shared/limit-book.ts';
import type { LimitExchange } from '../../src/control/shared/limit-exchange.ts';
import { RedisExchange } from '../../src/control/shared/redis-exchange.ts';
import { SharedFloors } from '../../src/control/shared/shared-floors.ts';
import { SlotSessions } from '../../src/gateway/slot-sessions.ts';
import type { Call } from '../../src/protocol/call.ts';
import { AnswerCounts } from '../../src/upstream/cache/answer-counts.ts';
import { CallKeys } from '../../src/upstream/cache/call-key.ts';
import { FlooredCalls } from '../../src/upstream/heads/floored-calls.ts';
import { MetFloors } from '../../src/upstream/heads/met-floors.ts';
import { at, callOf, ScriptedSource } from '../upstream/answers/scripted-source.ts';
import { BookExchange } from './book-exchange.ts';
import { type RedisServer, redisProgram, startRedis } from './redis-server.ts';

const key = { ...houseKey, familyId: 'f', neverBack: true };
const balance = callOf('getBalance', ['a', { commitment: 'confirmed' }]);

/** A process that answers sessions, and the nodes behind it, which are at these slots one after the other. */
function processOver(exchange: LimitExchange, ...slots: number[]) {
  const floors = new SharedFloors({ exchange, prefix: 'test:floor:', keptMs: 60_000 });
  const sessions = new SlotSessions({}, floors);
  const source = new ScriptedSource();
  source.script = () => at(slots.length > 1 ? slots.shift()! : slots[0]!);
  const limits = { waitMs: 2_000, pauseMs: 1 };
  const parts = { source, keys: new CallKeys(), counts: new AnswerCounts(), limits };
  const met = new MetFloors(new FlooredCalls(parts));
  /** The slot that a read of the session is of, or the error. */
  const read = async (session: string | null = null, call: Call = balance): Promise<string> => {
    const floor = sessions.floorFor({ ...key, neverBack: session === null }, 'devnet', session);
    const { body } = await met.ask({ ...call, floor });
    return /lot":(\d+)/.exec(body.toString())?.[1] ?? body.toString();
  };
  return { read, source };
}

/** What holds wherever floors are shared. */
function promises(open: () => LimitExchange): void {
  it('have come as far in each process as in all others', async () => {
    const a = processOver(open(), 105, 105, 107);
    const b = processOver(open(), 100, 104, 106);
    expect([await a.read(), await b.read(), b.source.reached.length]).toEqual(['105', '106', 3]);
    expect([await a.read(), a.source.reached.length]).toEqual(['107', 3]);
  });

  it('are none of another session by the same key', async () => {
    const a = processOver(open(), 205);
    const b = processOver(open(), 200);
    expect([await a.read('one'), await b.read('other'), await b.read(null)]).toEqual(['205', '200', '200']);
  });
}

describe('sessions of several processes, in the memory of one of them', () => {
  const book = new LimitBook();
  promises(() => new BookExchange(book));

  it('go on in each by itself where the others cannot be asked, which is tried once for all reads', async () => {
    let runs = 0;
    const run = (): Promise<never> => Promise.reject(new Error(`away ${++runs}`));
    const away = Object.assign(new BookExchange(book), { run });
    const { read } = processOver(away, 300, 299, 301);
    expect([await read('x'), await read('x'), await read('y'), runs]).toEqual(['300', '301', '301', 1]);
  });

  it('wait for nobody who has left', async () => {
    const never = Object.assign(new BookExchange(book), { run: () => new Promise<never>(() => {}) });
    const { read: _, source } = processOver(never, 1);
    const sessions = new SlotSessions({}, new SharedFloors({ exchange: never, prefix: '', keptMs: 1 }));
    const floor = sessions.floorOf('f', 'devnet', 's');
    const leaving = new AbortController();
    const answer = new MetFloors(source).ask({ ...balance, floor }, leaving.signal);
    leaving.abort();
    await expect(answer).rejects.toMatchObject({ code: 'CLIENT_GONE' });
    expect(source.reached).toHaveLength(0);
  });
});

describe.skipIf(redisProgram === null)(
  'sessions of several processes, on Redis (skipped where it is not installed)',
  () => {
    let redis: RedisServer;
    const exchanges: LimitExchange[] = [];
    const reach = { ca: null, connectTimeoutMs: 2_000, commandTimeoutMs: 2_000, reconnectMaxMs: 100 };
    beforeAll(async () => {
      redis = await startRedis();
      for (let i = 0; i < 2; i++) exchanges.push(new RedisExchange({ ...reach, url: redis.url }));
      for (const exchange of exchanges) await exchange.start();
    });
    afterAll(async () => {
      for (const exchange of exchanges) await exchange.stop();
      await redis.destroy();
    });
    let next = 0;
    promises(() => exchanges[next++ % exchanges.length]!);
  },
);
