import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster, canRunCluster } from './cluster.ts';
import { RequestLoad, TEST_PAUSE_MS } from './request-load.ts';

describe.skipIf(!canRunCluster)(
  'two gateways behind a balancer (skipped where PostgreSQL, Redis or HAProxy is not installed)',
  () => {
    let cluster: Cluster;
    beforeAll(async () => {
      cluster = await Cluster.start(2);
    });
    afterAll(() => cluster?.stop());

    const rpcKey = (): string => cluster.keys.find(({ product }) => product === 'rpc')?.key ?? '';

    it('accept a key created by either', async () => {
      for (const { ready } of cluster.gateways.values()) {
        const load = new RequestLoad(ready.rpcUrl, rpcKey());
        await load.answered(1);
        expect((await load.stop()).failed).toEqual([]);
      }
    });

    it('restart one after the other without a failed request', async () => {
      const load = new RequestLoad(`${cluster.httpUrl}/v1/rpc`, rpcKey(), 8, false, TEST_PAUSE_MS);
      await load.answered(50);
      await cluster.roll();
      await load.answered(50);
      const { answeredAt, failed } = await load.stop();
      expect(failed).toEqual([]);
      expect(answeredAt.length).toBeGreaterThan(100);
    });
  },
);
