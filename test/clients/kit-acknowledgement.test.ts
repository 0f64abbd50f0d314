import * as kit from '@solana/kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Feed } from '../../src/streams/feed.ts';
import { TestWebSocketServer } from '../servers/start-websocket-server.ts';

/** Notifies while the subscription is being opened, as for a transaction that landed before. */
const atOnce: Feed = {
  open: async (_subscription, listener) => {
    listener.onNotification(Buffer.from('{"context":{"slot":5},"value":{"err":null}}'), true);
    return () => {};
  },
};

let server: TestWebSocketServer;
beforeEach(async () => {
  server = await new TestWebSocketServer({ feed: atOnce }).listen();
});
afterEach(() => server.stop());

// @solana/kit attaches its listener after reading the acknowledgement, and loses notifications read together
// with it.
it('receives state that is already known when @solana/kit subscribes', async () => {
  const subscriptions = kit.createSolanaRpcSubscriptions(server.url(server.createKey()));
  const signature = kit.signature(
    '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
  );
  const end = new AbortController();
  const options = { abortSignal: AbortSignal.any([end.signal, AbortSignal.timeout(5_000)]) };
  const observed = await subscriptions.signatureNotifications(signature).subscribe(options);
  const { value } = await observed[Symbol.asyncIterator]().next();
  end.abort();
  expect(value).toEqual({ context: { slot: 5n }, value: { err: null } });
});
