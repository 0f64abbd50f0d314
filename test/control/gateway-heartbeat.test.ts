import { expect, it } from 'vitest';
import type { Store } from '../../src/control/database/open.ts';
import { GatewayHeartbeat, type HeartbeatOptions } from '../../src/control/requests/gateway-heartbeat.ts';
import { readGatewayUrl } from '../../src/control/requests/read-gateways.ts';
import type { ConnectionInfo } from '../../src/gateway/telemetry/live-connections.ts';
import { connectionInfo } from './request-writer-fixture.ts';
import { describeOnBothStores } from './stores.ts';

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
  it('writes only changed connections', async () => {
    const store = await stores.open();
    const { open, presence } = gatewayOn(store);
    open.push(...Array.from({ length: 200 }, (_, nth) => facts(`c${nth}`)));
    await presence.refresh();
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
});
