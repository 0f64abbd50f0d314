import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type Behaviour, type MockNode, send, startMock } from '../upstream/mock/server.ts';
import { eventually } from './eventually.ts';
import { operatorApi } from './operator-token.ts';
import { type RunningService, startService } from './start-service.ts';

/** The query parameter `network` of JSON-RPC, WebSocket and REST. The default network is a custom one. */
const nodeOf =
  (balance: number): Behaviour =>
  ({ id, method }, reply) => {
    const result = method === 'getBalance' ? { context: { slot: 5 }, value: balance } : 5;
    send(reply, JSON.stringify({ jsonrpc: '2.0', id, result }));
  };
const CALL = { jsonrpc: '2.0', id: 1, method: 'getBalance', params: ['11111111111111111111111111111111'] };
const [MAIN, DEV] = [1_000, 2_000];

let main: MockNode;
let dev: MockNode;
let service: RunningService;
beforeAll(async () => {
  [main, dev] = await Promise.all([startMock(nodeOf(MAIN)), startMock(nodeOf(DEV))]);
  const node = (network: string, { url }: MockNode) =>
    `[[upstream]]\nnetwork = "${network}"\nurl = "${url}"\nws = "off"\n`;
  const nodes = node('staging', main) + node('devnet', dev);
  const networks = '[networks]\ndefault = "staging"\ncustom = { staging = "" }\n';
  const settings = '[grpc]\nenabled = false\n[internal.upstream_pool]\nreconnect_max_ms = 500\n';
  service = await startService({ configuration: networks + settings + nodes });
}, 60_000);
afterAll(async () => {
  await service?.stop();
  await Promise.all([main.close(), dev.close()]);
});

/** Chunked bodies are read by node:http, bodies with a length by the fast path. */
async function sendRequest(
  query: string,
  body: unknown = CALL,
  { isChunked = false, key = service.key } = {},
) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const bytes = JSON.stringify(body);
  const sent = isChunked ? { body: new Blob([bytes]).stream(), duplex: 'half' as const } : { body: bytes };
  const response = await fetch(`${service.ready.rpcUrl}${query}`, { method: 'POST', headers, ...sent });
  // biome-ignore lint/suspicious/noExplicitAny: the type depends on the request.
  return { status: response.status, body: (await response.json()) as any };
}

const refusalOf = (network: string) => ({
  status: 400,
  body: {
    error: {
      code: -32096,
      message: `"network": this service does not serve "${network}". Networks served here: devnet, staging`,
      data: { code: 'NETWORK_NOT_SERVED', network, served: 'devnet, staging' },
    },
  },
});

describe.each([false, true])('?network= of JSON-RPC, chunked body: %s', (isChunked) => {
  it('selects the network, also for a batch, and defaults to the default network', async () => {
    const balanceOn = async (query: string) =>
      (await sendRequest(query, CALL, { isChunked })).body.result.value;
    expect(await balanceOn('')).toBe(MAIN);
    expect(await balanceOn('?network=devnet')).toBe(DEV);
    expect(await balanceOn('?network=staging')).toBe(MAIN);
    const batch = await sendRequest('?network=devnet', [CALL, { ...CALL, id: 2 }], { isChunked });
    expect(batch.body).toMatchObject([{ result: { value: DEV } }, { result: { value: DEV } }]);
  });

  it.each(['testnet', 'mainnet-beta', 'nonsense', ''])(
    'rejects %j, and lists the served networks',
    async (name) => {
      const before = main.count('getBalance') + dev.count('getBalance');
      expect(await sendRequest(`?network=${name}`, CALL, { isChunked })).toMatchObject(refusalOf(name));
      expect(main.count('getBalance') + dev.count('getBalance')).toBe(before);
    },
  );
});

describe('?network= of a WebSocket', () => {
  it('may name the default network', async () => {
    const socket = open('staging');
    await once(socket, 'open');
    socket.send(JSON.stringify(CALL));
    const [message] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(message.toString())).toMatchObject({ result: { value: MAIN } });
    socket.close();
  });

  const open = (network: string) =>
    new WebSocket(`${service.ready.wsUrl}?api-key=${service.key}&network=${network}`);

  it('is rejected for any other network, which has no source of notifications', async () => {
    const socket = open('devnet');
    socket.on('error', () => {});
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    expect(response.statusCode).toBe(400);
    expect(JSON.parse(await text(response))).toMatchObject({
      error: { data: { code: 'NETWORK_NOT_SERVED', network: 'devnet', served: 'staging' } },
    });
  });
});

it('a key can be restricted to a custom network, and usage lists it by name', async () => {
  const api = await operatorApi(service.ready.url, service.dataDir);
  const create = (network: string) => {
    const body = { product: 'rpc', name: 'x', networks: [network] };
    return api.sendRequest<{ secret: string }>('POST', '/customers/house/keys', body);
  };
  await expect(create('stagin')).rejects.toThrow('must be one of mainnet-beta, devnet, testnet, staging');
  const { secret: key } = await create('staging');
  expect(await sendRequest('?network=staging', CALL, { key })).toMatchObject({ status: 200 });
  expect(await sendRequest('?network=devnet', CALL, { key })).toMatchObject({
    body: { error: { data: { code: 'NETWORK_FORBIDDEN', network: 'devnet' } } },
  });
  const top = await eventually(async () => {
    const { rows } = await api.sendRequest<{ rows: readonly { name: string }[] }>(
      'GET',
      '/usage/top?by=network&network=staging',
    );
    return rows.length > 0 && rows;
  }, 'usage of staging');
  expect(top).toMatchObject([{ name: 'staging' }]);
});

describe('?network= of REST', () => {
  const balanceOn = async (network: string) => {
    const query = `wallet=${CALL.params[0]}&network=${network}`;
    const headers = { 'x-api-key': service.key };
    const response = await fetch(`${service.ready.url}/sol/v1/wallet/balance?${query}`, { headers });
    const { result, error } = (await response.json()) as Record<string, Record<string, unknown>>;
    return [response.status, result?.balance ?? error?.code];
  };
  const counts = () => [main.count('getBalance'), dev.count('getBalance')];

  it('uses only nodes of that network, even if they are unavailable', async () => {
    const [before = 0, devBefore = 0] = counts();
    expect(await balanceOn('testnet')).toEqual([400, 'NETWORK_NOT_SERVED']);
    expect(await balanceOn('nonsense')).toEqual([400, 'INVALID_FIELDS']);
    expect(await balanceOn('devnet')).toEqual([200, DEV / 1e9]);
    expect(counts()).toEqual([before, devBefore + 1]);
    await dev.close();
    expect(await balanceOn('devnet')).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
    expect(await balanceOn('staging')).toEqual([200, MAIN / 1e9]);
    expect(main.count('getBalance')).toBe(before + 1);
  });
});
