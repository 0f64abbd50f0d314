import { afterEach, describe, expect, it } from 'vitest';
import { parseResponses } from './parse-responses.ts';
import {
  rawPost,
  result,
  startHttpServer,
  type TestHttpServer,
  type TestServerOptions,
} from './start-http-server.ts';

const call = (method: string, id: string | number = 1, params = '[]') =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;

const open: TestHttpServer[] = [];

async function start(...options: Parameters<typeof startHttpServer>): Promise<TestHttpServer> {
  const gateway = await startHttpServer(...options);
  open.push(gateway);
  return gateway;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((gateway) => gateway.stop()));
});

async function exchange(gateway: TestHttpServer, pieces: readonly string[]): Promise<string> {
  const client = gateway.connect();
  client.socket.setNoDelay(true);
  for (const piece of pieces) {
    client.socket.write(piece, 'latin1');
    await new Promise(setImmediate);
  }
  return client.ended();
}

const receivedBy = (received: string) => parseResponses(received.replaceAll(/;r=\d+;t=\d+/g, ';r=;t='));

const closing = 'connection: close\r\n';
const noLength = (text: string, instead: string) => text.replace(/content-length: \d+/, instead);

const chunked = (key: string, more = '') => noLength(rawPost(key, '', more), 'transfer-encoding: chunked');

/** Client requests as raw bytes. The last one closes the connection; the `hidden` call must never be executed. */
const sequences = (key: string, hidden: string): [string, string][] => [
  ['a call', rawPost(key, call('getSlot'), closing)],
  ['a call that keeps the connection', rawPost(key, call('a')) + rawPost(key, call('b', '"x"'), closing)],
  ['a key in the query', rawPost(null, call('a'), closing).replace('/rpc', `/rpc?x=1&api-key=${key}`)],
  ['no key', rawPost(null, call('a'), closing)],
  ['no JSON', rawPost(key, '{') + rawPost(key, '') + rawPost(key, '{}', closing)],
  ['fields twice', rawPost(key, call('a'), `content-type: text/plain\r\n${closing}`)],
  ['chunks', `${chunked(key, closing)}2\r\n[]\r\n0\r\n\r\n`],
  ['an older version', rawPost(key, call('a')).replace('HTTP/1.1', 'HTTP/1.0')],
  ['no length', noLength(rawPost(key, '', closing), 'x: y')],
  ['two hosts', rawPost(key, call('a'), 'host: y\r\n')],
  ['a host that is none', rawPost(key, call('a')).replace('host: x', 'host: x/y')],
  ['a packed body', rawPost(key, call('a'), `content-encoding: gzip\r\n${closing}`)],
  ['health', `${rawPost(key, call('a'))}GET /health HTTP/1.1\r\nhost: x\r\n${closing}\r\n`],
  ['two lengths', rawPost(key, call('a'), 'content-length: 0\r\n') + hidden],
  ['a length and chunks', rawPost(key, call('a'), 'transfer-encoding: chunked\r\n') + hidden],
  ['a length with a sign', noLength(rawPost(key, ''), 'content-length: +5') + hidden],
  ['a list of lengths', noLength(rawPost(key, ''), 'content-length: 5, 5') + hidden],
  ['an unknown coding', `${noLength(rawPost(key, ''), 'transfer-encoding: xchunked')}0\r\n\r\n${hidden}`],
  ['a coding behind chunks', noLength(rawPost(key, ''), 'transfer-encoding: chunked, identity') + hidden],
  ['a huge chunk', `${chunked(key)}${'f'.repeat(17)}\r\n${hidden}`],
  ['a chunk longer than it says', `${chunked(key)}3\r\n12345\r\n0\r\n\r\n${hidden}`],
  ['a folded header', rawPost(key, call('a'), 'x: y\r\n content-length: 1\r\n') + hidden],
  ['a space before a colon', rawPost(key, call('a'), 'x : y\r\n') + hidden],
  ['a header without a colon', rawPost(key, call('a'), 'x\r\n') + hidden],
  ['a NUL', rawPost(key, call('a'), 'x: \0\r\n') + hidden],
  ['a bare line feed', rawPost(key, call('a'), 'x: y\ncontent-length: 7\r\n') + hidden],
  ['an unknown version', rawPost(key, call('a')).replace('HTTP/1.1', 'HTTP/2.0') + hidden],
];

describe.each([{ sharesReads: true }, { sharesReads: false }])(
  'with a shared read buffer: $sharesReads',
  ({ sharesReads }) => {
    const options: TestServerOptions = { sharesReads };

    it('returns the same responses as node:http, wherever the packets are split', async () => {
      const [raw, plain] = [await start(options), await start({ raw: false })];
      const key = raw.createKey('rpc', { rpcPerSecond: 1_000, rpcBurst: 1_000_000 });
      plain.keys.apply([raw.keys.find(key.slice(13, 21) as never) as never]);
      for (const [what, text] of sequences(key, rawPost(key, call('hidden')))) {
        const expected = receivedBy(await exchange(plain, [text]));
        const cuts = [0.1, 0.35, 0.6, 0.8, 0.97].map((share) => Math.floor(text.length * share));
        const split = [[text], ...cuts.map((at) => [text.slice(0, at), text.slice(at)])];
        const received = await Promise.all(split.map((pieces) => exchange(raw, pieces)));
        for (const each of received) expect([what, receivedBy(each)]).toEqual([what, expected]);
      }
      expect([raw.lines, raw.http.inFlight, raw.fastPath?.size]).toEqual([[], 0, 0]);
      const executed = [...raw.calls, ...plain.calls].map((each) => each.call.method);
      expect(executed).not.toContain('hidden');
    });

    it('isolates the state of connections', async () => {
      const gateway = await start(options);
      const key = gateway.createKey();
      const release: (() => void)[] = [];
      gateway.answer = ({ params }) =>
        new Promise((resolve) => release.push(() => resolve(result(String(params)))));
      const clients = Array.from({ length: 20 }, () => gateway.connect());
      const texts = clients.map((_, i) => rawPost(key, call('a', i, `["${`${i}-`.repeat(50)}"]`), closing));
      const bodyAt = texts.map((text) => text.indexOf('\r\n\r\n') + 4);
      for (const [i, client] of clients.entries()) client.socket.write(texts[i]?.slice(0, bodyAt[i]) ?? '');
      await expect.poll(() => gateway.http.inFlight).toBe(20);
      for (const [i, client] of clients.entries()) client.socket.write(texts[i]?.slice(bodyAt[i]) ?? '');
      await expect.poll(() => release.length).toBe(20);
      for (const each of release.toReversed()) each();
      for (const [i, client] of clients.entries())
        expect(await client.ended()).toContain(`"result":["${`${i}-`.repeat(50)}"],"id":${i}}`);
    });

    it('hands a connection over to node:http permanently at the first unsupported request', async () => {
      const gateway = await start(options);
      const key = gateway.createKey();
      const client = gateway.connect();
      client.socket.write(rawPost(key, call('a', 1)));
      await client.until(/"id":1}\n$/);
      expect(gateway.fastPath?.size).toBe(1);
      client.socket.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n');
      await client.until(/"mode":"production"}\n$/);
      expect(gateway.fastPath?.size).toBe(0);
      client.socket.write(rawPost(key, call('a', 2)));
      await client.until(/"id":2}\n$/);
      expect(gateway.fastPath?.size).toBe(0);
      const large = call('a', 3, `["${'0123456789'.repeat(20_000)}"]`);
      client.socket.write(rawPost(key, large));
      expect(await client.until(/"id":3}\n$/)).toContain('0123456789'.repeat(20_000));
      client.socket.destroy();
    });

    it('stops reading requests while the client does not read the response', async () => {
      const gateway = await start(options);
      const key = gateway.createKey();
      gateway.answer = async () => result(`"${'x'.repeat(12 * 1024 * 1024)}"`);
      const client = gateway.connect();
      client.socket.pause();
      client.socket.write(rawPost(key, call('a', 1)) + rawPost(key, call('a', 2), closing));
      await expect.poll(() => client.socket.readableLength).toBeGreaterThan(0);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect([gateway.calls.length, gateway.http.inFlight]).toEqual([1, 1]);
      client.socket.resume();
      expect(parseResponses(await client.ended())).toMatchObject([{ status: 200 }, { status: 200 }]);
      await expect.poll(() => gateway.http.inFlight).toBe(0);
    });
  },
);

it('closes an idle keep-alive connection', async () => {
  const gateway = await start({ keepAliveTimeoutMs: 100 });
  const client = gateway.connect();
  client.socket.write(rawPost(gateway.createKey(), call('a')));
  expect(parseResponses(await client.ended())).toMatchObject([
    { status: 200, fields: { 'keep-alive': 'timeout=0' } },
  ]);
});
