import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/protocol/errors.ts';
import { type Slot, slot } from '../../../src/solana/units.ts';
import type { FeedListener } from '../../../src/streams/feed.ts';
import { LedgerNotifier } from '../../../src/streams/ledger-notifier.ts';
import { BlockFollower } from '../../../src/upstream/feeds/block-follower.ts';
import { BlockStream, type BlockSubscription } from '../../../src/upstream/feeds/block-stream.ts';
import type { FeedLimits } from '../../../src/upstream/feeds/limits.ts';
import { Recorder } from './listener.ts';
import { ScriptedChain } from './mock/scripted-chain.ts';
import { subscriptionOf, until } from './stage.ts';

const blocks = subscriptionOf('block', 'all', {
  commitment: 'confirmed',
  transactionDetails: 'none',
}) as BlockSubscription;

type SlotRequest = Readonly<{
  listener: FeedListener;
  accept: () => void;
  refuse: () => void;
  ended: () => number;
}>;

/** Nodes whose slot subscriptions the test accepts or refuses. */
class ScriptedSlots {
  readonly requests: SlotRequest[] = [];
  /** Slot of the network; null while unknown. */
  trustedSlot: Slot | null = null;

  networkSlot(): Slot | null {
    return this.trustedSlot;
  }

  open(_: unknown, listener: FeedListener): Promise<() => void> {
    const answer = Promise.withResolvers<() => void>();
    let ends = 0;
    this.requests.push({
      listener,
      accept: () => answer.resolve(() => void ends++),
      refuse: () => answer.reject(new Failure('UPSTREAM_UNAVAILABLE')),
      ended: () => ends,
    });
    return answer.promise;
  }
}

const optionsOf = (chain: ScriptedChain) => ({
  ...{ network: 'devnet' as const, reader: chain.reader(), limits: chain.limits, log: chain.log },
  createNotifier: () => new LedgerNotifier(),
});

function start(limits: Partial<FeedLimits> = {}) {
  const chain = new ScriptedChain(100, limits);
  const slots = new ScriptedSlots();
  const follower = new BlockFollower({ ...optionsOf(chain), pubsub: slots });
  const tick = (requests: SlotRequest, tip: number): void => {
    chain.tip = tip;
    requests.listener.onNotification(
      Buffer.from(`{"slot":${tip},"parent":${tip - 1},"root":${tip - 32}}`),
      false,
    );
  };
  const nth = async (count: number): Promise<SlotRequest> => {
    await until(() => slots.requests.length === count, `${count} slot subscriptions`);
    return slots.requests[count - 1]!;
  };
  return { chain, slots, follower, tick, nth };
}

const slotsOf = (recorder: Recorder): number[] => recorder.results.map(({ value }) => value.slot);

describe('BlockFollower', () => {
  it('resubscribes to slots until a node sends some', async () => {
    const { follower, tick, nth } = start();
    const recorder = new Recorder();
    const opening = follower.open(blocks, recorder);
    (await nth(1)).accept();
    await opening;
    (await nth(1)).listener.onError(new Failure('UPSTREAM_UNAVAILABLE'));
    for (const failed of [2, 3, 4]) (await nth(failed)).refuse();
    const last = await nth(5);
    last.accept();
    tick(last, 105);
    await recorder.until(({ raw }) => raw.length === 5, 'the missed blocks');
    expect(slotsOf(recorder)).toEqual([101, 102, 103, 104, 105]);
    expect(recorder.failures).toEqual([]);
    follower.close();
  });

  it('fails its subscribers when no node sends slots before the timeout', async () => {
    const { follower, slots, nth } = start({ gapTimeoutMs: 0 });
    const recorder = new Recorder();
    const opening = follower.open(blocks, recorder);
    (await nth(1)).accept();
    await opening;
    slots.requests[0]!.listener.onError(new Failure('UPSTREAM_UNAVAILABLE'));
    (await nth(2)).refuse();
    await recorder.until(({ failures }) => failures.length > 0, 'the failure');
    expect(recorder.failures).toMatchObject([{ code: 'UPSTREAM_UNAVAILABLE' }]);
  });
});

async function startStream(limits: Partial<FeedLimits> = {}) {
  const chain = new ScriptedChain(100, limits);
  const stream = new BlockStream({ ...optionsOf(chain), commitment: 'confirmed' });
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
    const { chain, advance, emittedSlots } = await startStream();
    chain.lacking.add(102);
    for (let tip = 101; tip < 130; tip++) await advance(tip);
    expect(emittedSlots()).toEqual([101]);
    expect(warnings(chain)).toHaveLength(1);
    chain.lacking.clear();
    await advance(130);
    expect(emittedSlots()).toEqual(Array.from({ length: 30 }, (_, at) => 101 + at));
  });

  it.each([101, 102])('waits for a node that has every block: %i missing', async (missing) => {
    const { chain, advance, emittedSlots } = await startStream();
    chain.unlisted.add(missing);
    await advance(103);
    expect(emittedSlots()).toEqual(missing === 101 ? [] : [101]);
    chain.unlisted.clear();
    await advance(104);
    expect(emittedSlots()).toEqual([101, 102, 103, 104]);
  });

  it('fails its subscribers when it is too far behind', async () => {
    const { chain, advance, recorder, stream } = await startStream({ followerLagMaxSlots: 20 });
    chain.lacking.add(101);
    await advance(120);
    expect(recorder.failures).toEqual([]);
    await advance(121);
    expect(recorder.failures).toMatchObject([{ code: 'UPSTREAM_UNAVAILABLE', facts: { network: 'devnet' } }]);
    expect(stream.isEmpty).toBe(true);
  });
});
