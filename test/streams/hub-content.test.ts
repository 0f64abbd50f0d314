import { describe, expect, it } from 'vitest';
import { commitments } from '../../src/protocol/commitment.ts';
import type { RawUpdate } from '../../src/protocol/geyser/raw-update.ts';
import type { SubscribeRequest } from '../../src/protocol/geyser/subscribe-request.ts';
import { GeyserHub } from '../../src/streams/geyser/geyser-hub.ts';
import { account, meta, processedSlot, RecordingSink, status } from './raw-slots.ts';

/** What of a slot counts at each commitment. */
const request: SubscribeRequest = {
  accounts: new Map([['a', {}]]),
  blocks: new Map([['b', { includeAccounts: true }]]),
};

async function opened() {
  const hub = new GeyserHub({ blocksTimeSliceMs: 60_000 });
  const sinks = await Promise.all(
    commitments.map(async (commitment) => {
      const sink = new RecordingSink();
      await hub.open('Subscribe', sink).request({ ...request, commitment });
      return sink;
    }),
  );
  const tell = (...updates: readonly RawUpdate[]): void => {
    for (const update of updates) hub.onUpdate(update);
  };
  return { hub, sinks, tell };
}

describe('an account', () => {
  it('that a node loaded from its snapshot is told at no commitment, alone or in a block', async () => {
    const { sinks, tell } = await opened();
    const loaded = account(10, 60, 9);
    tell(status(10, 'createdBank'), { ...loaded, isStartup: true } as RawUpdate, account(10, 50, 1));
    tell(meta(10), status(10, 'processed'), status(10, 'confirmed'), status(10, 'finalized'));
    for (const sink of sinks) expect(sink.take()).toEqual(['a account 10 v1', 'b block 10 of v1']);
  });

  it('is told as its node wrote it last when it is confirmed, in whatever order the writes come', async () => {
    const { sinks, tell } = await opened();
    tell(status(10, 'createdBank'), account(10, 50, 9), account(10, 50, 5), meta(10));
    tell(status(10, 'processed'), status(10, 'confirmed'), status(10, 'finalized'));
    const [processed, ...later] = sinks.map((sink) => sink.take());
    expect(processed).toEqual(['a account 10 v9', 'a account 10 v5', 'b block 10 of v9']);
    for (const heard of later) expect(heard).toEqual(['a account 10 v9', 'b block 10 of v9']);
  });

  it('of a version of the slot that died is told to nobody who waits for a commitment', async () => {
    const { sinks, tell } = await opened();
    tell(status(10, 'createdBank'), account(10, 60, 7), meta(10, 8), status(10, 'dead'));
    tell(...processedSlot(10), status(10, 'confirmed'), status(10, 'finalized'));
    const [processed, ...later] = sinks.map((sink) => sink.take());
    expect(processed).toEqual([
      'a account 10 v7',
      ...['v1', 'v2', 'v3'].map((version) => `a account 10 ${version}`),
      'b block 10 of v2,v3',
    ]);
    for (const heard of later) {
      expect(heard).toEqual(['a account 10 v2', 'a account 10 v3', 'b block 10 of v2,v3']);
    }
  });
});
