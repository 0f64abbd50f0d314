import { describe, expect, it } from 'vitest';
import { Failure } from '../../protocol/errors.ts';
import type { KeyId } from '../auth/key-record.ts';
import { type LiveConnection, LiveConnections } from './live-connections.ts';

const connection = (more: Partial<LiveConnection> = {}): LiveConnection => ({
  kind: 'websocket',
  rpc: null,
  key: { id: '7hQ2mKpZ' as KeyId, customerId: 'house' },
  address: '192.0.2.7',
  subscriptions: 1,
  messages: 0,
  bytes: 0,
  queuedMessages: 2,
  queuedBytes: 300,
  describe: () => ['slotSubscribe'],
  end: () => {},
  ...more,
});

describe('live connections', () => {
  it('are listed while open, the busiest if there are too many', () => {
    const all = new LiveConnections();
    const busy = connection({ bytes: 1_000, messages: 10, address: 'busy' });
    all.add(connection({ address: 'idle' }));
    const closed = all.add(busy);
    expect(all.snapshot(1).map(({ address, bytes }) => [address, bytes])).toEqual([['busy', 1_000]]);
    closed();
    expect(all.snapshot(9).map(({ address }) => address)).toEqual(['idle']);
    expect(all.totalOf('websocket')).toEqual({ open: 1, queuedMessages: 2, queuedBytes: 300 });
    expect(all.totalOf('grpc').open).toBe(0);
  });

  it('are closed by id with a failure', () => {
    const ended: string[] = [];
    const all = new LiveConnections();
    all.add(connection({ end: ({ code }) => void ended.push(code) }));
    const { id } = all.snapshot(1)[0]!;
    expect(all.close('nobody', new Failure('CLOSED_BY_OWNER'))).toBe(false);
    expect(all.close(id, new Failure('CLOSED_BY_OWNER'))).toBe(true);
    expect(ended).toEqual(['CLOSED_BY_OWNER']);
  });

  it('are counted by customer and minute if closed for lagging', () => {
    const all = new LiveConnections();
    all.recordLagged('a', 60_000);
    all.recordLagged('a', 61_000);
    all.recordLagged('b', 119_999);
    all.recordLagged('a', 120_000);
    expect(all.laggedMinutes()).toEqual([
      { customerId: 'a', minute: 1, connections: 2 },
      { customerId: 'b', minute: 1, connections: 1 },
      { customerId: 'a', minute: 2, connections: 1 },
    ]);
    expect(all.lagged).toBe(4);
  });

  it('store lag counts of an hour, for a limited number of customers', () => {
    const all = new LiveConnections();
    for (let minute = 1; minute <= 100; minute++) all.recordLagged('a', minute * 60_000);
    expect(all.laggedMinutes().map(({ minute }) => minute)).toEqual(
      Array.from({ length: 60 }, (_, nth) => 41 + nth),
    );
    for (let nth = 0; nth < 11_000; nth++) all.recordLagged(`customer ${nth}`, 101 * 60_000);
    expect(all.laggedMinutes()).toHaveLength(10_000);
    expect(all.laggedMinutes().every(({ minute }) => minute === 101)).toBe(true);
  });
});
