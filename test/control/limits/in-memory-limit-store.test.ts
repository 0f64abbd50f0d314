import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LimitCommand, LimitCommandName } from '../../../src/control/shared/limit-store.ts';
import { InMemoryLimitStore } from '../../../src/control/shared/limit-store.ts';
import { RedisLimitStore } from '../../../src/control/shared/redis-limit-store.ts';
import { sharingLimits } from '../../../src/control/shared/shared-limits.ts';
import { redisProgram, startRedis } from './redis-server.ts';

const step = (
  name: LimitCommandName,
  keys: readonly string[],
  ...values: (string | number)[]
): LimitCommand => ({
  name,
  keys,
  values,
});

const LONG_MS = 3_600_000;
const IN_A_MONTH = Date.now() + 30 * 86_400_000;

const gateway = fc.constantFrom('a', 'b', 'c');
const names = fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { minLength: 1 });
const count = fc.nat({ max: 50 });

const ofNames = <Values>(prefix: string, values: fc.Arbitrary<Values[]>) =>
  names.chain((some) =>
    fc.tuple(
      fc.constant(some.map((name) => prefix + name)),
      fc.array(values, { minLength: some.length, maxLength: some.length }),
    ),
  );

/** So slow that clock differences between the two stores do not matter. */
const reportCount = fc.integer({ min: 1, max: 3 });
const rates = fc
  .tuple(gateway, ofNames('r', fc.tuple(reportCount, count, count, fc.constant(0.001), fc.constant(100))))
  .map(([who, [keys, values]]) => step('rates', keys, who, 3, 0.5, ...values.flat()));
const windows = fc
  .tuple(
    gateway,
    fc.nat({ max: 5 }),
    ofNames('w', fc.array(fc.tuple(fc.integer({ min: 3, max: 9 }), count), { maxLength: 3 })),
  )
  .map(([who, oldest, [keys, parts]]) =>
    step('windows', keys, who, oldest, LONG_MS, ...parts.flatMap((some) => [some.length, ...some.flat()])),
  );
const places = fc
  .tuple(gateway, ofNames('p', fc.tuple(count)))
  .map(([who, [keys, open]]) => step('connections', keys, who, LONG_MS, ...open.flat()));
const quotas = fc
  .tuple(gateway, ofNames('q', fc.tuple(fc.nat({ max: 2 ** 40 }))))
  .map(([who, [keys, spent]]) => step('quotas', keys, who, IN_A_MONTH, ...spent.flat()));
const presence = gateway.map((who) => step('presence', ['gateways'], who, LONG_MS));
const noWindows = fc.constant(step('windows', [], 'a', 0, LONG_MS));
const steps = fc.array(fc.oneof(rates, windows, places, quotas, presence, noWindows), { maxLength: 30 });

/** Removes irrelevant differences: time, order, and the last digit of a bucket level. */
function comparable({ name }: LimitCommand, answer: unknown): unknown {
  if (name === 'presence') return (answer as number[])[1];
  if (name === 'rates') return (answer as string[]).map((level) => Math.round(Number(level)));
  if (name === 'windows') return (answer as number[][]).map(pairs);
  return answer;
}

const pairs = (flat: readonly number[]): string[] =>
  Array.from({ length: flat.length / 2 }, (_, pair) => flat.slice(pair * 2, pair * 2 + 2).join(' ')).sort();

describe.skipIf(redisProgram === null)(
  'the in-memory limit store compared with Redis (skipped where Redis is not installed)',
  () => {
    it('returns the same replies', async () => {
      const redis = await startRedis();
      const exchange = new RedisLimitStore({ ...sharingLimits, url: redis.url, ca: null });
      let run = 0;
      try {
        await exchange.start();
        await fc.assert(
          fc.asyncProperty(steps, async (requested) => {
            const store = new InMemoryLimitStore();
            const replies = store.execute(requested);
            const prefix = `${run++}:`;
            const there = requested.map((one) => ({ ...one, keys: one.keys.map((key) => prefix + key) }));
            const observed = requested.length === 0 ? [] : await exchange.execute(there);
            expect(replies.map((answer, at) => comparable(requested[at] as LimitCommand, answer))).toEqual(
              observed.map((answer, at) => comparable(requested[at] as LimitCommand, answer)),
            );
          }),
        );
      } finally {
        await exchange.stop();
        await redis.destroy();
      }
    });
  },
);

describe('the in-memory limit store', () => {
  const bookAt = (namesMax = 100) => {
    const clock = { now: 1_000_000 };
    const store = new InMemoryLimitStore({ namesMax, now: () => clock.now });
    return { clock, run: (one: LimitCommand) => store.execute([one])[0], store };
  };

  it('expires windows and months', () => {
    const { clock, run } = bookAt();
    run(step('windows', ['w'], 'a', 0, 500, 1, 7, 3));
    run(step('quotas', ['q'], 'a', clock.now + 500, 9));
    expect(run(step('windows', ['w'], 'b', 0, 500, 0))).toEqual([[7, 3]]);
    expect(run(step('quotas', ['q'], 'b', clock.now + 500, 0))).toEqual(['9']);
    clock.now += 501;
    expect(run(step('windows', ['w'], 'b', 0, 500, 0))).toEqual([[]]);
    expect(run(step('quotas', ['q'], 'b', clock.now + 500, 0))).toEqual(['0']);
  });

  it('remembers the last report of four times as many workers as run', () => {
    const { run } = bookAt();
    const levelAfter = (who: string) => run(step('rates', ['r'], who, 1, 0.5, 1, 10, 10, 0.001, 100));
    const reporters = ['a', 'b', 'c', 'd'];
    expect(reporters.map(levelAfter)).toEqual([['10.000'], ['20.000'], ['30.000'], ['40.000']]);
    expect(reporters.map(levelAfter)).toEqual(Array(4).fill(['40.000']));
  });

  it('caps the number of entries, and evicts the least recently updated', () => {
    const { run } = bookAt(4);
    for (let name = 0; name < 6; name++) run(step('quotas', [`q${name}`], 'a', Number.MAX_SAFE_INTEGER, 1));
    const known = [0, 1, 2, 3, 4, 5].filter(
      (name) => String(run(step('quotas', [`q${name}`], 'b', Number.MAX_SAFE_INTEGER, 0))) === '1',
    );
    expect(known).not.toContain(0);
  });
});
