import { afterAll, beforeAll, expect, it } from 'vitest';
import { deadUrl, healthy } from '../upstream/mock/behaviors.ts';
import { type MockNode, startMock } from '../upstream/mock/server.ts';
import { eventually } from './eventually.ts';
import { type RunningService, startService } from './start-service.ts';

let node: MockNode;
let service: RunningService;
beforeAll(async () => {
  node = await startMock(healthy());
  service = await startService({
    configuration: `
      [[upstream]]
      url = "${node.url}"
      [[upstream]]
      url = "${await deadUrl()}"
      [internal.upstream_pool]
      poll_interval_ms = 50
    `,
  });
});
afterAll(async () => {
  await service?.stop();
  await node?.close();
});

type Facts = { ready: boolean; upstreams: { total: number; usable: number } };

async function ready(): Promise<{ status: number; facts: Facts }> {
  const response = await fetch(`${service.ready.url}/ready`);
  return { status: response.status, facts: (await response.json()) as Facts };
}

it('/ready counts only answering nodes as usable, and returns 503 without any', async () => {
  await eventually(async () => (await ready()).facts.upstreams.usable === 1, 'one node is usable');
  expect(await ready()).toMatchObject({
    status: 200,
    facts: { ready: true, upstreams: { total: 2, usable: 1 } },
  });
  await node.close();
  await eventually(async () => (await ready()).facts.upstreams.usable === 0, 'no node is usable');
  expect(await ready()).toMatchObject({
    status: 503,
    facts: { ready: false, upstreams: { total: 2, usable: 0 } },
  });
});
