import { describe, expect, it } from 'vitest';
import { slot as slotOf } from '../../solana/units.ts';
import { Backfills } from './yellowstone-source.ts';

/** Backfills whose replays the test completes. */
function start(max: number) {
  const tellings: { from: bigint; end: () => void }[] = [];
  const backfills = new Backfills(
    max,
    (from) => new Promise((resolve) => tellings.push({ from, end: resolve })),
  );
  const froms = (): bigint[] => tellings.map(({ from }) => from);
  return { backfills, tellings, froms };
}

const from = (slot: number, isCancelled = false) => ({ from: slotOf(BigInt(slot)), isCancelled });

describe('old slots that many ask for at once', () => {
  it('are told once for all who wait for their turn, from the oldest on', async () => {
    const { backfills, tellings, froms } = start(2);
    const first = [backfills.add(from(9)), backfills.add(from(8))];
    const joint = [7, 3, 5].map((slot) => backfills.add(from(slot)));
    expect(froms()).toEqual([9n, 8n]);
    tellings[1]?.end();
    await first[1];
    expect(froms()).toEqual([9n, 8n, 3n]);
    const later = backfills.add(from(6));
    tellings[2]?.end();
    await Promise.all(joint);
    expect(froms()).toEqual([9n, 8n, 3n, 6n]);
    for (const { end } of tellings) end();
    await Promise.all([...first, later]);
  });

  it('are not told for those who have gone', async () => {
    const { backfills, tellings, froms } = start(1);
    const first = backfills.add(from(9));
    const gone = from(1);
    const waits = [backfills.add(gone), backfills.add(from(4))];
    gone.isCancelled = true;
    tellings[0]?.end();
    await first;
    expect(froms()).toEqual([9n, 4n]);
    tellings[1]?.end();
    await Promise.all(waits);
    const alone = backfills.add({ from: slotOf(2n), isCancelled: true });
    await alone;
    expect(froms()).toEqual([9n, 4n]);
  });
});
