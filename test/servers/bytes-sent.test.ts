import { afterEach, describe, expect, it } from 'vitest';
import { Failure } from '../../src/protocol/errors.ts';
import { result, startHttpServer, type TestHttpServer } from './start-http-server.ts';
import { TestWebSocketServer } from './start-websocket-server.ts';

const once = { rpcPerSecond: 0.01, rpcBurst: 1 };
const call = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"getSlot","params":[]}`;
const faulty = '{"jsonrpc":"2.0","id":"é"}';
const unversioned = '{"id":12,"method":"getSlot"}';

const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.stop()));
});

const sentBy = ({ usage }: Pick<TestHttpServer, 'usage'>): number =>
  usage.drain().reduce((sum, { bytesOut }) => sum + bytesOut, 0);

describe.each([{ raw: true }, { raw: false }])('bytes sent, fast path: $raw', ({ raw }) => {
  async function start(): Promise<TestHttpServer> {
    const server = await startHttpServer({ raw });
    open.push(server);
    return server;
  }
  /** Bytes of the response without the final line break. */
  const post = async (server: TestHttpServer, body: string, key = server.createKey()): Promise<number> => {
    const bytes = Buffer.from(await (await server.post(body, key)).arrayBuffer());
    return bytes.at(-1) === 0x0a ? bytes.length - 1 : bytes.length;
  };

  it.each([
    ['a result', call('"an id"')],
    ['a result that is written in pieces', call('18446744073709551615'), 'x'.repeat(100_000)],
    ['a faulty call', faulty],
    ['a call without a version', unversioned],
    ['what is no JSON', '{bad'],
    ['a notification', '{"jsonrpc":"2.0","method":"getSlot"}'],
  ])('include the response envelope: %s', async (_, body, text = 'ü') => {
    const server = await start();
    server.answer = async () => result(`"${text}"`);
    const bytes = await post(server, body);
    expect(sentBy(server)).toBe(bytes);
  });

  it('count node errors, failures and refusals', async () => {
    const server = await start();
    server.answer = async () => ({ body: Buffer.from('{"code":-32009,"message":"no"}'), errorCode: -32_009 });
    const refused = await post(server, call('1'));
    expect(sentBy(server)).toBe(refused);
    server.answer = () => Promise.reject(new Failure('UPSTREAM_UNAVAILABLE'));
    const failed = await post(server, call('1'));
    expect(sentBy(server)).toBe(failed);
    for (const body of [call('"limited"'), '{bad', '{"jsonrpc":"2.0","method":"getSlot"}', '[]']) {
      const key = server.createKey('rpc', once);
      await post(server, call('1'), key);
      sentBy(server);
      const limited = await post(server, body, key);
      expect(sentBy(server)).toBe(limited);
    }
  });

  it('count the members of a batch without separators', async () => {
    const server = await start();
    const between = '[,,]'.length;
    const members = [call('1'), '{"jsonrpc":"2.0","method":"getSlot"}', faulty, call('"x"')];
    const bytes = await post(server, `[${members}]`);
    expect(sentBy(server)).toBe(bytes - between);
  });
});

it('bytes sent over a WebSocket count responses to calls and faults', async () => {
  const server = await new TestWebSocketServer().listen();
  open.push(server);
  const client = await server.connect(server.createKey({ ...once, rpcBurst: 3 }));
  for (const text of [call('"an id"'), faulty, call('7'), '{bad']) {
    client.socket.send(text);
    const bytes = Buffer.byteLength(await client.next());
    expect(sentBy(server)).toBe(bytes);
  }
});
