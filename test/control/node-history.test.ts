import { expect, it } from 'vitest';
import { BUCKET_COUNT, bucketOf } from '../../src/base/histogram.ts';
import type { ApiContext } from '../../src/control/api/handler.ts';
import { nodeHistoryHandlers } from '../../src/control/api/handlers/node-history.ts';
import type { ApiServices } from '../../src/control/api/services.ts';
import type { Store } from '../../src/control/database/store.ts';
import { NodeHistory, type NodeSample, nodeHistoryOptions } from '../../src/control/nodes/node-history.ts';
import { describeOnBothStores } from './stores.ts';

const NOON = Date.UTC(2026, 10, 28, 12);
const MINUTE_MS = 60_000;

function nodeAt(name: string, more: Partial<NodeSample> = {}) {
  const latencies = new Uint32Array(BUCKET_COUNT);
  const attempts = { succeeded: 0, failed: 0, throttled: 0, latencies };
  const sample = {
    network: 'devnet',
    name,
    state: 'healthy',
    reason: null,
    lagSlots: 0,
    version: '4.2.1',
  } as const;
  return {
    attempts,
    respond(count: number, ms: number) {
      attempts.succeeded += count;
      const bucket = bucketOf(ms * 1_000);
      latencies[bucket] = (latencies[bucket] ?? 0) + count;
    },
    sample: { ...sample, ...more, attempts } as { -readonly [Key in keyof NodeSample]: NodeSample[Key] },
  };
}

describeOnBothStores('the history of nodes', (stores) => {
  const clock = { now: NOON };
  const gateway = (store: Store, id: string, samples: () => readonly NodeSample[]) =>
    new NodeHistory({ store, gateway: id, sample: samples }, nodeHistoryOptions, { now: () => clock.now });
  const read = (store: Store, node: string, from: number, to: number) =>
    nodeHistoryHandlers({ store, now: () => clock.now } as unknown as ApiServices)[
      'GET /upstreams/{node}/history'
    ]({ path: { node }, query: { from, to }, body: null }, {} as ApiContext);

  it('sums minutes and hours over gateways and restarts, with each share of the traffic', async () => {
    clock.now = NOON;
    const store = await stores.open();
    const [one, two] = [nodeAt('one'), nodeAt('two')];
    const nodes = [one, two];
    let history = gateway(store, 'a', () => nodes.map(({ sample }) => sample));
    one.respond(30, 10);
    two.respond(10, 10);
    history.record();
    await history.flush();
    // Writing the same totals again changes nothing.
    one.sample.lagSlots = 7;
    history.record();
    await history.flush();
    clock.now += MINUTE_MS;
    one.attempts.failed += 5;
    one.respond(5, 1_000);
    history.record();
    await history.flush();
    history = gateway(store, 'a-restarted', () => nodes.map(({ sample }) => sample));
    one.attempts.succeeded = 20;
    one.attempts.failed = 0;
    one.attempts.latencies.fill(0);
    history.record();
    // The node was replaced, so it counts from zero.
    one.attempts.succeeded = 3;
    history.record();
    await history.flush();
    const seen = await read(store, 'one', NOON, NOON + 2 * MINUTE_MS);
    expect(seen).toMatchObject({
      axis: { from: NOON, to: NOON + 2 * MINUTE_MS, stepMs: MINUTE_MS },
      ...{ network: 'devnet', version: '4.2.1', lagSlots: [7, 7], ready: [1, 1] },
      ...{ responses: [30, 28], failures: [0, 5], throttled: [0, 0] },
    });
    expect(seen.share[0]).toBe(0.75);
    expect(seen.p50[0]).toBeLessThan(13);
    expect(seen.p50[1]).toBeGreaterThan(900);
    const hours = await read(store, 'one', NOON, NOON + 7 * 60 * MINUTE_MS);
    expect([hours.axis.stepMs, hours.responses[0], hours.failures[0]]).toEqual([60 * MINUTE_MS, 58, 5]);
  });

  it('has an event for each change of state, and for a new version', async () => {
    clock.now = NOON;
    const store = await stores.open();
    const { sample } = nodeAt('one', { state: 'unknown', version: null });
    const history = gateway(store, 'a', () => [sample]);
    for (const change of [
      {},
      { state: 'healthy', version: '4.2.0' },
      { state: 'failing', reason: '5 consecutive failures' },
      { state: 'failing' },
      { state: 'healthy', reason: null, version: '4.2.1' },
      { state: 'drained', reason: 'new disks' },
    ]) {
      Object.assign(sample, change);
      clock.now += 1_000;
      history.record();
    }
    await history.flush();
    const { events } = await read(store, 'one', NOON, NOON + MINUTE_MS);
    expect(events.map(({ kind, detail }) => [kind, detail]).reverse()).toEqual([
      ['failing', '5 consecutive failures'],
      ['healthy', null],
      ['version', '4.2.1'],
      ['drained', 'new disks'],
    ]);
    await expect(read(store, 'other', NOON, NOON + MINUTE_MS)).rejects.toMatchObject({ status: 404 });
  });

  it('deletes what is past its retention, and limits events', async () => {
    clock.now = NOON;
    const store = await stores.open();
    const { sample } = nodeAt('one');
    let history = gateway(store, 'a', () => [sample]);
    for (let index = 0; index < 300; index++) {
      sample.state = index % 2 === 0 ? 'healthy' : 'failing';
      history.record();
    }
    await history.flush();
    const count = async (table: 'node_history' | 'node_event') =>
      (await store.db.selectFrom(table).selectAll().execute()).length;
    expect([await count('node_history'), await count('node_event')]).toEqual([
      2,
      nodeHistoryOptions.eventsPerHourMax,
    ]);
    clock.now += (nodeHistoryOptions.minutesDays + 1) * 86_400_000;
    history = gateway(store, 'b', () => []);
    await history.flush();
    expect(await count('node_history')).toBe(1);
    clock.now += nodeHistoryOptions.hoursDays * 86_400_000;
    await gateway(store, 'c', () => []).flush();
    expect([await count('node_history'), await count('node_event')]).toEqual([0, 0]);
  });
});
