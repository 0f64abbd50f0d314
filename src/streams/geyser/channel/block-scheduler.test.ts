import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { key } from '../../../../test/streams/ledger-script.ts';
import { accountUpdate, blockUpdate, entryUpdate } from '../../../../test/streams/random-updates.ts';
import type { SubscribeRequest } from '../../../protocol/geyser/subscribe-request.ts';
import type { GrpcStatus } from '../../../protocol/grpc/status.ts';
import { Channel } from '../channel.ts';
import { compileFilters } from '../filters/compile.ts';
import type { GeyserSink, StreamBacklog } from '../geyser-sink.ts';
import { BlockScheduler, type BlockSchedulerLimits } from './block-scheduler.ts';

class Listing implements GeyserSink {
  readonly received: string[] = [];
  readonly tails: Uint8Array[] = [];
  ended: GrpcStatus | null = null;
  backlog: StreamBacklog | null = null;
  receivedBefore: number | null = null;

  push(names: Uint8Array, tail: Uint8Array): void {
    this.received.push(Buffer.from(names.subarray(2)).toString());
    this.tails.push(tail);
  }

  end(status: GrpcStatus): void {
    this.ended = status;
  }

  lag(backlog: StreamBacklog): void {
    this.backlog ??= backlog;
    this.receivedBefore ??= this.received.length;
  }
}

/** A request with distinct block filters and an entry filter. */
const distinctFilters = (count: number, first = 0): SubscribeRequest => ({
  blocks: new Map(
    Array.from({ length: count }, (_, nth) => [`b${nth}`, { accountInclude: [key(first + nth)] }]),
  ),
  entry: ['e'],
});

function stage(limits: Partial<BlockSchedulerLimits>, ...requests: readonly SubscribeRequest[]) {
  const turns = new BlockScheduler(limits);
  const channel = new Channel(turns);
  const sinks = requests.map(() => new Listing());
  const members = requests.map((request, nth) => {
    const member = channel.add(sinks[nth] as Listing);
    member.replace(compileFilters(request));
    return member;
  });
  return { turns, channel, sinks, members };
}

const block = () => blockUpdate({ accounts: [accountUpdate()] });
/** Sends one message of a block per turn. */
const oneEach = { blocksTimeSliceMs: 0 };

describe('blocks sent over several turns', () => {
  it('are delivered in order before later updates of their stream', async () => {
    const { channel, sinks } = stage(oneEach, distinctFilters(2), distinctFilters(3, 9), {
      blocks: new Map([['o', {}]]),
    });
    for (let nth = 0; nth < 2; nth++) {
      channel.emit(block());
      channel.emit(entryUpdate());
    }
    for (let count = 0; count < 20; count++) await turn();
    channel.emit(entryUpdate());
    expect(sinks.map(({ received }) => received.join(' '))).toEqual([
      'b0 b1 e b0 b1 e e',
      'b0 b1 b2 e b0 b1 b2 e e',
      'o o',
    ]);
  });

  it('are still delivered before updates for new filters, even from another channel', async () => {
    const { turns, channel, sinks, members } = stage(oneEach, distinctFilters(3));
    channel.emit(block());
    members[0]?.close();
    const other = new Channel(turns);
    other.add(sinks[0] as Listing).replace(compileFilters({ entry: ['later'] }));
    other.emit(entryUpdate());
    for (let count = 0; count < 5; count++) await turn();
    other.emit(entryUpdate());
    expect(sinks[0]?.received).toEqual(['b0', 'b1', 'b2', 'later', 'later']);
  });

  it('are not sent to a stream that ended', async () => {
    const { turns, channel, sinks } = stage(oneEach, distinctFilters(3), distinctFilters(3));
    channel.emit(block());
    channel.emit(entryUpdate());
    turns.drop(sinks[0] as Listing);
    for (let count = 0; count < 5; count++) await turn();
    expect(sinks.map(({ received }) => received)).toEqual([['b0'], ['b0', 'b1', 'b2', 'e']]);
  });

  it('end only the streams that exceed the limit of pending blocks', async () => {
    const few = { blocks: new Map([['o', {}]]) };
    const { channel, sinks } = stage({ ...oneEach, blocksWaitingMax: 3 }, distinctFilters(40), few);
    for (let count = 0; count < 6; count++) {
      channel.emit(block());
      await turn();
    }
    for (let count = 0; count < 20; count++) await turn();
    const { backlog, receivedBefore } = sinks[0] as Listing;
    expect(backlog).toEqual({ blocks: 4, messages: 4 * 40 - Number(receivedBefore), bytes: 0 });
    expect(sinks[1]).toMatchObject({ ended: null, backlog: null, received: Array(6).fill('o') });
  });

  it('end a stream whose backlog exceeds the limit', () => {
    const { channel, sinks } = stage({ ...oneEach, behindBlocksMaxMessages: 2 }, distinctFilters(3), {
      entry: ['x'],
    });
    channel.emit(block());
    for (let count = 0; count < 3; count++) channel.emit(entryUpdate());
    const [first, other] = sinks;
    const bytes = other?.tails.reduce((sum, tail) => sum + tail.length, 0) ?? 0;
    // Pending: two messages of the block and two entries after it, and the entry that exceeds the limit.
    expect(first?.backlog).toMatchObject({ blocks: 1, messages: 5 });
    expect(first?.backlog?.bytes).toBeGreaterThanOrEqual(bytes);
    expect(other).toMatchObject({ ended: null, backlog: null, received: ['x', 'x', 'x'] });
  });
});
