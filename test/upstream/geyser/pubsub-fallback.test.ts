import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Failure } from '../../../src/protocol/errors.ts';
import type {
  AccountsFilter,
  CuckooFilterMessage,
  SubscribeRequest,
} from '../../../src/protocol/geyser/subscribe-request.ts';
import { slot as slotOf } from '../../../src/solana/units.ts';
import type { GeyserSourceOptions } from '../../../src/upstream/geyser/geyser-source-options.ts';
import { address, keyOf, PubsubFallbackStage } from './pubsub-fallback-stage.ts';
import { blockOf } from './source-rig.ts';

const stages: PubsubFallbackStage[] = [];
afterEach(() => {
  for (const stage of stages.splice(0)) stage.source.close();
});

/** A stage whose blocks are followed from 100 on. */
async function start(fromSlot: number | null = null, options: Partial<GeyserSourceOptions> = {}) {
  const stage = new PubsubFallbackStage(options);
  stages.push(stage);
  expect(stage.source.isGeyser).toBe(false);
  for (const slot of [98, 99, 100]) stage.blocks.set(slot, blockOf(slot, 9));
  const wish = stage.source.subscribe(
    { accounts: new Map([['a', { account: [address] }]]), transactions: new Map([['t', {}]]) },
    fromSlot === null ? null : slotOf(fromSlot),
  );
  await stage.until(() => ['slot', 'root', address].every((name) => stage.open.has(name)));
  stage.slot(101);
  return { stage, wish };
}

describe('a network without Geyser', () => {
  it('is told block by block when it is confirmed, with its accounts, and later its roots', async () => {
    const { stage, wish } = await start();
    await wish.ready;
    stage.account(101, 5);
    stage.account(101, 6);
    stage.blocks.set(101, blockOf(101, 1, 2));
    stage.slot(102);
    await stage.until(() => stage.emitted.includes('101 confirmed'));
    stage.account(101, 7);
    stage.blocks.set(102, blockOf(102, 3));
    stage.slot(103);
    await stage.until(() => stage.emitted.includes('102 confirmed'));
    stage.open.get('root')!.onNotification(Buffer.from('102'), false);
    expect(stage.emitted).toEqual([
      '101 createdBank',
      '101 account 5',
      '101 account 6',
      '101 transfer 1',
      '101 transfer 2',
      '101 meta',
      '101 processed',
      '101 confirmed',
      // It came too late.
      '101 account 7',
      '102 createdBank',
      '102 transfer 3',
      '102 meta',
      '102 processed',
      '102 confirmed',
      '101 finalized',
      '102 finalized',
    ]);
    expect(stage.lost).toEqual([]);
  });

  it('tells older blocks when a wish names a slot', async () => {
    const { stage, wish } = await start(99);
    await wish.ready;
    stage.blocks.set(101, blockOf(101, 1));
    stage.slot(102);
    await stage.until(() => stage.emitted.includes('101 confirmed'));
    expect(stage.emitted.filter((line) => line.endsWith('processed'))).toEqual([
      '99 processed',
      '100 processed',
      '101 processed',
    ]);
  });

  it('goes on where it was when old slots are wanted again and again while no block comes', async () => {
    const stallMs = 5_000;
    const { stage, wish } = await start(null, { stallMs, fillSlotsMax: 1_000 });
    await wish.ready;
    for (let slot = 101; slot <= 700; slot++) stage.blocks.set(slot, blockOf(slot));
    stage.slot(700);
    await stage.until(() => stage.emitted.includes('700 confirmed'));
    const clock = vi.spyOn(performance, 'now');
    onTestFinished(() => clock.mockRestore());
    const now = performance.now();
    for (const waits of [1, 2]) {
      clock.mockReturnValue(now + waits * 2 * stallMs);
      await stage.source.subscribe({ transactions: new Map([['t', {}]]) }, slotOf(1)).ready;
    }
    for (let slot = 701; slot <= 710; slot++) stage.blocks.set(slot, blockOf(slot));
    stage.slot(710);
    await stage.until(() => stage.emitted.includes('710 confirmed'));
    expect(stage.emitted.filter((line) => line.startsWith('start over'))).toEqual([]);
    expect(stage.emitted.filter((line) => /^7(0[1-9]|10) processed$/.test(line))).toHaveLength(10);
  });

  it('goes on with slots after their subscription has failed, and keeps nothing of those that did', async () => {
    const { stage, wish } = await start();
    await wish.ready;
    for (let times = 0; times < 3; times++) {
      const listener = stage.open.get('slot')!;
      stage.open.delete('slot');
      listener.onError(new Failure('UPSTREAM_UNAVAILABLE'));
      await stage.until(() => stage.open.has('slot'));
    }
    stage.blocks.set(101, blockOf(101, 1));
    stage.slot(102);
    await stage.until(() => stage.emitted.includes('101 confirmed'));
    stage.source.close();
    expect(stage.ended.toSorted()).toEqual([address, 'root', 'slot'].toSorted());
  });

  it('hears of accounts again after their subscription has failed, and no more when nobody wants them', async () => {
    const { stage, wish } = await start();
    await wish.ready;
    const listener = stage.open.get(address)!;
    stage.open.delete(address);
    listener.onError(new Failure('UPSTREAM_UNAVAILABLE'));
    await stage.until(() => stage.open.has(address));
    wish.end();
    await stage.until(() => !stage.open.has(address));
  });
});

const cuckoo: CuckooFilterMessage = {
  data: new Uint8Array(8),
  bucketCount: 1,
  entriesPerBucket: 4,
  fingerprintBits: 16,
  hashSeed: 5n,
  hashAlgorithm: 0,
};
const wanting = (...filters: readonly AccountsFilter[]): SubscribeRequest => ({
  accounts: new Map(filters.map((filter, at) => [`f${at}`, filter])),
});
const watched = ({ open }: PubsubFallbackStage) =>
  [...open.keys()].filter((name) => name !== 'slot' && name !== 'root');

describe('the accounts of a network without Geyser', () => {
  it.each<[string, SubscribeRequest]>([
    ['all there are', wanting({})],
    ['those of a cuckoo filter', wanting({ cuckooAccounts: cuckoo })],
    ['those of some data', wanting({ filters: [{ kind: 'dataSize', bytes: 165n }] })],
    ['those of whole blocks', { blocks: new Map([['b', { includeAccounts: true }]]) }],
  ])('are told to who names them also when another wants %s', async (_what, wide) => {
    const { stage, wish } = await start();
    await wish.ready;
    const other = stage.source.subscribe(wide, null);
    await other.ready;
    stage.source.subscribe(wanting({ account: [keyOf(2)], owner: [keyOf(3)] }, { owner: [keyOf(4)] }), null);
    expect(watched(stage)).toEqual([address, keyOf(2), `of ${keyOf(4)}`]);
    expect(stage.ended).toEqual([]);
    const line = expect.stringContaining('PubSub fallback emits only accounts named');
    expect(stage.log).toEqual([line]);
    // A warning a minute.
    stage.source.subscribe(wide, null);
    expect(stage.log).toEqual([line]);
    other.end();
    expect(stage.ended).toEqual([]);
  });

  it('are watched by their owners where a list is not all that may be wanted', async () => {
    const { stage } = await start();
    const both = { account: [keyOf(2)], cuckooAccounts: cuckoo };
    stage.source.subscribe(wanting({ ...both, owner: [keyOf(3)] }), null);
    expect(watched(stage)).toEqual([address, `of ${keyOf(3)}`]);
    expect(stage.log).toEqual([]);
    stage.source.subscribe(wanting(both), null);
    expect(watched(stage)).toEqual([address, `of ${keyOf(3)}`, keyOf(2)]);
    expect(stage.log).toHaveLength(1);
  });

  it('are let go when the last who named them has', async () => {
    const { stage, wish } = await start();
    await wish.ready;
    const other = stage.source.subscribe(wanting({ account: [address, keyOf(2)] }), null);
    await other.ready;
    wish.end();
    expect(watched(stage)).toEqual([address, keyOf(2)]);
    other.end();
    expect(watched(stage)).toEqual([]);
  });

  it('are refused to who names more than may be watched, and told to the others', async () => {
    const { stage, wish } = await start(null, { addressesMax: 2 });
    await wish.ready;
    const naming = (...numbers: number[]) => wanting({ account: numbers.map(keyOf) });
    const refused = (request: SubscribeRequest) => () => stage.source.subscribe(request, null);
    expect(refused(naming(2, 3))).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
    expect(refused(naming(1, 2, 3))).toThrow(expect.objectContaining({ code: 'FILTER_LIMIT' }));
    expect(stage.log).toEqual([expect.stringContaining('PubSub account subscription limit reached')]);
    expect(watched(stage)).toEqual([address]);
    stage.source.subscribe(naming(1, 2), null).end();
    await stage.source.subscribe(naming(3), null).ready;
    expect(watched(stage)).toEqual([address, keyOf(3)]);
    stage.account(101, 5);
    stage.blocks.set(101, blockOf(101, 1));
    stage.slot(102);
    await stage.until(() => stage.emitted.includes('101 confirmed'));
    expect(stage.emitted).toContain('101 account 5');
  });
});

describe('accounts that are named in place of others', () => {
  const naming = (...numbers: number[]) => wanting({ account: numbers.map(keyOf) });

  it('are watched where there would be no room for both, and those are let go', async () => {
    const { stage, wish } = await start(null, { addressesMax: 3 });
    await wish.ready;
    const before = stage.source.subscribe(naming(2, 3), null);
    await stage.source.subscribe(naming(3, 4), null, before).ready;
    before.end();
    expect(watched(stage)).toEqual([address, keyOf(3), keyOf(4)]);
  });

  it('are refused where another still names those, and both are told on', async () => {
    const { stage, wish } = await start(null, { addressesMax: 3 });
    await wish.ready;
    const before = stage.source.subscribe(naming(2, 3), null);
    stage.source.subscribe(naming(2), null);
    const instead = () => stage.source.subscribe(naming(4, 5), null, before);
    expect(instead).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
    expect(watched(stage)).toEqual([address, keyOf(2), keyOf(3)]);
  });

  it('are counted in full where those were of a watch that is over', async () => {
    const { stage, wish } = await start(null, { addressesMax: 2 });
    await wish.ready;
    const before = stage.source.subscribe(naming(2), null);
    before.end();
    stage.source.subscribe(naming(2), null);
    const instead = () => stage.source.subscribe(naming(3), null, before);
    expect(instead).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  });
});

describe('accounts that wait for their block', () => {
  it('are lost of the slot that waits for longest when they are too many, and said to be with it', async () => {
    const { stage, wish } = await start(null, { waitingAccountsMax: 3 });
    await wish.ready;
    for (const slot of [101, 101, 102, 102, 101]) stage.account(slot, slot);
    expect(stage.lost).toEqual([]);
    expect(stage.log).toEqual([expect.stringContaining('Pending account limit reached')]);
    for (const slot of [101, 102]) stage.blocks.set(slot, blockOf(slot, 1));
    stage.slot(103);
    await stage.until(() => stage.emitted.includes('102 confirmed'));
    expect(stage.lost).toEqual(['101-101 account']);
    expect(stage.emitted.filter((line) => line.includes('account'))).toEqual([
      '102 account 102',
      '102 account 102',
    ]);
  });

  it('are missed by nobody when the block never comes', async () => {
    const { stage, wish } = await start(null, { waitingAccountsMax: 1 });
    await wish.ready;
    stage.account(101, 5);
    stage.account(101, 6);
    stage.blocks.set(102, { ...blockOf(102, 1), parentSlot: slotOf(100) });
    stage.slot(103);
    await stage.until(() => stage.emitted.includes('102 confirmed'));
    expect(stage.lost).toEqual([]);
  });

  it('say what is missing at once where the slots of which some are would be too many to remember', async () => {
    const { stage, wish } = await start(null, { waitingAccountsMax: 1, slotsMax: 2 });
    await wish.ready;
    for (const slot of [101, 102, 103, 104]) stage.account(slot, 5);
    expect(stage.lost).toEqual(['101-101 account']);
    expect(stage.log).toHaveLength(1);
  });
});
