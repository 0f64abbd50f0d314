import { describe, expect, it } from 'vitest';
import { NodePoller } from '../../src/upstream/health/health-monitor.ts';
import { defaultUpstreamLimits } from '../../src/upstream/limits.ts';
import { UpstreamNode } from '../../src/upstream/node.ts';
import { NodeGroup } from '../../src/upstream/node-group.ts';
import { healthy } from './mock/behaviors.ts';
import { stageForEach, until } from './mock/pool.ts';

const stage = stageForEach();

describe('slots observed in responses', () => {
  it('replace up to four polls in a row', async () => {
    const { mocks } = await stage([healthy()]);
    const node = new UpstreamNode({ name: 'n', url: mocks[0]!.url }, 'devnet', defaultUpstreamLimits);
    const group = new NodeGroup([node], defaultUpstreamLimits);
    const polls = new NodePoller(node, group, new AbortController().signal);
    const slotPolls = (): number => mocks[0]!.polls.filter(({ raw }) => raw.includes('processed')).length;
    await polls.poll();
    await polls.poll();
    expect(slotPolls()).toBe(2);
    for (let i = 0; i < 5; i++) {
      node.slots.observe('processed', node.slot!, performance.now());
      await polls.poll();
    }
    expect(slotPolls()).toBe(3);
    await node.close();
  });

  it('are polled at commitments in use, and rarely at finalized, so that the first responses are cached', async () => {
    const { pool, mocks } = await stage([healthy('1', 777n)]);
    pool.start();
    await until(() => mocks[0]!.polls.length > 6);
    expect(mocks[0]!.polls.some(({ raw }) => raw.includes('confirmed'))).toBe(false);
    expect(pool.slotAt('devnet', 'finalized')?.slot).toBe(777n);
    await until(() => pool.slotAt('devnet', 'confirmed')?.slot === 777n);
  });
});
