import { afterAll, beforeAll, expect, it } from 'vitest';
import { Keypair } from '../../src/solana/ed25519.ts';
import { GeyserServer } from '../upstream/feeds/geyser-server.ts';
import { account, accountIs, slotIs } from '../upstream/feeds/geyser-updates.ts';
import { healthy } from '../upstream/mock/behaviors.ts';
import { type MockNode, startMock } from '../upstream/mock/server.ts';
import { SocketClient } from './socket-client.ts';
import { type RunningService, startService } from './start-service.ts';

/** The service in front of a node with Yellowstone gRPC and without PubSub. */
const TOKEN = 'a-secret-token';
const address = Keypair.fromSeed(new Uint8Array(32).fill(1)).address;
let geyser: GeyserServer;
let node: MockNode;
let service: RunningService;

beforeAll(async () => {
  geyser = await GeyserServer.start(TOKEN);
  geyser.onRequest = () => geyser.slot(1_000);
  node = await startMock(healthy());
  service = await startService({
    configuration: `
      [grpc]
      enabled = false
      [[upstream]]
      url = "${node.url}"
      ws = "off"
      grpc = "${geyser.url}"
      headers = { "x-token" = "${TOKEN}" }
    `,
  });
});
afterAll(async () => {
  await service?.stop();
  await node?.close();
  geyser?.stop();
});

it('delivers each write of a processed account within the slot', async () => {
  const client = await SocketClient.open(`${service.ready.wsUrl}?api-key=${service.key}`);
  const options = { commitment: 'processed', encoding: 'base64' };
  const id = await client.result<number>('accountSubscribe', [address, options]);
  expect(geyser.tokens).toEqual([TOKEN]);
  expect(geyser.requests.at(-1)?.accounts).toMatchObject({ a0: { account: [address] } });
  geyser.onRequest = () => {};
  geyser.send(slotIs(1_001, 'created'));
  geyser.send(accountIs(1_001, address, account(1), 1));
  geyser.send(accountIs(1_001, address, account(2), 2));
  const observed = [await client.next(id), await client.next(id)];
  expect(observed.map(({ result }) => result)).toMatchObject([
    { context: { slot: 1_001 }, value: { lamports: 1 } },
    { context: { slot: 1_001 }, value: { lamports: 2 } },
  ]);
  expect(service.output()).not.toContain(TOKEN);
  await client.close();
});
