import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { openStore, pepperSources } from '../../src/app/store.ts';
import { loadConfiguration } from '../../src/config/configuration.ts';
import type { Store } from '../../src/control/database/store.ts';
import { changeKey } from '../../src/control/keys/change-key.ts';
import { type CreateKeyOptions, createKey, type NewKey } from '../../src/control/keys/create-key.ts';
import type { KeyRegister } from '../../src/control/keys/key-register.ts';
import { openPeppers } from '../../src/control/pepper-proof.ts';
import { type MockNode, send, startMock } from '../upstream/mock/server.ts';
import { eventually } from './eventually.ts';
import { GrpcClient } from './grpc-client.ts';
import { SocketClient } from './socket-client.ts';
import { type RunningService, startService } from './start-service.ts';

/** Key rules in every server of a service that trusts 127.0.0.1 as a proxy. */
const WRONG_KEYS = 5;
const WALLET = '11111111111111111111111111111111';

let mock: MockNode;
let service: RunningService;
let grpc: GrpcClient;
let store: Store;
let register: KeyRegister;

beforeAll(async () => {
  mock = await startMock(({ id, method }, reply) => {
    const result = method === 'getBalance' ? '{"context":{"slot":1},"value":5}' : '1000';
    return send(reply, `{"jsonrpc":"2.0","result":${result},"id":${id}}\n`);
  });
  service = await startService({
    configuration: `[server]\ntrusted_proxies = ["127.0.0.1"]
[keys]\nfailed_auth_exempt = []\nfailed_auth_per_minute = ${WRONG_KEYS}
[[upstream]]\nnetwork = "mainnet-beta"\nurl = "${mock.url}"\nws = "off"\n`,
  });
  grpc = new GrpcClient(service.ready.grpcUrl);
  const { config, dataDir } = service;
  const configuration = loadConfiguration({ config, flags: { 'data-dir': dataDir }, upstreams: [] }, {});
  store = await openStore(configuration);
  const peppers = await openPeppers(store, pepperSources(configuration, {}));
  register = { store, peppers, actor: 'test', keysMax: 1_000, now: Date.now };
});
afterAll(async () => {
  grpc?.close();
  await store?.close();
  await service?.stop();
  await mock?.close();
});

/** The client address as reported by the proxy, and the Origin header. */
type From = Readonly<{ address?: string; origin?: string }>;

const headersOf = ({ address, origin }: From): Record<string, string> => ({
  ...(address === undefined ? {} : { 'x-forwarded-for': address }),
  ...(origin === undefined ? {} : { origin }),
});

async function codeOf(response: Response): Promise<string> {
  const body = (await response.json()) as { error?: { code: string; data?: { code: string } } };
  return body.error?.data?.code ?? body.error?.code ?? 'ok';
}

async function sendRpc(key: string, from: From, method = 'getSlot'): Promise<string> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headersOf(from) };
  const body = `{"jsonrpc":"2.0","id":1,"method":"${method}"}`;
  return codeOf(await fetch(service.ready.rpcUrl, { method: 'POST', headers, body }));
}

async function sendWebSocket(key: string, from: From): Promise<string> {
  const socket = new WebSocket(`${service.ready.wsUrl}?api-key=${key}`, { headers: headersOf(from) });
  const refused = once(socket, 'unexpected-response').then(
    async ([, response]) => JSON.parse(await text(response)).error.data.code,
  );
  const opened = once(socket, 'open').then(() => {
    socket.close();
    return 'ok';
  });
  return Promise.race([refused, opened]);
}

async function sendRest(key: string, from: From): Promise<string> {
  const url = `${service.ready.url}/sol/v1/wallet/balance?wallet=${WALLET}`;
  return codeOf(await fetch(url, { headers: { 'x-api-key': key, ...headersOf(from) } }));
}

async function sendGrpc(key: string, from: From): Promise<string> {
  const answer = await grpc.call(key, 'GetVersion', headersOf(from));
  return Buffer.isBuffer(answer) ? 'ok' : answer.name;
}

/** Each server with the product of its keys and a function that sends a request. */
const servers = [
  ['RPC', 'rpc', sendRpc],
  ['WebSocket', 'rpc', sendWebSocket],
  ['REST', 'rpc', sendRest],
  ['gRPC', 'grpc', sendGrpc],
] as const;

let attempts = 0;

/** Creates a key and waits until it works. Each attempt uses a new address, because failed ones are counted. */
async function keyWith(options: Partial<CreateKeyOptions>): Promise<NewKey> {
  const made = await createKey(register, { product: 'rpc', name: 'test', ...options });
  const sendRequest = options.product === 'grpc' ? sendGrpc : sendRpc;
  const attempt = () => sendRequest(made.secret, { address: `198.18.0.${++attempts % 250}` });
  await eventually(async () => (await attempt()) !== 'INVALID_KEY', 'the key is known');
  return made;
}

describe.each(servers)('over %s', (_server, product, sendRequest) => {
  it('a key restricted to addresses works only there, as reported by a trusted proxy', async () => {
    const { secret } = await keyWith({ product, cidrs: ['203.0.113.0/24', '2001:db8::/32'] });
    const observed = (address: string) => sendRequest(secret, { address });
    expect(await observed('203.0.113.9')).toBe('ok');
    expect(await observed('203.0.114.9')).toBe('ADDRESS_FORBIDDEN');
    expect(await sendRequest(secret, {})).toBe('ADDRESS_FORBIDDEN');
    // The client forged an allowed address, and the proxy appended the real one.
    expect(await observed('203.0.113.9, 198.51.100.66')).toBe('ADDRESS_FORBIDDEN');
  });

  it('a key restricted to other networks is rejected', async () => {
    const { secret } = await keyWith({ product, networks: ['devnet'] });
    expect(await sendRequest(secret, {})).toBe('NETWORK_FORBIDDEN');
  });

  it('a valid key is rejected from an address with too many failed attempts, and accepted elsewhere', async () => {
    const { secret } = await keyWith({ product });
    const index = servers.findIndex(([, , preflightHeaders]) => preflightHeaders === sendRequest) + 1;
    const [address, elsewhere] = [`192.0.2.${index}`, `192.0.2.${index + 100}`];
    for (let wrong = 0; wrong < WRONG_KEYS; wrong++) {
      expect(await sendRequest(`${secret.slice(0, -1)}!`, { address })).toBe('INVALID_KEY');
    }
    expect(await sendRequest(secret, { address })).toBe('TOO_MANY_WRONG_KEYS');
    expect(await sendRequest(secret, { address: elsewhere })).toBe('ok');
    expect(await sendRequest(secret, {})).toBe('ok');
  });
});

describe.each(servers.filter(([, product]) => product === 'rpc'))(
  'over %s',
  (_server, _product, sendRequest) => {
    it('a key restricted to origins works only there, and never without an Origin header', async () => {
      const { secret } = await keyWith({ origins: ['https://app.example.com'] });
      const at = (origin?: string) => sendRequest(secret, origin === undefined ? {} : { origin });
      expect(await at('https://app.example.com')).toBe('ok');
      for (const page of ['https://evil.example', undefined]) expect(await at(page)).toBe('ORIGIN_FORBIDDEN');
    });
  },
);

it('no key may call the test methods of a node, over HTTP or a socket', async () => {
  const { secret } = await keyWith({});
  expect(await sendRpc(secret, {}, 'surfnet_pauseClock')).toBe('METHOD_FORBIDDEN');
  const socket = await SocketClient.open(`${service.ready.wsUrl}?api-key=${secret}`);
  const answer = await socket.call('solway_snapshot');
  expect(JSON.stringify(answer)).toContain('METHOD_FORBIDDEN');
  await socket.close();
});

it('new rules close the sockets and streams that they no longer allow, and no others', async () => {
  const cidrs = ['203.0.113.0/24'];
  const [rpcKey, grpcKey] = [await keyWith({ cidrs }), await keyWith({ product: 'grpc', cidrs })];
  const url = `${service.ready.wsUrl}?api-key=${rpcKey.secret}`;
  const [left, allowed] = ['203.0.113.1', '203.0.113.2'].map((address) => headersOf({ address }));
  const sockets = [await SocketClient.open(url, left), await SocketClient.open(url, allowed)] as const;
  const streams = [
    grpc.open(grpcKey.secret, 'Subscribe', left),
    grpc.open(grpcKey.secret, 'Subscribe', allowed),
  ] as const;
  await Promise.all(streams.map(({ first }) => first));
  const changedAt = performance.now();
  for (const { key } of [rpcKey, grpcKey]) await changeKey(register, key.id, { cidrs: ['203.0.113.2'] });
  const { code, reason, at } = await sockets[0].ended;
  expect([code, reason]).toEqual([1008, expect.stringContaining('ADDRESS_FORBIDDEN')]);
  expect(await streams[0].ended).toMatchObject({ status: 7, name: 'ADDRESS_FORBIDDEN' });
  process.stdout.write(`a socket was closed ${Math.round(at - changedAt)} ms after the change began\n`);
  expect(await sockets[1].result('getSlot')).toBe(1_000);
  const { messages } = streams[1];
  expect(messages).toBeGreaterThan(0);
  await sockets[1].close();
  streams[1].close();
});
