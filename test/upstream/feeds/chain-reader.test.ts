import { describe, expect, it } from 'vitest';
import { slot } from '../../../src/solana/units.ts';
import { ReadError } from '../../../src/upstream/feeds/chain-reader.ts';
import { ScriptedChain } from './mock/scripted-chain.ts';
import { until } from './stage.ts';

const never = new AbortController().signal;

describe('ChainReader', () => {
  it('waits for a node that has caught up', async () => {
    const chain = new ScriptedChain(101);
    const read = chain.reader().slots(slot(100), slot(102), 'confirmed', never);
    await until(() => chain.count('getBlocks') === 2, 'it retries');
    chain.tip = 103;
    expect(await read).toEqual([100n, 101n, 102n]);
  });

  it('reads blocks in order and rejects a list with a missing slot', async () => {
    const chain = new ScriptedChain(200);
    chain.skipped.add(101);
    const reader = chain.reader();
    const slots: bigint[] = [];
    const onBlock = (block: { slot: bigint }): void => void slots.push(block.slot);
    await reader.eachBlock([100, 102, 103].map(slot), never, onBlock);
    expect(slots).toEqual([100n, 102n, 103n]);
    await expect(reader.eachBlock([100, 103].map(slot), never, onBlock)).rejects.toThrow(ReadError);
  });

  it('reads a block once, but retries after a failure', async () => {
    const chain = new ScriptedChain(200);
    chain.lacking.add(100);
    const reader = chain.reader();
    await expect(reader.block(slot(100))).rejects.toThrow(ReadError);
    chain.lacking.clear();
    await reader.block(slot(100));
    await reader.block(slot(100));
    expect(chain.count('getBlock')).toBe(2);
  });
});
