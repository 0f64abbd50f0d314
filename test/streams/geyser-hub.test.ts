import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { commitments } from '../../src/protocol/commitment.ts';
import type { RawBlockMeta, RawUpdate } from '../../src/protocol/geyser/raw-update.ts';
import type { SubscribeRequest } from '../../src/protocol/geyser/subscribe-request.ts';
import { slot } from '../../src/solana/units.ts';
import { GeyserHub } from '../../src/streams/geyser/geyser-hub.ts';
import type { GeyserHubOptions } from '../../src/streams/geyser/geyser-hub-options.ts';
import {
  decodeGetBlockHeightResponse,
  decodeGetLatestBlockhashResponse,
  decodeGetSlotResponse,
  decodeIsBlockhashValidResponse,
  decodeSubscribeReplayInfoResponse,
  encodeCommitmentRequest,
  encodeIsBlockhashValidRequest,
} from '../geyser/unary-client.ts';
import { account, blockhashAt, entry, meta, processedSlot, RecordingSink, status } from './raw-slots.ts';

const all: SubscribeRequest = {
  accounts: new Map([['a', {}]]),
  slots: new Map([['s', { interslotUpdates: true }]]),
  blocks: new Map([['b', { includeAccounts: true }]]),
  blocksMeta: ['m'],
  entry: ['e'],
};

function opened(options: Partial<GeyserHubOptions> = {}) {
  // The time slice is long enough for blocks to be emitted as soon as they arrive.
  const hub = new GeyserHub({ blocksTimeSliceMs: 60_000, ...options });
  const emit = (...updates: readonly RawUpdate[]): void => {
    for (const update of updates) hub.onUpdate(update);
  };
  return { hub, emit };
}

async function connect(hub: GeyserHub, request: SubscribeRequest): Promise<RecordingSink> {
  const sink = new RecordingSink();
  await hub.open('Subscribe', sink).request(request);
  return sink;
}

/** Yields to the event loop, so that a replay can complete. */
async function turns(count = 20): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

describe('a stream at processed', () => {
  it('receives every write at once, then the block, its meta and its status', async () => {
    const { hub, emit } = opened();
    const sink = await connect(hub, all);
    emit(status(10, 'createdBank'), account(10, 50, 1));
    expect(sink.take()).toEqual(['s createdBank 10', 'a account 10 v1']);
    emit(account(10, 51, 2), account(10, 50, 3), entry(10, 0), meta(10), status(10, 'processed'));
    expect(sink.take()).toEqual([
      'a account 10 v2',
      'a account 10 v3',
      'e entry 10',
      'b block 10 of v2,v3',
      'm meta 10',
      's processed 10',
    ]);
    emit(status(10, 'confirmed'), status(10, 'finalized'));
    expect(sink.take()).toEqual(['s confirmed 10', 's finalized 10']);
  });

  it('receives nothing twice when a status is repeated', async () => {
    const { hub, emit } = opened();
    const sink = await connect(hub, all);
    emit(...processedSlot(10), status(10, 'confirmed'));
    sink.take();
    emit(status(10, 'processed'), status(10, 'confirmed'), meta(10));
    expect(sink.take()).toEqual([]);
  });
});

describe('a stream at confirmed', () => {
  it('receives the last write of each account when the slot is confirmed, and statuses at once', async () => {
    const { hub, emit } = opened();
    const sink = await connect(hub, { ...all, commitment: 'confirmed' });
    emit(...processedSlot(10));
    expect(sink.take()).toEqual(['s createdBank 10', 's processed 10']);
    emit(status(10, 'confirmed'));
    expect(sink.take()).toEqual([
      'a account 10 v2',
      'a account 10 v3',
      'e entry 10',
      'b block 10 of v2,v3',
      'm meta 10',
      's confirmed 10',
    ]);
  });

  it('receives the ancestors of a confirmed slot in order, and never a fork', async () => {
    const { hub, emit } = opened();
    const sink = await connect(hub, { ...all, accounts: new Map(), entry: [], commitment: 'confirmed' });
    emit(...processedSlot(10), ...processedSlot(11, 10), ...processedSlot(12, 10));
    sink.take();
    emit(status(12, 'confirmed', 10));
    expect(sink.take()).toEqual([
      'b block 10 of v2,v3',
      'm meta 10',
      's confirmed 10',
      'b block 12 of v2,v3',
      'm meta 12',
      's confirmed 12',
    ]);
  });

  it('receives every commitment of a slot that becomes finalized directly', async () => {
    const { hub, emit } = opened();
    const sink = await connect(hub, { slots: new Map([['s', {}]]), commitment: 'finalized' });
    emit(status(10, 'createdBank'), meta(10), status(10, 'finalized'));
    expect(sink.take()).toEqual(['s processed 10', 's confirmed 10', 's finalized 10']);
  });
});

describe('a stream with from_slot', () => {
  const past = (emit: (...updates: readonly RawUpdate[]) => void): void => {
    for (let at = 10; at <= 13; at++) emit(...processedSlot(at));
    emit(status(11, 'confirmed'));
  };

  it('receives complete slots from that slot on, then live updates, and nothing twice', async () => {
    const { hub, emit } = opened();
    past(emit);
    emit(status(14, 'createdBank'), account(14, 50, 1));
    const sink = await connect(hub, { ...all, blocks: new Map(), entry: [], fromSlot: slot(12) });
    await turns();
    emit(account(14, 51, 2), meta(14), status(14, 'processed'), status(12, 'confirmed'));
    expect(sink.take()).toEqual([
      ...[12, 13].flatMap((at) => [
        `a account ${at} v1`,
        `a account ${at} v2`,
        `a account ${at} v3`,
        `m meta ${at}`,
        `s processed ${at}`,
      ]),
      's createdBank 14',
      'a account 14 v1',
      'a account 14 v2',
      'm meta 14',
      's processed 14',
      's confirmed 12',
    ]);
  });

  it('receives only confirmed slots at confirmed, and others once they are confirmed', async () => {
    const { hub, emit } = opened();
    past(emit);
    const sink = await connect(hub, { accounts: all.accounts!, commitment: 'confirmed', fromSlot: slot(10) });
    await turns();
    expect(sink.take()).toEqual(['a account 10 v2', 'a account 10 v3', 'a account 11 v2', 'a account 11 v3']);
    emit(status(12, 'confirmed'));
    expect(sink.take()).toEqual(['a account 12 v2', 'a account 12 v3']);
  });

  it('is replayed no faster than its client reads', async () => {
    const { hub, emit } = opened({ replayAheadBytes: 100, replayPauseMs: 1 });
    past(emit);
    const sink = new RecordingSink();
    sink.waitingBytes = 101;
    sink.takes = false;
    await hub.open('Subscribe', sink).request({ blocksMeta: ['m'], fromSlot: slot(10) });
    await turns();
    expect(sink.take()).toEqual([]);
    for (const at of [10, 11, 12, 13]) {
      sink.waitingBytes = 0;
      await expect.poll(() => sink.received).toEqual([`m meta ${at}`]);
      await turns();
      expect(sink.take()).toHaveLength(1);
    }
  });

  it('is replayed in turn with others, up to the limit of concurrent replays', async () => {
    const { hub, emit } = opened({ replaysMax: 2, replayPauseMs: 60_000, replayAheadBytes: 100 });
    past(emit);
    const order: string[] = [];
    const begin = (name: string, waitingBytes = 0) => {
      const sink = new RecordingSink();
      sink.waitingBytes = waitingBytes;
      sink.push = () => {
        order.push(name);
      };
      const stream = hub.open('Subscribe', sink);
      return stream.request({ blocksMeta: ['m'], fromSlot: slot(10) });
    };
    // A stream that does not read does not count towards the limit. Requests emit nothing synchronously.
    await Promise.all([begin('stuck', 101), ...['a', 'b', 'c'].map((name) => begin(name))]);
    expect(order).toEqual([]);
    await turns(30);
    expect(order.join('')).toMatch(/^(ab){4}c{4}$/);
  });

  it('applies a new request to the rest of its replay', async () => {
    const { hub, emit } = opened({ replayAheadBytes: 100, replayPauseMs: 1 });
    past(emit);
    const sink = new RecordingSink();
    sink.waitingBytes = 101;
    const stream = hub.open('Subscribe', sink);
    sink.takes = false;
    sink.waitingBytes = 0;
    await stream.request({ blocksMeta: ['m'], fromSlot: slot(10) });
    await turns();
    sink.takes = true;
    await stream.request({ blocksMeta: ['other'], slots: new Map([['s', {}]]) });
    emit(...processedSlot(14));
    sink.waitingBytes = 0;
    await expect.poll(() => sink.received).toContain('s processed 14');
    emit(status(12, 'confirmed'));
    expect(sink.take().filter((line) => !line.endsWith(' 11'))).toEqual([
      'm meta 10',
      ...[12, 13, 14].flatMap((at) => [`other meta ${at}`, `s processed ${at}`]),
      's confirmed 12',
    ]);
  });

  it('receives nothing more when closed during an update', async () => {
    const { hub, emit } = opened();
    emit(...processedSlot(10), status(10, 'confirmed'));
    const sink = new RecordingSink();
    const stream = hub.open('Subscribe', sink);
    const push = sink.push.bind(sink);
    sink.push = (names, tail) => {
      push(names, tail);
      if (sink.received.at(-1) === 's createdBank 11') stream.close();
    };
    await stream.request({ ...all, fromSlot: slot(10) });
    emit(status(11, 'createdBank'), account(11, 50, 1));
    await turns();
    expect(sink.received).toContain('s createdBank 11');
    sink.take();
    emit(account(11, 50, 2));
    expect(sink.take()).toEqual([]);
  });

  it('ends when its next slot is evicted while its client does not read', async () => {
    const { hub, emit } = opened({
      replaySlots: 4,
      waitingSlotsMax: 4,
      replayAheadBytes: 100,
      replayPauseMs: 1,
    });
    past(emit);
    const sink = new RecordingSink();
    sink.waitingBytes = 101;
    await hub.open('Subscribe', sink).request({ blocksMeta: ['m'], fromSlot: slot(10) });
    for (let at = 14; at <= 30; at++) emit(...processedSlot(at), status(at, 'finalized'));
    sink.waitingBytes = 0;
    await expect.poll(() => sink.behind).not.toBeNull();
    expect(sink.behind).toMatchObject({ bytes: 0, slots: expect.any(Number) });
    expect(sink.behind?.slots).toBeGreaterThan(0);
    expect([sink.ended, hub.size]).toEqual([null, 0]);
  });

  it.each([
    ['for an evicted slot', {}, 9, 'OUT_OF_RANGE', 'broadcast from 9 is not available, last available: 10'],
    ['for any slot when none is stored', { replaySlots: 0 }, 12, 'INTERNAL', 'from_slot is not supported'],
  ])('is rejected %s', async (_what, options, from, code, message) => {
    const { hub, emit } = opened(options);
    past(emit);
    await expect(connect(hub, { ...all, fromSlot: slot(from) })).rejects.toMatchObject({ code, message });
  });

  it('can start before the stored slots if the source replays them; other streams do not receive these', async () => {
    const { hub, emit } = opened();
    past(emit);
    const other = await connect(hub, all);
    hub.setSource({
      subscribe: (_request, from) => {
        if (from !== null) {
          emit(
            ...processedSlot(8, 7),
            status(8, 'confirmed', 7),
            ...processedSlot(9, 8),
            status(9, 'confirmed', 8),
          );
        }
        return { ready: Promise.resolve(), end: () => {} };
      },
    });
    const sink = await connect(hub, { blocksMeta: ['m'], fromSlot: slot(8) });
    await turns();
    expect(sink.take()).toEqual([8, 9, 10, 11, 12, 13].map((at) => `m meta ${at}`));
    expect(other.take()).toEqual([]);
  });

  it('is rejected when its source is not ready in time', async () => {
    const { hub, emit } = opened({ replayReadyTimeoutMs: 1 });
    past(emit);
    hub.setSource({ subscribe: () => ({ ready: new Promise(() => {}), end: () => {} }) });
    await expect(connect(hub, { ...all, fromSlot: slot(11) })).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
    });
  });
});

describe('a hub', () => {
  it('continues after slots that are far ahead', async () => {
    const { hub, emit } = opened();
    const sink = await connect(hub, { blocksMeta: ['m'], commitment: 'confirmed' });
    const absurd = 2 ** 40;
    emit(status(absurd, 'firstShredReceived'), ...processedSlot(10), status(absurd + 9, 'createdBank'));
    for (let at = 11; at <= 700; at++) emit(...processedSlot(at), status(at - 1, 'confirmed'));
    expect(sink.take()).toEqual(Array.from({ length: 690 }, (_, nth) => `m meta ${10 + nth}`));
  });

  it('stores a bounded number of slots', () => {
    const { hub, emit } = opened({ replaySlots: 4, waitingSlotsMax: 4 });
    emit(...processedSlot(10));
    for (let at = 1_000; at < 3_000; at++) emit(status(at, 'createdBank'), account(at, 50, 1));
    emit(...processedSlot(11));
    expect(decodeSubscribeReplayInfoResponse(hub.unary('SubscribeReplayInfo', new Uint8Array()))).toBe(10n);
    expect(decodeGetSlotResponse(hub.unary('GetSlot', encodeCommitmentRequest({})))).toBe(11n);
  });

  it('ends streams at finalized when slots wait too long, not counting forks', async () => {
    const { hub, emit } = opened({ replaySlots: 10, waitingSlotsMax: 20 });
    const sink = await connect(hub, { blocksMeta: ['m'], commitment: 'finalized' });
    emit(
      ...processedSlot(10),
      ...processedSlot(11, 10),
      ...processedSlot(12, 10),
      status(12, 'finalized', 10),
    );
    for (let at = 13; at <= 31; at++) emit(...processedSlot(at), status(at, 'finalized'));
    expect(sink.ended).toBeNull();
    for (let at = 32; at <= 60; at++) emit(...processedSlot(at));
    expect(sink.ended).toMatchObject({
      code: 'DATA_LOSS',
      message: expect.stringContaining('slots 32 to 32'),
    });
  });

  it('ends only the streams that are affected by lost updates', async () => {
    const { hub, emit } = opened();
    const [metas, accounts] = [
      await connect(hub, { blocksMeta: ['m'] }),
      await connect(hub, { accounts: new Map([['a', {}]]) }),
    ];
    hub.onLost(slot(10), slot(12), new Set(['account']));
    expect(accounts.ended).toEqual({
      code: 'DATA_LOSS',
      message: 'updates of slots 10 to 12 were lost; subscribe again',
    });
    expect(metas.ended).toBeNull();
    emit(...processedSlot(13));
    expect([metas.take(), accounts.take()]).toEqual([['m meta 13'], []]);
  });

  it.each([
    ['chain', 'DATA_LOSS'],
    ['source', 'UNAVAILABLE'],
  ] as const)(
    'ends every stream on a reset of the %s, and then accepts slots far behind earlier ones',
    async (why, code) => {
      const { hub, emit } = opened();
      const before = await connect(hub, all);
      emit(...processedSlot(5_000), status(5_000, 'finalized'));
      hub.onReset(why);
      expect(before.ended?.code).toBe(code);
      expect(hub.size).toBe(0);
      const sink = await connect(hub, { blocksMeta: ['m'], commitment: 'finalized' });
      emit(...processedSlot(13), status(13, 'finalized'));
      expect(sink.take()).toEqual(['m meta 13']);
      const answer = hub.unary('GetSlot', encodeCommitmentRequest({ commitment: 'finalized' }));
      expect(decodeGetSlotResponse(answer)).toBe(13n);
    },
  );

  it('limits its stored bytes, and ends streams that wait for an evicted slot', async () => {
    const { hub, emit } = opened({ replayMaxBytes: 4_000 });
    const [now, later] = [
      await connect(hub, { blocksMeta: ['m'] }),
      await connect(hub, { blocksMeta: ['m'], commitment: 'confirmed' }),
    ];
    for (let at = 10; at < 60; at++) emit(...processedSlot(at));
    expect(now.ended).toBeNull();
    expect(later.ended?.code).toBe('DATA_LOSS');
    const info = decodeSubscribeReplayInfoResponse(hub.unary('SubscribeReplayInfo', new Uint8Array()));
    expect(info).toBeGreaterThan(40n);
  });

  it('stores a slot for replays until it is too far behind', () => {
    const { hub, emit } = opened({ replaySlots: 5 });
    for (let at = 10; at <= 30; at++) emit(...processedSlot(at), status(at, 'finalized'));
    expect(decodeSubscribeReplayInfoResponse(hub.unary('SubscribeReplayInfo', new Uint8Array()))).toBe(26n);
  });
});

describe('a unary call about the chain', () => {
  const at = (commitment: 'processed' | 'confirmed' | 'finalized') => encodeCommitmentRequest({ commitment });

  it('is answered from the updates so far', () => {
    const { hub, emit } = opened();
    for (let slot = 10; slot <= 13; slot++) emit(...processedSlot(slot));
    emit(status(12, 'confirmed'), status(11, 'finalized'));
    const slots = (['processed', 'confirmed', 'finalized'] as const).map((commitment) =>
      decodeGetSlotResponse(hub.unary('GetSlot', at(commitment))),
    );
    expect(slots).toEqual([13n, 12n, 11n]);
    expect(decodeGetBlockHeightResponse(hub.unary('GetBlockHeight', at('confirmed')))).toBe(12n);
    expect(decodeGetLatestBlockhashResponse(hub.unary('GetLatestBlockhash', at('processed')))).toEqual({
      slot: 13n,
      blockhash: blockhashAt(13),
      lastValidBlockHeight: 163n,
    });
  });

  it('fails with a reason while updates are missing', () => {
    const { hub, emit } = opened();
    expect(() => hub.unary('GetBlockHeight', at('processed'))).toThrow('block is not available yet');
    for (let slot = 500; slot <= 502; slot++) emit(...processedSlot(slot));
    const unknown = encodeIsBlockhashValidRequest({ blockhash: blockhashAt(7), commitment: 'processed' });
    expect(() => hub.unary('IsBlockhashValid', unknown)).toThrow('startup');
  });

  it('ignores the block of a slot version that died', () => {
    const { hub, emit } = opened();
    for (let slot = 1; slot <= 200; slot++) emit(...processedSlot(slot));
    const again = { ...(meta(201) as RawBlockMeta), blockhash: blockhashAt(250) };
    emit(...processedSlot(201), status(201, 'dead'), status(201, 'createdBank'), again);
    emit(status(201, 'processed'), status(201, 'confirmed'));
    const isValid = (slot: number): boolean => {
      const request = encodeIsBlockhashValidRequest({
        blockhash: blockhashAt(slot),
        commitment: 'processed',
      });
      return decodeIsBlockhashValidResponse(hub.unary('IsBlockhashValid', request)).valid;
    };
    expect([isValid(201), isValid(250)]).toEqual([false, true]);
    const latest = decodeGetLatestBlockhashResponse(hub.unary('GetLatestBlockhash', at('processed')));
    expect(latest.blockhash).toBe(blockhashAt(250));
  });

  it('reports whether a blockhash is valid at each commitment', () => {
    const { hub, emit } = opened();
    const isValid = (slot: number, commitment: 'processed' | 'confirmed') => {
      const request = encodeIsBlockhashValidRequest({ blockhash: blockhashAt(slot), commitment });
      return decodeIsBlockhashValidResponse(hub.unary('IsBlockhashValid', request)).valid;
    };
    for (let slot = 1; slot <= 152; slot++) emit(...processedSlot(slot));
    emit(status(151, 'confirmed'));
    expect(isValid(1, 'processed')).toBe(false);
    expect(isValid(2, 'processed')).toBe(true);
    expect(isValid(152, 'processed')).toBe(true);
    expect(isValid(1, 'confirmed')).toBe(true);
    expect(isValid(152, 'confirmed')).toBe(false);
    expect(isValid(200, 'confirmed')).toBe(false);
  });
});

async function connectAtEach() {
  const { hub, emit } = opened();
  const request = { accounts: all.accounts!, blocks: all.blocks! };
  const at = commitments.map((commitment) => connect(hub, { ...request, commitment }));
  return { sinks: await Promise.all(at), emit };
}

describe('an account', () => {
  it('loaded from the startup snapshot of a node is never emitted, alone or in a block', async () => {
    const { sinks, emit } = await connectAtEach();
    const loaded = account(10, 60, 9);
    emit(status(10, 'createdBank'), { ...loaded, isStartup: true } as RawUpdate, account(10, 50, 1));
    emit(meta(10), status(10, 'processed'), status(10, 'confirmed'), status(10, 'finalized'));
    for (const sink of sinks) expect(sink.take()).toEqual(['a account 10 v1', 'b block 10 of v1']);
  });

  it('is emitted on confirmation with its highest write version, in any order of arrival', async () => {
    const { sinks, emit } = await connectAtEach();
    emit(status(10, 'createdBank'), account(10, 50, 9), account(10, 50, 5), meta(10));
    emit(status(10, 'processed'), status(10, 'confirmed'), status(10, 'finalized'));
    const [processed, ...later] = sinks.map((sink) => sink.take());
    expect(processed).toEqual(['a account 10 v9', 'a account 10 v5', 'b block 10 of v9']);
    for (const received of later) expect(received).toEqual(['a account 10 v9', 'b block 10 of v9']);
  });

  it('of a dead version of a slot is not emitted at confirmed or finalized', async () => {
    const { sinks, emit } = await connectAtEach();
    emit(status(10, 'createdBank'), account(10, 60, 7), meta(10, 8), status(10, 'dead'));
    emit(...processedSlot(10), status(10, 'confirmed'), status(10, 'finalized'));
    const [processed, ...later] = sinks.map((sink) => sink.take());
    expect(processed).toEqual([
      'a account 10 v7',
      ...['v1', 'v2', 'v3'].map((version) => `a account 10 ${version}`),
      'b block 10 of v2,v3',
    ]);
    for (const received of later) {
      expect(received).toEqual(['a account 10 v2', 'a account 10 v3', 'b block 10 of v2,v3']);
    }
  });
});
