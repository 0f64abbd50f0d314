import { afterEach, describe, expect, it } from 'vitest';
import { GeyserRig, watch } from './geyser-rig.ts';
import { GeyserServer } from './geyser-server.ts';
import { payer } from './geyser-updates.ts';
import { until } from './stage.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const unavailable = { code: 'UPSTREAM_UNAVAILABLE' };

describe('a Geyser server that is down', () => {
  it('delays only the first subscriber, and is used again once it sends slots', async () => {
    const stopped = await GeyserServer.start();
    stopped.stop();
    const rig = new GeyserRig([stopped.url], { source: { openTimeoutMs: 300 } });
    ends.push(() => rig.close());
    await expect(rig.open(watch(payer.address))).rejects.toMatchObject(unavailable);
    const server = await GeyserServer.start(null, Number(new URL(stopped.url).port));
    ends.push(() => server.stop());
    // It accepts requests and sends nothing yet.
    await server.until(() => server.pings.length > 0);
    const requestCount = rig.requested.length;
    await expect(rig.open(watch(payer.address))).rejects.toMatchObject(unavailable);
    expect(rig.requested).toHaveLength(requestCount);
    server.slot(100);
    await until(() => rig.log.join().includes('recovered'), 'the recovery');
    const recorder = await rig.open(watch(payer.address));
    expect(recorder.failure).toBeNull();
  });

  it('fails subscriptions when no other one has sent a slot for too long', async () => {
    const servers = await Promise.all([GeyserServer.start(), GeyserServer.start()]);
    const source = { downMaxMs: 1_000, stallMs: 300 };
    const rig = new GeyserRig(
      servers.map(({ url }) => url),
      { source },
    );
    ends.push(() => rig.close(), ...servers.map((server) => () => server.stop()));
    await rig.start(...servers);
    const recorder = await rig.open(watch(payer.address));
    const [one, other] = servers as [GeyserServer, GeyserServer];
    one.stop();
    const slots = [100, 101, 102, 103, 104];
    for (const slot of slots) {
      other.slot(slot);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    expect(recorder.failure).toBeNull();
    other.stop();
    await recorder.until(() => recorder.failure !== null);
    expect(recorder.failure).toBe('UPSTREAM_UNAVAILABLE');
  });

  it('is logged with its response but without the token', async () => {
    const server = await GeyserServer.start('a-secret-token');
    ends.push(() => server.stop());
    const rig = new GeyserRig([server.url], { source: { openTimeoutMs: 200 }, token: 'another-secret' });
    ends.push(() => rig.close());
    await expect(rig.open(watch(payer.address))).rejects.toMatchObject(unavailable);
    const log = rig.log.join();
    expect(log).toContain('UNAUTHENTICATED');
    expect(log).toContain('node-0');
    expect(log).not.toContain('another-secret');
  });
});
