import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Feed } from '../../src/streams/feed.ts';
import { LedgerNotifier } from '../../src/streams/ledger-notifier.ts';
import { block, executed, key, LedgerScript, signature } from '../streams/ledger-script.ts';
import { TestWebSocketServer } from './start-websocket-server.ts';

const notifier = new LedgerNotifier();
const feed: Feed = { open: async (subscription, listener) => notifier.add(subscription, listener) };

let server: TestWebSocketServer;

beforeEach(async () => {
  server = await new TestWebSocketServer({ feed, gate: { topics: { graceMs: 0 } } }).listen();
});

afterEach(() => server.stop());

it('delivers ledger notifications to a client, from the event to the message', async () => {
  const story = new LedgerScript(notifier);
  const client = await server.connect();
  const commitment = { commitment: 'processed' };
  await client.request('slotSubscribe');
  await client.request('accountSubscribe', [key(1), { ...commitment, encoding: 'base64' }]);
  await client.request('logsSubscribe', ['all', commitment]);
  await client.request('signatureSubscribe', [
    signature(5),
    { ...commitment, enableReceivedNotification: true },
  ]);
  await client.request('rootSubscribe');

  story.created(1, 0);
  story.account(1, 1, {});
  story.transaction(1, { n: 5 });
  story.frozen(1);
  story.block(block(1, [executed({ n: 5 })], 0));
  story.processed(1);
  story.rooted(1);

  const observed: Record<string, unknown> = {};
  while (!('rootNotification' in observed)) {
    const { method, params } = (await client.nextJson()) as { method: string; params: { result: unknown } };
    observed[method] = params.result;
  }
  expect(observed).toMatchObject({
    slotNotification: { slot: 1, parent: 0 },
    accountNotification: { context: { slot: 1 }, value: { data: ['', 'base64'] } },
    logsNotification: { context: { slot: 1 }, value: { signature: signature(5), err: null } },
    signatureNotification: { context: { slot: 1 }, value: { err: null } },
    rootNotification: 1,
  });
  expect(await client.request('signatureUnsubscribe', [4])).toMatchObject({ error: { code: -32602 } });
});

it('has no demand on the notifier after the last client has disconnected', async () => {
  const clients = [await server.connect(), await server.connect()];
  for (const client of clients) await client.request('voteSubscribe');
  expect(notifier.hasSubscribers('vote')).toBe(true);
  for (const client of clients) client.socket.terminate();
  await expect.poll(() => notifier.hasSubscribers('vote')).toBe(false);
});
