import { afterEach, describe, expect, it } from 'vitest';
import { GeyserRig, watch } from './geyser-rig.ts';
import { GeyserServer } from './geyser-server.ts';
import { payer, slotIs } from './geyser-updates.ts';
import { until } from './stage.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

describe('a Geyser server that is away', () => {
  it('lets nobody wait for it but the first, and is used again once it tells slots', async () => {
    const gone = await GeyserServer.start();
    gone.stop();
    const rig = new GeyserRig([gone.url], { openTimeoutMs: 300, awayMs: 20 });
    ends.push(() => rig.feed.close());
    const refused = { code: 'UPSTREAM_UNAVAILABLE' };
    await expect(rig.open(watch(payer.address))).rejects.toMatchObject(refused);
    const server = await GeyserServer.start(null, Number(new URL(gone.url).port));
    ends.push(() => server.stop());
    // It is there, and tells nothing yet.
    await server.until(() => server.streams.length > 1);
    const asked = rig.requested.length;
    await expect(rig.open(watch(payer.address))).rejects.toMatchObject(refused);
    expect(rig.requested).toHaveLength(asked);
    server.onRequest = () => server.send(slotIs(100, 'processed'));
    await until(() => rig.log.join().includes('recovered'), 'the recovery');
    const heard = await rig.open(watch(payer.address));
    expect(heard.failure).toBeNull();
  });
});
