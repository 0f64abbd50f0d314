import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { commitments } from '../../src/protocol/commitment.ts';
import type { RawBlockMeta, RawUpdate } from '../../src/protocol/geyser/raw-update.ts';
import type { SubscribeRequest } from '../../src/protocol/geyser/subscribe-request.ts';
import { slot } from '../../src/solana/units.ts';
import { GeyserHub } from '../../src/streams/geyser/geyser-hub.ts';
import type { GeyserHubOptions } from '../../src/streams/geyser/hub-stream.ts';
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
  // Blocks are told in the turn in which they come, however long that takes here.
  const hub = new GeyserHub({ blocksTimeSliceMs: 60_000, ...options });
  const tell = (...updates: readonly RawUpdate[]): void => {
    for (const update of updates) hub.onUpdate(update);
  };
  return { hub, tell };
}

async function hearing(hub: GeyserHub, request: SubscribeRequest): Promise<RecordingSink> {
  const sink = new RecordingSink();
  await hub.open('Subscribe', sink).request(request);
  return sink;
}

/** Lets a replay go on until it is over. */
async function turns(count = 20): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

describe('a stream at processed', () => {
  it('hears every write as it comes, then block, meta and status', async () => {
    const { hub, tell } = opened();
    const sink = await hearing(hub, all);
    tell(status(10, 'createdBank'), account(10, 50, 1));
    expect(sink.take()).toEqual(['s createdBank 10', 'a account 10 v1']);
    tell(account(10, 51, 2), account(10, 50, 3), entry(10, 0), meta(10), status(10, 'processed'));
    expect(sink.take()).toEqual([
      'a account 10 v2',
      'a account 10 v3',
      'e entry 10',
      'b block 10 of v2,v3',
      'm meta 10',
      's processed 10',
    ]);
    tell(status(10, 'confirmed'), status(10, 'finalized'));
    expect(sink.take()).toEqual(['s confirmed 10', 's finalized 10']);
  });

  it('hears nothing twice when a status comes twice', async () => {
    const { hub, tell } = opened();
    const sink = await hearing(hub, all);
    tell(...processedSlot(10), status(10, 'confirmed'));
    sink.take();
    tell(status(10, 'processed'), status(10, 'confirmed'), meta(10));
    expect(sink.take()).toEqual([]);
  });
});

describe('a stream at confirmed', () => {
  it('hears the last write of each account when the slot is confirmed, and the statuses at once', async () => {
    const { hub, tell } = opened();
    const sink = await hearing(hub, { ...all, commitment: 'confirmed' });
    tell(...processedSlot(10));
    expect(sink.take()).toEqual(['s createdBank 10', 's processed 10']);
    tell(status(10, 'confirmed'));
    expect(sink.take()).toEqual([
      'a account 10 v2',
      'a account 10 v3',
      'e entry 10',
      'b block 10 of v2,v3',
      'm meta 10',
      's confirmed 10',
    ]);
  });

  it('hears of slots before one that is confirmed in turn, and never of a fork', async () => {
    const { hub, tell } = opened();
    const sink = await hearing(hub, { ...all, accounts: new Map(), entry: [], commitment: 'confirmed' });
    tell(...processedSlot(10), ...processedSlot(11, 10), ...processedSlot(12, 10));
    sink.take();
    tell(status(12, 'confirmed', 10));
    expect(sink.take()).toEqual([
      'b block 10 of v2,v3',
      'm meta 10',
      's confirmed 10',
      'b block 12 of v2,v3',
      'm meta 12',
      's confirmed 12',
    ]);
  });

  it('is told each level on the way of a slot that is finalized at once', async () => {
    const { hub, tell } = opened();
    const sink = await hearing(hub, { slots: new Map([['s', {}]]), commitment: 'finalized' });
    tell(status(10, 'createdBank'), meta(10), status(10, 'finalized'));
    expect(sink.take()).toEqual(['s processed 10', 's confirmed 10', 's finalized 10']);
  });
});

describe('a stream that begins in the past', () => {
  const past = (tell: (...updates: readonly RawUpdate[]) => void): void => {
    for (let at = 10; at <= 13; at++) tell(...processedSlot(at));
    tell(status(11, 'confirmed'));
  };

  it('hears the slots from there on, whole, then what comes, and nothing twice', async () => {
    const { hub, tell } = opened();
    past(tell);
    tell(status(14, 'createdBank'), account(14, 50, 1));
    const sink = await hearing(hub, { ...all, blocks: new Map(), entry: [], fromSlot: slot(12) });
    await turns();
    tell(account(14, 51, 2), meta(14), status(14, 'processed'), status(12, 'confirmed'));
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

  it('hears at confirmed only what was confirmed, and the rest when it is', async () => {
    const { hub, tell } = opened();
    past(tell);
    const sink = await hearing(hub, { accounts: all.accounts!, commitment: 'confirmed', fromSlot: slot(10) });
    await turns();
    expect(sink.take()).toEqual(['a account 10 v2', 'a account 10 v3', 'a account 11 v2', 'a account 11 v3']);
    tell(status(12, 'confirmed'));
    expect(sink.take()).toEqual(['a account 12 v2', 'a account 12 v3']);
  });

  it('is told no faster than its client reads', async () => {
    const { hub, tell } = opened({ replayAheadBytes: 100, replayPauseMs: 1 });
    past(tell);
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

  it('shares turns with the others, of which so many are told at a time', async () => {
    const { hub, tell } = opened({ replaysMax: 2, replayPauseMs: 60_000, replayAheadBytes: 100 });
    past(tell);
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
    // Whoever does not read takes no place, and nothing is told in the turn of the request.
    await Promise.all([begin('stuck', 101), ...['a', 'b', 'c'].map((name) => begin(name))]);
    expect(order).toEqual([]);
    await turns(30);
    expect(order.join('')).toMatch(/^(ab){4}c{4}$/);
  });

  it('is told the rest of the past by what it asks for meanwhile', async () => {
    const { hub, tell } = opened({ replayAheadBytes: 100, replayPauseMs: 1 });
    past(tell);
    const sink = new RecordingSink();
    sink.waitingBytes = 101;
    const stream = hub.open('Subscribe', sink);
    sink.takes = false;
    sink.waitingBytes = 0;
    await stream.request({ blocksMeta: ['m'], fromSlot: slot(10) });
    await turns();
    sink.takes = true;
    await stream.request({ blocksMeta: ['other'], slots: new Map([['s', {}]]) });
    tell(...processedSlot(14));
    sink.waitingBytes = 0;
    await expect.poll(() => sink.received).toContain('s processed 14');
    tell(status(12, 'confirmed'));
    expect(sink.take().filter((line) => !line.endsWith(' 11'))).toEqual([
      'm meta 10',
      ...[12, 13, 14].flatMap((at) => [`other meta ${at}`, `s processed ${at}`]),
      's confirmed 12',
    ]);
  });

  it('is told nothing more when it was closed by what it heard', async () => {
    const { hub, tell } = opened();
    tell(...processedSlot(10), status(10, 'confirmed'));
    const sink = new RecordingSink();
    const stream = hub.open('Subscribe', sink);
    const push = sink.push.bind(sink);
    sink.push = (names, tail) => {
      push(names, tail);
      if (sink.received.at(-1) === 's createdBank 11') stream.close();
    };
    await stream.request({ ...all, fromSlot: slot(10) });
    tell(status(11, 'createdBank'), account(11, 50, 1));
    await turns();
    expect(sink.received).toContain('s createdBank 11');
    sink.take();
    tell(account(11, 50, 2));
    expect(sink.take()).toEqual([]);
  });

  it('ends when what it was to hear next is let go while its client does not read', async () => {
    const { hub, tell } = opened({
      replaySlots: 4,
      waitingSlotsMax: 4,
      replayAheadBytes: 100,
      replayPauseMs: 1,
    });
    past(tell);
    const sink = new RecordingSink();
    sink.waitingBytes = 101;
    await hub.open('Subscribe', sink).request({ blocksMeta: ['m'], fromSlot: slot(10) });
    for (let at = 14; at <= 30; at++) tell(...processedSlot(at), status(at, 'finalized'));
    sink.waitingBytes = 0;
    await expect.poll(() => sink.behind).not.toBeNull();
    expect(sink.behind).toMatchObject({ bytes: 0, slots: expect.any(Number) });
    expect(sink.behind?.slots).toBeGreaterThan(0);
    expect([sink.ended, hub.size]).toEqual([null, 0]);
  });

  it.each([
    [
      'a slot that is held no more',
      {},
      9,
      'OUT_OF_RANGE',
      'broadcast from 9 is not available, last available: 10',
    ],
    ['any slot, where none is held', { replaySlots: 0 }, 12, 'INTERNAL', 'from_slot is not supported'],
  ])('is refused %s', async (_what, options, from, code, message) => {
    const { hub, tell } = opened(options);
    past(tell);
    await expect(hearing(hub, { ...all, fromSlot: slot(from) })).rejects.toMatchObject({ code, message });
  });

  it('may begin before what was told when its source tells it again, unheard by the others', async () => {
    const { hub, tell } = opened();
    past(tell);
    const other = await hearing(hub, all);
    hub.setSource({
      subscribe: (_request, from) => {
        if (from !== null) {
          tell(
            ...processedSlot(8, 7),
            status(8, 'confirmed', 7),
            ...processedSlot(9, 8),
            status(9, 'confirmed', 8),
          );
        }
        return { ready: Promise.resolve(), end: () => {} };
      },
    });
    const sink = await hearing(hub, { blocksMeta: ['m'], fromSlot: slot(8) });
    await turns();
    expect(sink.take()).toEqual([8, 9, 10, 11, 12, 13].map((at) => `m meta ${at}`));
    expect(other.take()).toEqual([]);
  });

  it('is refused, and holds up no later request, when its source does not get ready in time', async () => {
    const { hub, tell } = opened({ replayReadyTimeoutMs: 1 });
    past(tell);
    hub.setSource({ subscribe: () => ({ ready: new Promise(() => {}), end: () => {} }) });
    await expect(hearing(hub, { ...all, fromSlot: slot(11) })).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
    });
  });
});

describe('a hub', () => {
  it('goes on where one slot far ahead was told of, before and after the first', async () => {
    const { hub, tell } = opened();
    const sink = await hearing(hub, { blocksMeta: ['m'], commitment: 'confirmed' });
    const absurd = 2 ** 40;
    tell(status(absurd, 'firstShredReceived'), ...processedSlot(10), status(absurd + 9, 'createdBank'));
    for (let at = 11; at <= 700; at++) tell(...processedSlot(at), status(at - 1, 'confirmed'));
    expect(sink.take()).toEqual(Array.from({ length: 690 }, (_, nth) => `m meta ${10 + nth}`));
  });

  it('holds a bounded number of slots, whatever is told of', () => {
    const { hub, tell } = opened({ replaySlots: 4, waitingSlotsMax: 4 });
    tell(...processedSlot(10));
    for (let at = 1_000; at < 3_000; at++) tell(status(at, 'createdBank'), account(at, 50, 1));
    tell(...processedSlot(11));
    expect(decodeSubscribeReplayInfoResponse(hub.unary('SubscribeReplayInfo', new Uint8Array()))).toBe(10n);
    expect(decodeGetSlotResponse(hub.unary('GetSlot', encodeCommitmentRequest({})))).toBe(11n);
  });

  it('tells those at finalized when slots wait too long, and not of slots that the chain left', async () => {
    const { hub, tell } = opened({ replaySlots: 10, waitingSlotsMax: 20 });
    const sink = await hearing(hub, { blocksMeta: ['m'], commitment: 'finalized' });
    tell(
      ...processedSlot(10),
      ...processedSlot(11, 10),
      ...processedSlot(12, 10),
      status(12, 'finalized', 10),
    );
    for (let at = 13; at <= 31; at++) tell(...processedSlot(at), status(at, 'finalized'));
    expect(sink.ended).toBeNull();
    for (let at = 32; at <= 60; at++) tell(...processedSlot(at));
    expect(sink.ended).toMatchObject({
      code: 'DATA_LOSS',
      message: expect.stringContaining('slots 32 to 32'),
    });
  });

  it('ends the streams that a loss concerns, and no other', async () => {
    const { hub, tell } = opened();
    const [metas, accounts] = [
      await hearing(hub, { blocksMeta: ['m'] }),
      await hearing(hub, { accounts: new Map([['a', {}]]) }),
    ];
    hub.onLost(slot(10), slot(12), new Set(['account']));
    expect(accounts.ended).toEqual({
      code: 'DATA_LOSS',
      message: 'updates of slots 10 to 12 were lost; subscribe again',
    });
    expect(metas.ended).toBeNull();
    tell(...processedSlot(13));
    expect([metas.take(), accounts.take()]).toEqual([['m meta 13'], []]);
  });

  it.each([
    ['chain', 'DATA_LOSS'],
    ['source', 'UNAVAILABLE'],
  ] as const)(
    'ends every stream where the %s starts over, and tells slots far behind those before',
    async (why, code) => {
      const { hub, tell } = opened();
      const before = await hearing(hub, all);
      tell(...processedSlot(5_000), status(5_000, 'finalized'));
      hub.onReset(why);
      expect(before.ended?.code).toBe(code);
      expect(hub.size).toBe(0);
      const sink = await hearing(hub, { blocksMeta: ['m'], commitment: 'finalized' });
      tell(...processedSlot(13), status(13, 'finalized'));
      expect(sink.take()).toEqual(['m meta 13']);
      const answer = hub.unary('GetSlot', encodeCommitmentRequest({ commitment: 'finalized' }));
      expect(decodeGetSlotResponse(answer)).toBe(13n);
    },
  );

  it('holds no more bytes than it may, and tells those that wait for what it let go', async () => {
    const { hub, tell } = opened({ replayMaxBytes: 4_000 });
    const [now, later] = [
      await hearing(hub, { blocksMeta: ['m'] }),
      await hearing(hub, { blocksMeta: ['m'], commitment: 'confirmed' }),
    ];
    for (let at = 10; at < 60; at++) tell(...processedSlot(at));
    expect(now.ended).toBeNull();
    expect(later.ended?.code).toBe('DATA_LOSS');
    const info = decodeSubscribeReplayInfoResponse(hub.unary('SubscribeReplayInfo', new Uint8Array()));
    expect(info).toBeGreaterThan(40n);
  });

  it('keeps a slot for those who begin in the past until it is that far behind', () => {
    const { hub, tell } = opened({ replaySlots: 5 });
    for (let at = 10; at <= 30; at++) tell(...processedSlot(at), status(at, 'finalized'));
    expect(decodeSubscribeReplayInfoResponse(hub.unary('SubscribeReplayInfo', new Uint8Array()))).toBe(26n);
  });
});

describe('a call that asks about the chain', () => {
  const at = (commitment: 'processed' | 'confirmed' | 'finalized') => encodeCommitmentRequest({ commitment });

  it('is answered from what was told', () => {
    const { hub, tell } = opened();
    for (let slot = 10; slot <= 13; slot++) tell(...processedSlot(slot));
    tell(status(12, 'confirmed'), status(11, 'finalized'));
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

  it('says what it does not know yet', () => {
    const { hub, tell } = opened();
    expect(() => hub.unary('GetBlockHeight', at('processed'))).toThrow('block is not available yet');
    for (let slot = 500; slot <= 502; slot++) tell(...processedSlot(slot));
    const unknown = encodeIsBlockhashValidRequest({ blockhash: blockhashAt(7), commitment: 'processed' });
    expect(() => hub.unary('IsBlockhashValid', unknown)).toThrow('startup');
  });

  it('forgets the block of a version that did not live', () => {
    const { hub, tell } = opened();
    for (let slot = 1; slot <= 200; slot++) tell(...processedSlot(slot));
    const again = { ...(meta(201) as RawBlockMeta), blockhash: blockhashAt(250) };
    tell(...processedSlot(201), status(201, 'dead'), status(201, 'createdBank'), again);
    tell(status(201, 'processed'), status(201, 'confirmed'));
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

  it('knows for how long a blockhash may be used', () => {
    const { hub, tell } = opened();
    const isValid = (slot: number, commitment: 'processed' | 'confirmed') => {
      const request = encodeIsBlockhashValidRequest({ blockhash: blockhashAt(slot), commitment });
      return decodeIsBlockhashValidResponse(hub.unary('IsBlockhashValid', request)).valid;
    };
    for (let slot = 1; slot <= 152; slot++) tell(...processedSlot(slot));
    tell(status(151, 'confirmed'));
    expect([isValid(1, 'processed'), isValid(2, 'processed'), isValid(152, 'processed')]).toEqual([
      false,
      true,
      true,
    ]);
    expect([isValid(1, 'confirmed'), isValid(152, 'confirmed'), isValid(200, 'confirmed')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

/** A stream of accounts and blocks at each commitment. */
async function hearingAtEach() {
  const { hub, tell } = opened();
  const request = { accounts: all.accounts!, blocks: all.blocks! };
  const at = commitments.map((commitment) => hearing(hub, { ...request, commitment }));
  return { sinks: await Promise.all(at), tell };
}

describe('an account', () => {
  it('that a node loaded from its snapshot is told at no commitment, alone or in a block', async () => {
    const { sinks, tell } = await hearingAtEach();
    const loaded = account(10, 60, 9);
    tell(status(10, 'createdBank'), { ...loaded, isStartup: true } as RawUpdate, account(10, 50, 1));
    tell(meta(10), status(10, 'processed'), status(10, 'confirmed'), status(10, 'finalized'));
    for (const sink of sinks) expect(sink.take()).toEqual(['a account 10 v1', 'b block 10 of v1']);
  });

  it('is told as its node wrote it last when it is confirmed, in whatever order the writes come', async () => {
    const { sinks, tell } = await hearingAtEach();
    tell(status(10, 'createdBank'), account(10, 50, 9), account(10, 50, 5), meta(10));
    tell(status(10, 'processed'), status(10, 'confirmed'), status(10, 'finalized'));
    const [processed, ...later] = sinks.map((sink) => sink.take());
    expect(processed).toEqual(['a account 10 v9', 'a account 10 v5', 'b block 10 of v9']);
    for (const heard of later) expect(heard).toEqual(['a account 10 v9', 'b block 10 of v9']);
  });

  it('of a version of the slot that died is told to nobody who waits for a commitment', async () => {
    const { sinks, tell } = await hearingAtEach();
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
