import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LedgerClock } from '../../src/bank/ledger-clock.ts';
import { Lab } from '../ledger/lab.ts';
import { type Call, callsOn } from './test-rig.ts';

const DAY_MS = 86_400_000;
const SLOTS_PER_EPOCH = 32;

describe('time travel', () => {
  let lab: Lab;
  let call: Call;
  beforeEach(async () => {
    lab = await Lab.open({ slotsPerEpoch: SLOTS_PER_EPOCH });
    call = callsOn(lab.node);
  });
  afterEach(() => lab.close());
  const seconds = () => Number(lab.node.bank('confirmed').clock.unixTimestamp);

  it('to a slot makes a block for each slot, each a slot later', async () => {
    const before = lab.node.clock.now();
    const info = await call('surfnet_timeTravel', { absoluteSlot: 100 });
    expect(info).toMatchObject({
      absoluteSlot: 100,
      epoch: 3,
      slotIndex: 4,
      slotsInEpoch: 32,
      blockHeight: 100,
    });
    expect(lab.node.clock.now() - before).toBeGreaterThanOrEqual(100 * 400);
    expect(lab.node.history.block(50n as never)).not.toBe(null);
  });

  it('to an epoch stops at its first slot', async () => {
    const info = await call('surfnet_timeTravel', { absoluteEpoch: 2 });
    expect(info).toMatchObject({ absoluteSlot: 2 * SLOTS_PER_EPOCH, epoch: 2, slotIndex: 0 });
  });

  it('to a timestamp moves the clock only, also after a restart', async () => {
    const target = Date.now() + 400 * DAY_MS;
    const { absoluteSlot } = await call('surfnet_timeTravel', { absoluteTimestamp: target });
    expect(absoluteSlot).toBe(3);
    const reached = seconds();
    expect(reached).toBeGreaterThanOrEqual(Math.floor(target / 1000));
    await lab.reopen();
    lab.freeze(2);
    expect(seconds() - reached).toBeLessThan(60);
    expect(seconds()).toBeGreaterThanOrEqual(reached);
  });

  it('goes an hour ahead without argument', async () => {
    const before = seconds();
    await call('surfnet_timeTravel');
    expect(seconds() - before).toBeGreaterThanOrEqual(3_600);
  });

  it.each([
    [{ absoluteSlot: 1 }, 'slot', 1],
    [{ absoluteEpoch: 0 }, 'epoch', 0],
    [{ absoluteTimestamp: 5 }, 'timestamp', 5],
  ])('does not go back: %j', async (config, what, target) => {
    await call('surfnet_timeTravel', { absoluteSlot: SLOTS_PER_EPOCH });
    expect(await call('surfnet_timeTravel', config)).toEqual({
      ...{ code: -32603, message: 'Internal error' },
      data: expect.stringContaining(`Cannot travel to past ${what}: target=${target}, current=`),
    });
  });

  it.each([
    [{ absoluteSlot: 1_000_001 }, 'at most 1000000'],
    [{ absoluteTimestamp: 8_640_000_000_000_001 }, 'milliseconds up to'],
    [{ absoluteYear: 1 }, 'unknown variant'],
  ])('rejects %j', async (config, text) => {
    expect(await call('surfnet_timeTravel', config)).toMatchObject({
      code: -32602,
      message: expect.stringContaining(text),
    });
  });
});

describe('a paused clock', () => {
  afterEach(() => vi.useRealTimers());

  it('makes blocks only by steps, each a slot later, until it is resumed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    const lab = await Lab.open({ manual: false });
    const call = callsOn(lab.node);
    const slot = () => Number(lab.node.bank('processed').slot);
    vi.advanceTimersByTime(800);
    const running = slot();
    expect(running).toBe(2);
    expect(await call('surfnet_pauseClock')).toMatchObject({ absoluteSlot: running });
    const pausedAt = lab.node.clock.now();
    vi.advanceTimersByTime(4_000);
    expect([slot(), lab.node.clock.now()]).toEqual([running, pausedAt]);
    expect(await call('solway_step', 3)).toMatchObject({ absoluteSlot: running + 3 });
    expect(lab.node.clock.now()).toBe(pausedAt + 3 * 400);
    await call('surfnet_resumeClock');
    expect(lab.node.clock.now()).toBe(pausedAt + 3 * 400);
    vi.advanceTimersByTime(400);
    expect(slot()).toBe(running + 4);
    await lab.close();
  });
});

describe('the clock of the ledger', () => {
  it('continues from its newest block if that is ahead of the system', () => {
    let system = 1_000;
    const clock = new LedgerClock(() => system, 5_000);
    system += 10;
    expect(clock.now()).toBe(5_010);
    expect(new LedgerClock(() => system, 500).now()).toBe(system);
  });
});
