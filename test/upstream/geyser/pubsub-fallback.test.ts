import { afterEach, describe, expect, it } from 'vitest';
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

async function start(fromSlot: number | null = null, options: Partial<GeyserSourceOptions> = {}) {
  const stage = new PubsubFallbackStage(options);
  stages.push(stage);
  expect(stage.source.isGeyser).toBe(false);
  for (const slot of [98, 99, 100]) stage.blocks.set(slot, blockOf(slot, 9));
  const filterSet = stage.source.subscribe(
    { accounts: new Map([['a', { account: [address] }]]), transactions: new Map([['t', {}]]) },
    fromSlot === null ? null : slotOf(fromSlot),
  );
  await stage.until(() => ['slot', 'root', address].every((name) => stage.open.has(name)));
  stage.slot(101);
  return { stage, filterSet };
}

describe('a network without Geyser', () => {
  it('emits blocks with their accounts on confirmation, and later their finalization', async () => {
    const { stage, filterSet } = await start();
    await filterSet.ready;
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
      // The write arrived after its block.
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

  it('emits older blocks for a filter set with from_slot', async () => {
    const { stage, filterSet } = await start(99);
    await filterSet.ready;
    stage.blocks.set(101, blockOf(101, 1));
    stage.slot(102);
    await stage.until(() => stage.emitted.includes('101 confirmed'));
    expect(stage.emitted.filter((line) => line.endsWith('processed'))).toEqual([
      '99 processed',
      '100 processed',
      '101 processed',
    ]);
  });

  it('resubscribes to slots after failures, and keeps no state of failed subscriptions', async () => {
    const { stage, filterSet } = await start();
    await filterSet.ready;
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
    stage.source.subscribe({ blocksMeta: ['m'] }, null);
    expect([...stage.open.keys()]).toEqual([]);
  });

  it('resubscribes to accounts after a failure, and unsubscribes when no filter set remains', async () => {
    const { stage, filterSet } = await start();
    await filterSet.ready;
    const listener = stage.open.get(address)!;
    stage.open.delete(address);
    listener.onError(new Failure('UPSTREAM_UNAVAILABLE'));
    await stage.until(() => stage.open.has(address));
    filterSet.end();
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
const request = (...filters: readonly AccountsFilter[]): SubscribeRequest => ({
  accounts: new Map(filters.map((filter, at) => [`f${at}`, filter])),
});
const watched = ({ open }: PubsubFallbackStage) =>
  [...open.keys()].filter((name) => name !== 'slot' && name !== 'root');

describe('the accounts of a network without Geyser', () => {
  it.each<[string, SubscribeRequest]>([
    ['all accounts', request({})],
    ['accounts of a cuckoo filter', request({ cuckooAccounts: cuckoo })],
    ['accounts by data size', request({ filters: [{ kind: 'dataSize', bytes: 165n }] })],
    ['accounts of whole blocks', { blocks: new Map([['b', { includeAccounts: true }]]) }],
  ])('are emitted if named, even when another stream requests %s', async (_what, wide) => {
    const { stage, filterSet } = await start();
    await filterSet.ready;
    const other = stage.source.subscribe(wide, null);
    await other.ready;
    stage.source.subscribe(request({ account: [keyOf(2)], owner: [keyOf(3)] }, { owner: [keyOf(4)] }), null);
    expect(watched(stage)).toEqual([address, keyOf(2), `of ${keyOf(4)}`]);
    expect(stage.ended).toEqual([]);
    const line = expect.stringContaining('PubSub fallback emits only accounts named');
    expect(stage.log).toEqual([line]);
    // At most one warning per minute.
    stage.source.subscribe(wide, null);
    expect(stage.log).toEqual([line]);
    other.end();
    expect(stage.ended).toEqual([]);
  });

  it('are rejected beyond the limit; existing streams continue', async () => {
    const { stage, filterSet } = await start(null, { addressesMax: 2 });
    await filterSet.ready;
    const naming = (...numbers: number[]) => request({ account: numbers.map(keyOf) });
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

describe('accounts that replace others', () => {
  const naming = (...numbers: number[]) => request({ account: numbers.map(keyOf) });

  it('are subscribed even without capacity for both', async () => {
    const { stage, filterSet } = await start(null, { addressesMax: 3 });
    await filterSet.ready;
    const before = stage.source.subscribe(naming(2, 3), null);
    await stage.source.subscribe(naming(3, 4), null, before).ready;
    before.end();
    expect(watched(stage)).toEqual([address, keyOf(3), keyOf(4)]);
  });
});

describe('accounts that wait for their block', () => {
  it('are dropped for the oldest slot beyond the limit, and reported as lost with its block', async () => {
    const { stage, filterSet } = await start(null, { waitingAccountsMax: 3 });
    await filterSet.ready;
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
});
