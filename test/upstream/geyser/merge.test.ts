import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { GeyserServer, type UpdateMessage } from '../feeds/geyser-server.ts';
import {
  account,
  accountIs,
  countsAre,
  endOf,
  entryIs,
  metaIs,
  signatureOf,
  slotIs,
  transactionIs,
  transfer,
  wholeSlot,
} from '../feeds/geyser-updates.ts';
import { FIRST_SLOT, LAST_SLOT, ScriptedChain, writtenAddress } from './scripted-chain.ts';
import { blockOf, SourceRig, sendOn, startSource } from './source-rig.ts';

const address = Keypair.fromSeed(new Uint8Array(32).fill(1)).address;
const UNAVAILABLE = 14;
const OUT_OF_RANGE = 11;
const all = { transactions: new Map([['t', {}]]) };
const accountsToo = { ...all, accounts: new Map([['a', {}]]) };
const tx = (slot: number, number: number) => transactionIs(slot, transfer(number), number);

/** Replays slots from a map; everything else is sent by the test. */
function replaysFrom(server: GeyserServer, slots: ReadonlyMap<number, readonly UpdateMessage[]>): void {
  server.onRequest = (request, stream) => {
    if (request.fromSlot === undefined) return;
    for (const [slot, updates] of slots) if (slot >= Number(request.fromSlot)) sendOn(stream, updates);
  };
}

function refusesReplay(server: GeyserServer): void {
  server.onRequest = (request, stream) => {
    if (request.fromSlot === undefined) return;
    stream.emit('error', {
      code: OUT_OF_RANGE,
      details: 'broadcast from 1 is not available, last available: 900',
    });
  };
}

describe('one Geyser server', () => {
  it('is forwarded from the first complete slot, with the account count in the block meta', async () => {
    const { rig, server } = await startSource(1);
    await rig.source.subscribe(all, null).ready;
    sendOn(server.stream, [tx(99, 1), ...endOf(99)]);
    sendOn(server.stream, [
      slotIs(100, 'firstShred'),
      slotIs(100, 'created'),
      tx(100, 2),
      entryIs(100, 0),
      tx(100, 2),
      accountIs(100, address, account(7), 1),
      countsAre(100, 12),
      metaIs(100),
      slotIs(100, 'processed'),
      tx(100, 3),
      slotIs(100, 'confirmed'),
      slotIs(100, 'finalized'),
      slotIs(101, 'created'),
    ]);
    await rig.untilEmitted('101 createdBank');
    expect(rig.emitted).toEqual([
      '100 createdBank',
      '100 transfer 2',
      '100 entry 0',
      '100 account 7',
      '100 meta 12',
      '100 processed',
      '100 confirmed',
      '100 finalized',
      '101 createdBank',
    ]);
    expect(rig.lost).toEqual([]);
  });

  it('without block counts completes slots on confirmation, and later slots at once', async () => {
    const { rig, server } = await startSource(1);
    const blockless = (slot: number) => [slotIs(slot, 'created'), metaIs(slot), slotIs(slot, 'processed')];
    for (const slot of [100, 101, 102]) sendOn(server.stream, blockless(slot));
    await rig.untilEmitted('102 createdBank');
    expect(rig.emitted.filter((line) => line.endsWith('processed'))).toEqual([]);
    for (const slot of [100, 101, 102]) sendOn(server.stream, [slotIs(slot, 'confirmed')]);
    await rig.untilEmitted('102 confirmed');
    expect(rig.of(100)).toEqual(['createdBank', 'meta', 'processed', 'confirmed']);
    sendOn(server.stream, blockless(103));
    await rig.untilEmitted('103 processed');
  });

  it('reports the commitment of slots before the first one, each once', async () => {
    const { rig, server } = await startSource(1);
    const earlier: string[] = [];
    const listener = { onUpdate: () => {}, onLost: () => {}, onReset: () => {} };
    rig.source.addListener({
      ...listener,
      onEarlierStatus: ({ slot, status }) => earlier.push(`${slot} ${status}`),
    });
    sendOn(server.stream, [slotIs(90, 'finalized'), slotIs(100, 'created'), slotIs(95, 'finalized')]);
    sendOn(server.stream, [slotIs(95, 'finalized'), slotIs(94, 'finalized'), slotIs(98, 'confirmed')]);
    sendOn(server.stream, [slotIs(97, 'processed'), slotIs(101, 'created')]);
    await rig.untilEmitted('101 createdBank');
    expect(earlier).toEqual(['95 finalized', '98 confirmed']);
    expect(rig.emitted).toEqual(['100 createdBank', '101 createdBank']);
  });

  it('has each of its pings answered, or its load balancer would end the stream', async () => {
    const { server, rig } = await startSource(1);
    sendOn(server.stream, wholeSlot(100));
    await rig.untilEmitted('100 processed');
    const before = server.pings.length;
    const answers = (): number[] => server.pings.slice(before).filter((id) => id === 1);
    for (let id = 1; id <= 3; id++) {
      sendOn(server.stream, [{ ping: {} }]);
      await server.until(() => answers().length === id);
    }
    expect(server.requests).toHaveLength(1);
  });

  it('has its stream ended only if it sends no new slots', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { rig, server } = await startSource(1, { stallMs: 1_000 });
    const hasEnded = () => rig.log.join().includes('no new slot for longer than stall_ms');
    for (let slot = 100; slot < 104; slot++) {
      server.slot(slot);
      await rig.untilEmitted(`${slot} processed`);
      vi.advanceTimersByTime(600);
      expect(hasEnded()).toBe(false);
    }
    vi.advanceTimersByTime(600);
    expect(hasEnded()).toBe(true);
  });

  it('causes no updates of a fork once a later slot is finalized', async () => {
    const { server, rig } = await startSource(1);
    await rig.source.subscribe({ transactions: new Map([['t', {}]]) }, null).ready;
    sendOn(server.stream, [...wholeSlot(100), slotIs(101, 'created'), tx(101, 1)]);
    sendOn(server.stream, [slotIs(102, 'created', 100), ...endOf(102, 100)]);
    sendOn(server.stream, [slotIs(102, 'finalized', 100)]);
    await rig.untilEmitted('102 finalized');
    sendOn(server.stream, [tx(101, 2), ...endOf(101, 100), ...wholeSlot(103)]);
    await rig.untilEmitted('103 processed');
    expect(rig.of(101)).toEqual(['createdBank', 'transfer 1']);
    expect(rig.of(102).at(-1)).toBe('finalized');
    expect(rig.lost).toEqual([]);
  });
});

describe('a server that dies in the middle of a slot', () => {
  it('sends the rest in a replay after reconnecting', async () => {
    const { rig, server } = await startSource(1);
    await rig.source.subscribe(accountsToo, null).ready;
    sendOn(server.stream, [...wholeSlot(100), slotIs(101, 'created'), tx(101, 1)]);
    await rig.untilEmitted('101 transfer 1');
    replaysFrom(
      server,
      new Map([
        [100, wholeSlot(100)],
        // A replay may omit bank creation.
        [101, [tx(101, 1), tx(101, 2), ...endOf(101)]],
        [102, wholeSlot(102, tx(102, 3))],
      ]),
    );
    server.fail(UNAVAILABLE, 'bye');
    await rig.untilEmitted('102 processed');
    expect(rig.of(101)).toEqual(['createdBank', 'transfer 1', 'transfer 2', 'meta', 'processed']);
    expect(rig.of(100)).toEqual(['createdBank', 'meta', 'processed']);
    expect(rig.lost).toEqual([]);
  });

  it('is backfilled from blocks if it has no replay; missing kinds are reported', async () => {
    const { rig, server } = await startSource(1);
    await rig.source.subscribe(accountsToo, null).ready;
    sendOn(server.stream, [...wholeSlot(100), slotIs(101, 'created'), tx(101, 1)]);
    await rig.untilEmitted('101 transfer 1');
    refusesReplay(server);
    for (const [slot, numbers] of [
      [101, [1, 2]],
      [102, [3]],
    ] as const)
      rig.blocks.set(slot, blockOf(slot, ...numbers));
    server.fail(UNAVAILABLE, 'bye');
    await server.until(() => server.requests.at(-1)?.fromSlot === undefined && server.streams.length > 2);
    sendOn(server.stream, [tx(102, 3), ...endOf(102), ...wholeSlot(103, tx(103, 4))]);
    await rig.untilEmitted('103 processed');
    expect(rig.of(101)).toEqual([
      'createdBank',
      'transfer 1',
      'transfer 2',
      'meta',
      'processed',
      'confirmed',
    ]);
    expect(rig.of(102)).toEqual(['createdBank', 'transfer 3', 'meta', 'processed', 'confirmed']);
    expect(rig.lost).toEqual(['101-101 account', '102-102 account']);
  });

  it('causes slots to be reported as lost if there are no blocks, and updates continue', async () => {
    const { rig, server } = await startSource(1, { fillTimeoutMs: 100 });
    sendOn(server.stream, wholeSlot(100));
    await rig.untilEmitted('100 processed');
    refusesReplay(server);
    server.fail(UNAVAILABLE, 'bye');
    await server.until(() => server.requests.at(-1)?.fromSlot === undefined && server.streams.length > 2);
    sendOn(server.stream, wholeSlot(105));
    await rig.untilEmitted('105 processed');
    expect(rig.lost).toEqual(['101-104 account blockMeta entry slot transaction']);
    expect(rig.emitted.filter((line) => /^10[1-4]/.test(line))).toEqual([]);
  });
});

const TRANSACTIONS = 4;

/** Reproducible random numbers. */
function* randoms(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Transfers that each write an account, and one account write outside transactions. */
function slotUpdates(slot: number, version: number): UpdateMessage[] {
  const content = Array.from({ length: TRANSACTIONS }, (_, at) => {
    const transaction = transfer(at + 1);
    const write = accountIs(slot, writtenAddress, account(at + 1), version + at, signatureOf(transaction));
    return [transactionIs(slot, transaction, at), write];
  });
  const own = accountIs(slot, writtenAddress, account(1_000), version + TRANSACTIONS);
  const before = slot - 3 >= FIRST_SLOT ? [slotIs(slot - 3, 'confirmed')] : [];
  return [slotIs(slot, 'created'), ...content.flat(), own, ...endOf(slot), ...before];
}

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

async function start(replays: readonly boolean[]) {
  const chains = await Promise.all(
    replays.map(async (each, at) => {
      const updates = (slot: number) => slotUpdates(slot, at * 10_000 + slot * 10);
      return new ScriptedChain(await GeyserServer.start(), updates, each);
    }),
  );
  const rig = new SourceRig(chains.map(({ server }) => server));
  opened.push(() => rig.source.close(), ...chains.map((chain) => () => chain.server.stop()));
  await Promise.all(chains.map(({ server }) => server.until(() => server.pings.length > 0)));
  return { rig, chains };
}

/** Runs the servers to the end in random steps; kills each in turn, and sometimes all. */
async function runWithDeaths(chains: readonly ScriptedChain[], seed: number): Promise<void> {
  const random = randoms(seed);
  for (let step = 1; chains.some(({ position, length }) => position < length); step++) {
    for (const chain of chains)
      chain.advance(chain.position + Math.floor((random.next().value as number) * 12));
    for (let turn = 0; turn < 8; turn++) await nextTurn();
    if (step % 9 !== 0) continue;
    const dying = step % 27 === 0 ? chains : [chains[(step / 9) % chains.length]!];
    for (const chain of dying) {
      while (chain.openStreams === 0) await nextTurn();
    }
    for (const chain of dying) chain.kill();
  }
}

/** Expects each update of every slot once, before `processed`, and slots in order. */
function expectComplete(rig: SourceRig, accounts: boolean, to: number): void {
  const first = Number(rig.emitted[0]?.split(' ')[0]);
  const processed = rig.emitted
    .filter((line) => line.endsWith(' processed'))
    .map((line) => Number(line.split(' ')[0]));
  expect(processed).toEqual(Array.from({ length: to - first + 1 }, (_, at) => first + at));
  const content = Array.from({ length: TRANSACTIONS }, (_, at) => [
    `transfer ${at + 1}`,
    ...(accounts ? [`account ${at + 1}`] : []),
  ]).flat();
  const expected = [...content, ...(accounts ? ['account 1000'] : [])].sort();
  for (let slot = first; slot <= to; slot++) {
    const lines = rig.of(slot).filter((line) => accounts || !line.startsWith('account'));
    expect(lines[0]).toBe('createdBank');
    const end = lines.indexOf('processed');
    expect(lines.slice(1, end - 1).sort()).toEqual(expected);
    expect(lines[end - 1]).toBe('meta');
    expect([[], ['confirmed']]).toContainEqual(lines.slice(end + 1));
  }
}

describe('Geyser servers that are killed repeatedly', () => {
  it.each([
    ['two that replay', [true, true], 1],
    ['two that replay, with another seed', [true, true], 2],
    ['two, of which one replays', [true, false], 3],
    ['one that replays', [true], 6],
  ])('lose and duplicate nothing: %s', async (_, replays, seed) => {
    const { rig, chains } = await start(replays);
    const all = { transactions: new Map([['t', {}]]), accounts: new Map([['a', {}]]) };
    await rig.source.subscribe(all, null).ready;
    await runWithDeaths(chains, seed);
    await rig.untilEmitted(`${LAST_SLOT} processed`);
    expectComplete(rig, true, LAST_SLOT);
    expect(rig.lost).toEqual([]);
  });

  it('lose no transaction without replay when blocks can be read', async () => {
    const { rig, chains } = await start([false, false]);
    for (let slot = FIRST_SLOT; slot <= LAST_SLOT; slot++) rig.blocks.set(slot, blockOf(slot, 1, 2, 3, 4));
    await rig.source.subscribe({ transactions: new Map([['t', {}]]) }, null).ready;
    await runWithDeaths(chains, 5);
    await rig.untilEmitted(`${FIRST_SLOT + 11} processed`);
    // Slots after a stream's last complete slot are unknown.
    const last = Number(
      rig.emitted
        .filter((line) => line.endsWith(' processed'))
        .at(-1)
        ?.split(' ')[0],
    );
    expectComplete(rig, false, last);
    expect(rig.lost).toEqual([]);
  });
});
