import { expect, it } from 'vitest';
import type { Store } from '../../src/control/database/open.ts';
import { GatewayHeartbeat, type HeartbeatOptions } from '../../src/control/requests/gateway-heartbeat.ts';
import { LogTails } from '../../src/control/requests/log-tails.ts';
import { readGatewayUrl } from '../../src/control/requests/read-gateways.ts';
import type { ConnectionInfo } from '../../src/gateway/telemetry/live-connections.ts';
import { eventLoopIterationsDuring } from './event-loop-iterations.ts';
import { connectionInfo } from './request-writer-fixture.ts';
import { describeOnBothStores, describeOnSqlite } from './stores.ts';

const facts = (id: string, messages = 10) => connectionInfo({ id, messages });

function gatewayOn(store: Store, more: Partial<HeartbeatOptions> = {}) {
  const open: ConnectionInfo[] = [];
  const clock = { now: 0 };
  const works = {
    nodes: () => [],
    connections: (max: number) => open.slice(0, max),
    laggedMinutes: () => [],
    setCordons: () => {},
    closeConnection: () => {},
  };
  const options = { heartbeatMs: 0, goneAfterMs: 10_000, now: () => clock.now, ...more };
  const presence = new GatewayHeartbeat(store, works, { host: 'box', version: '1' }, options);
  return { open, clock, presence };
}

const connections = async ({ db }: Store) =>
  (await db.selectFrom('connection').select('id').orderBy('id').execute()).map(({ id }) => id);

describeOnBothStores('a gateway heartbeat', (stores) => {
  it('writes only changed connections, yielding in between', async () => {
    const store = await stores.open();
    const { open, presence } = gatewayOn(store);
    open.push(...Array.from({ length: 200 }, (_, nth) => facts(`c${nth}`)));
    expect(await eventLoopIterationsDuring(() => presence.refresh())).toBeGreaterThanOrEqual(7);
    await store.db.updateTable('connection').set({ told_at: 5 }).execute();
    open[3] = facts('c3', 11);
    open.pop();
    await presence.refresh();
    expect(await connections(store)).toHaveLength(199);
    const reported = await store.db.selectFrom('connection').select('id').where('told_at', '>', 5).execute();
    expect(reported).toEqual([{ id: 'c3' }]);
  });

  it('reports everything again after another gateway declared it dead', async () => {
    const store = await stores.open();
    const { open, presence } = gatewayOn(store);
    open.push(facts('c1'));
    await presence.refresh();
    await store.db.deleteFrom('connection').execute();
    await store.db.deleteFrom('gateway').execute();
    await presence.refresh();
    expect(await connections(store)).toEqual(['c1']);
  });

  // The others do not depend on the dialect.
  if (stores.kind === 'postgres') return;

  it('reports its address once its listeners are open', async () => {
    const store = await stores.open();
    const { presence } = gatewayOn(store, { heartbeatMs: 60_000 });
    await presence.refresh();
    const urlSince = (host: string, since: number) => readGatewayUrl(store, host, since);
    expect(await urlSince('box', 0)).toBeNull();
    presence.setUrl('http://127.0.0.1:9123');
    await presence.refresh();
    expect(await urlSince('box', Date.now() - 10_000)).toBe('http://127.0.0.1:9123');
    expect([await urlSince('other', 0), await urlSince('box', Date.now() + 10_000)]).toEqual([null, null]);
  });

  it('is declared dead after silence, not because of a wrong clock', async () => {
    const store = await stores.open();
    const one = gatewayOn(store);
    const two = gatewayOn(store);
    const gateways = async () => (await store.db.selectFrom('gateway').select('id').execute()).length;
    await two.presence.refresh();
    await store.db.updateTable('gateway').set({ seen_at: 5 }).execute();
    await one.presence.refresh();
    expect(await gateways()).toBe(2);
    for (one.clock.now = 9_000; one.clock.now <= 18_000; one.clock.now += 9_000) await one.presence.refresh();
    expect(await gateways()).toBe(1);
  });

  it('leaves no close request for a removed gateway', async () => {
    const store = await stores.open();
    const { presence } = gatewayOn(store);
    await store.db
      .insertInto('connection_close')
      .values({ connection_id: 'c1', gateway: 'gone', asked_at: Date.now() })
      .execute();
    await presence.refresh();
    expect(await store.db.selectFrom('connection_close').selectAll().execute()).toEqual([]);
  });

  it('reports once that the store is unreachable, and once that it recovered', async () => {
    const store = await stores.open();
    const states: (unknown | null)[] = [];
    const { presence } = gatewayOn(store, { onState: (state) => states.push(state) });
    await store.db.schema.alterTable('gateway').renameTo('away').execute();
    await presence.refresh();
    await presence.refresh();
    await store.db.schema.alterTable('away').renameTo('gateway').execute();
    await presence.refresh();
    await presence.refresh();
    expect(states).toEqual([expect.any(Error), null]);
  });
});

describeOnSqlite('the followers of the log', (stores) => {
  it('waits while the store cannot be read, and reports it once', async () => {
    const store = await stores.open();
    await store.db.schema.alterTable('request_log').renameTo('away').execute();
    const cancel = new AbortController();
    const states: (unknown | null)[] = [];
    const both = new Promise<void>((resolve) => {
      const onState = (state: unknown | null) => {
        states.push(state);
        if (state === null) resolve();
        else void store.db.schema.alterTable('away').renameTo('request_log').execute();
      };
      const tails = new LogTails({ pollIntervalMs: 5 }, onState);
      const entries = tails.follow(store, 'anna', {}, Date.now, cancel.signal)[Symbol.asyncIterator]();
      void entries.next();
    });
    await both;
    cancel.abort();
    expect(states).toEqual([expect.any(Error), null]);
  });
});
