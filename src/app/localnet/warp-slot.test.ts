import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenLocalNode, openLocalNode } from '../../../packages/localnet/src/genesis/open.ts';
import { slot } from '../../solana/units.ts';
import { warpTo } from './warp-slot.ts';

const dir = mkdtempSync(join(tmpdir(), 'solway-warp-'));
let node: OpenLocalNode;
beforeAll(async () => {
  node = await openLocalNode({ ledgerDir: dir, manual: true, slotsPerEpoch: 32 });
});
afterAll(async () => {
  await node.stop();
  rmSync(dir, { recursive: true, force: true });
});

describe('a warp', () => {
  it('creates a block in every slot, and completes epochs', async () => {
    await warpTo(node, 500n);
    expect(node.bank('processed').slot).toBe(500n);
    expect(node.history.block(slot(333))?.parentSlot).toBe(332n);
    expect(node.history.block(slot(480))?.numRewardPartitions).toBe(1n);
  });

  it('does nothing when the ledger is ahead already', async () => {
    await warpTo(node, 400n);
    expect(node.bank('processed').slot).toBe(500n);
  });
});
