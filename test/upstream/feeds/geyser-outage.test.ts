import { afterEach, describe, expect, it } from 'vitest';
import { GeyserRig, watch } from './geyser-rig.ts';
import { GeyserServer } from './geyser-server.ts';
import { payer, slotIs } from './geyser-updates.ts';
import { until } from './stage.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

describe('a Geyser server that is down', () => {
  it('delays only the first subscriber, and is used again once it sends slots', async () => {
    const stopped = await GeyserServer.start();
    stopped.stop();
    const rig = new GeyserRig([stopped.url], { openTimeoutMs: 300, awayMs: 20 });
    ends.push(() => rig.feed.close());
    const unavailable = { code: 'UPSTREAM_UNAVAILABLE' };
    await expect(rig.open(watch(payer.address))).rejects.toMatchObject(unavailable);
    const server = await GeyserServer.start(null, Number(new URL(stopped.url).port));
    ends.push(() => server.stop());
    // It accepts streams, but sends nothing yet.
    await server.until(() => server.streams.length > 1);
    const requestCount = rig.requested.length;
    await expect(rig.open(watch(payer.address))).rejects.toMatchObject(unavailable);
    expect(rig.requested).toHaveLength(requestCount);
    server.onRequest = () => server.send(slotIs(100, 'processed'));
    await until(() => rig.log.join().includes('recovered'), 'the recovery');
    const recorder = await rig.open(watch(payer.address));
    expect(recorder.failure).toBeNull();
  });
});
