import { describe, expect, it } from 'vitest';
import { slot } from '../../../src/solana/units.ts';
import { BlockStream, type BlockSubscription } from '../../../src/upstream/feeds/block-stream.ts';
import type { FeedLimits } from '../../../src/upstream/feeds/limits.ts';
import { Recorder } from './listener.ts';
import { ScriptedChain } from './mock/scripted-chain.ts';
import { subscriptionOf } from './stage.ts';

const blocks = subscriptionOf('block', 'all', {
  commitment: 'confirmed',
  transactionDetails: 'none',
}) as BlockSubscription;

async function start(limits: Partial<FeedLimits> = {}) {
  const chain = new ScriptedChain(100, limits);
  const { log } = chain;
  const stream = new BlockStream({
    network: 'devnet',
    commitment: 'confirmed',
    reader: chain.reader(),
    limits: chain.limits,
    log,
  });
  const recorder = new Recorder();
  const end = await stream.add(blocks, recorder);
  const advance = (tip: number): Promise<void> => {
    chain.tip = tip;
    return stream.advance(slot(tip));
  };
  const emittedSlots = (): number[] => recorder.results.map(({ value }) => value.slot);
  return { chain, stream, recorder, end, advance, emittedSlots };
}

const warnings = (chain: ScriptedChain): string[] =>
  chain.logged.filter((line) => line.includes('"level":40'));

describe('BlockStream', () => {
  it('stops at an unavailable block and warns once', async () => {
    const { chain, advance, emittedSlots } = await start();
    chain.lacking.add(102);
    for (let tip = 101; tip < 130; tip++) await advance(tip);
    expect(emittedSlots()).toEqual([101]);
    expect(warnings(chain)).toHaveLength(1);
    chain.lacking.clear();
    await advance(130);
    expect(emittedSlots()).toEqual(Array.from({ length: 30 }, (_, at) => 101 + at));
  });

  it.each([101, 102])('waits for a node that has every block: without %i', async (missing) => {
    const { chain, advance, emittedSlots } = await start();
    chain.unlisted.add(missing);
    await advance(103);
    expect(emittedSlots()).toEqual(missing === 101 ? [] : [101]);
    chain.unlisted.clear();
    await advance(104);
    expect(emittedSlots()).toEqual([101, 102, 103, 104]);
  });

  it('fails its subscribers when it is too far behind', async () => {
    const { chain, advance, recorder, stream } = await start({ followerLagMaxSlots: 20 });
    chain.lacking.add(101);
    await advance(120);
    expect(recorder.failures).toEqual([]);
    await advance(121);
    expect(recorder.failures).toMatchObject([{ code: 'UPSTREAM_UNAVAILABLE', facts: { network: 'devnet' } }]);
    expect(stream.isEmpty).toBe(true);
  });
});
