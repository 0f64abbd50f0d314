import { expect, it } from 'vitest';
import { slot as slotOf } from '../../solana/units.ts';
import { Backfills } from './yellowstone-source.ts';

function start(max: number) {
  const replays: { from: bigint; end: () => void }[] = [];
  const backfills = new Backfills(
    max,
    (from) => new Promise((resolve) => replays.push({ from, end: resolve })),
  );
  const froms = (): bigint[] => replays.map(({ from }) => from);
  return { backfills, replays, froms };
}

const from = (slot: number, isCancelled = false) => ({ from: slotOf(BigInt(slot)), isCancelled });

it('Backfills shares one queued replay from the oldest requested slot', async () => {
  const { backfills, replays, froms } = start(2);
  const first = [backfills.add(from(9)), backfills.add(from(8))];
  const joint = [7, 3, 5].map((slot) => backfills.add(from(slot)));
  expect(froms()).toEqual([9n, 8n]);
  replays[1]?.end();
  await first[1];
  expect(froms()).toEqual([9n, 8n, 3n]);
  const later = backfills.add(from(6));
  replays[2]?.end();
  await Promise.all(joint);
  expect(froms()).toEqual([9n, 8n, 3n, 6n]);
  for (const { end } of replays) end();
  await Promise.all([...first, later]);
});
