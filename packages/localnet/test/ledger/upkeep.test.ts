import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sysvars } from '../../../../src/solana/programs.ts';
import { RECENT_BLOCKS_MAX } from '../../src/history/recent-blocks.ts';
import { Lab } from './lab.ts';

let lab: Lab;
beforeEach(async () => {
  lab = await Lab.open({ limits: { segmentSlotsMax: 50, historySlotsMax: 100 } });
});
afterEach(() => lab.close());

const slotHashes = () =>
  (['processed', 'finalized'] as const).map((commitment) => {
    const { data } = lab.node.bank(commitment).account(sysvars.slotHashes)!;
    return Buffer.from(data).toString('base64');
  });

it('a ledger that removes history keeps the blocks needed for its slot hashes', async () => {
  for (let i = 0; i < 28; i++) {
    lab.freeze(50);
    await lab.durable();
  }
  const before = slotHashes();
  await lab.reopen();
  const [oldest = 0] = readdirSync(lab.dir)
    .flatMap((name) => /^snapshot-(\d{12})\.bin$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
  const first = Number(lab.node.history.firstAvailableSlot);
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThanOrEqual(oldest - RECENT_BLOCKS_MAX);
  expect(slotHashes()).toEqual(before);
});
