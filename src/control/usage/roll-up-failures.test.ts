import { expect, it } from 'vitest';
import { RollUpFailures } from './roll-up-failures.ts';

it('buckets that fail do not displace older ones, and are retried a minute after their last failure', async () => {
  const clock = { now: 0 };
  const failures = new RollUpFailures(() => clock.now);
  const due = [9, 8, 7, 6];
  const select = () => failures.select('day', 2, async (limit) => due.slice(0, limit));
  const failEach = async (buckets: readonly number[]): Promise<void> => {
    for (const bucket of buckets)
      await failures.watch('day', bucket, async () => {
        clock.now += 300_000;
        throw new Error('timeout');
      });
  };
  for (let attempt = 0; attempt < 3; attempt++) {
    expect(await select()).toEqual([9, 8]);
    await failEach([9, 8]);
  }
  // The first failed five minutes before the second.
  expect(await select()).toEqual([9, 7]);
  await failEach([9]);
  expect(await select()).toEqual([8, 7]);
  await failures.watch('day', 8, async () => undefined);
  due.splice(1, 1);
  clock.now -= 1;
  expect(await select()).toEqual([7, 6]);
  clock.now += 60_001;
  expect(await select()).toEqual([9, 7]);
});
