import { afterEach, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/log.ts';
import {
  encodeSubscribeRequest,
  type SubscribeRequest,
} from '../../../src/protocol/geyser/subscribe-request.ts';
import { EndpointConnection } from '../../../src/upstream/geyser/endpoint-connection.ts';
import { geyserSourceOptions } from '../../../src/upstream/geyser/geyser-source-options.ts';
import type { StreamReader } from '../../../src/upstream/geyser/stream-reader.ts';
import { UpdateMerge } from '../../../src/upstream/geyser/update-merge.ts';
import { GeyserServer } from '../feeds/geyser-server.ts';

const INVALID_ARGUMENT = 3;
const limits = { ...geyserSourceOptions, requestDelayMs: 1, reconnectMs: 5, reconnectMaxMs: 20 };

const slots: SubscribeRequest = { slots: new Map([['s', {}]]) };
const transactions: SubscribeRequest = { transactions: new Map([['t', {}]]) };
const entries: SubscribeRequest = { entry: ['e'] };

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

/** A link to a server that answers pings only when the test does. */
async function start() {
  const server = await GeyserServer.start();
  server.answersPings = false;
  const listener = { onUpdate: () => {}, onLost: () => {}, onReset: () => {} };
  const merge = new UpdateMerge({ limits, listener, onStart: () => {}, onWaiting: () => {} });
  const tellers: StreamReader[] = [];
  let wanted = slots;
  const link = new EndpointConnection({
    node: { name: 'node', url: 'http://127.0.0.1:1', grpc: server.url },
    limits,
    log: createLogger('silent', () => {}),
    request: () => Buffer.from(encodeSubscribeRequest(wanted)),
    onProgress: () => {},
    onRejected: () => {},
    resumeAt: () => null,
    addReader: (from, seals) => {
      const reader = merge.addReader({ from, tip: null, fillsIn: false, seals });
      tellers.push(reader);
      return reader;
    },
    removeReader: (reader) => merge.removeReader(reader),
  });
  opened.push(
    () => link.close(),
    () => server.stop(),
  );
  await server.until(() => server.pings.length === 1);
  /** Asks for something else, and waits until the server has read it. */
  const send = async (request: SubscribeRequest) => {
    wanted = request;
    const taken = link.updateRequest();
    const { length } = server.pings;
    await server.until(() => server.pings.length > length);
    return { id: server.pings.at(-1)!, taken };
  };
  return { server, send, reader: () => tellers.at(-1)! };
}

it('returns to the last accepted request after a rejection', async () => {
  const { server, send } = await start();
  const first = await send(transactions);
  server.send({ pong: { id: first.id } });
  await first.taken;
  const second = await send(slots);
  await send(entries);
  // It comes when entries are asked for already, and says nothing of them.
  server.send({ pong: { id: second.id } });
  await second.taken;
  server.onRequest = (request, stream) => {
    if ('e' in request.entry) stream.emit('error', { code: INVALID_ARGUMENT, details: 'no entries here' });
  };
  server.fail(INVALID_ARGUMENT, 'no entries here');
  await server.until(() => !('e' in server.requests.at(-1)!.entry));
  expect(server.requests.at(-1)).toMatchObject({ transactions: { t: {} }, entry: {} });
});
