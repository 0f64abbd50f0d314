import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateApiKey } from '../../src/gateway/auth/api-key.ts';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { type ClickHouseServer, clickHouseProgram, startClickHouse } from '../control/clickhouse-server.ts';
import { readMetrics } from '../observing/metrics-text.ts';
import { type Collector, startCollector } from '../observing/otlp-collector.ts';
import { dyingAfterRequest } from '../upstream/mock/behaviors.ts';
import { type Behaviour, type MockNode, send, startMock } from '../upstream/mock/server.ts';
import { eventually } from './eventually.ts';
import { type OperatorApi, operatorApi } from './operator-token.ts';
import { createRpcClient, type TestRpcClient } from './rpc-client.ts';
import { SocketClient } from './socket-client.ts';
import { type RunningService, startService } from './start-service.ts';

/** Observes the service through its telemetry, with two scripted nodes. */
type Step = Readonly<{ name: string; node: string | null; startMs: number; endMs: number; outcome: string }>;
type Entry = Readonly<Record<'id' | 'method' | 'status', string>> &
  Readonly<Record<'failure' | 'node' | 'keyId' | 'address' | 'params' | 'result', string | null>> &
  Readonly<{ http: number }> &
  Readonly<{ steps: readonly Step[] }>;

const METRICS_TOKEN = 'a-token-for-metrics';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

const BALANCE = '{"context":{"slot":1000},"value":7}';

const results: Readonly<Record<string, string>> = {
  getSlot: '1000',
  getGenesisHash: `"${encodeBase58(Buffer.alloc(32, 3))}"`,
  getBalance: BALANCE,
};
const good: Behaviour = ({ id, method }, reply) =>
  send(reply, `{"jsonrpc":"2.0","result":${results[method] ?? 'null'},"id":${id}}\n`);

let nodes: readonly [MockNode, MockNode];
let collector: Collector;
/** Stores the log, if it is installed. */
let clickHouse: ClickHouseServer | null;
let clickHouseUrl: string | undefined;
let service: RunningService;
let api: OperatorApi;
let server: TestRpcClient;

beforeAll(async () => {
  nodes = [await startMock(good), await startMock(good)];
  collector = await startCollector();
  clickHouse = clickHouseProgram === null ? null : await startClickHouse(clickHouseProgram);
  const upstream = (name: string, { url }: MockNode) =>
    `[[upstream]]\nname = "${name}"\nurl = "${url}"\nws = "off"\n`;
  clickHouseUrl = await clickHouse?.createDatabase();
  service = await startService({
    configuration: `
      ${clickHouseUrl === undefined ? '' : `[store]\nclickhouse_url = "${clickHouseUrl}"`}
      ${upstream('a', nodes[0])}
      ${upstream('b', nodes[1])}
      [internal.upstream_pool]
      backoff_ms = 5
      circuit_open_ms = 10
      poll_interval_ms = 60000
      [request_log]
      per_second = 10000
      [internal.request_log]
      flush_interval_ms = 50
      [internal.gateways]
      heartbeat_ms = 100
      check_interval_ms = 50
      [internal.sessions]
      wait_ms = 100
      [metrics]
      token = "${METRICS_TOKEN}"
      [telemetry]
      otlp_url = "${collector.url}"
      sample_ratio = 1
      [internal.telemetry]
      flush_interval_ms = 50
    `,
  });
  api = await operatorApi(service.ready.url, service.dataDir);
  server = createRpcClient(service.ready.rpcUrl, service.key);
});
afterAll(async () => {
  await service?.stop();
  await clickHouse?.destroy();
  await Promise.all([...(nodes ?? []).map((node) => node.close()), collector?.close()]);
});

const LOGS = '/customers/house/logs';
const listed = async (query: string): Promise<readonly Entry[]> =>
  (await api.sendRequest<{ items: Entry[] }>('GET', `${LOGS}?${query}`)).items;
const found = (query: string): Promise<Entry> =>
  eventually(async () => (await listed(query))[0], `an entry with ${query}`);
const whole = (id: string): Promise<Entry> => api.sendRequest('GET', `${LOGS}/${id}`);

describe('the request log', () => {
  it('shows each attempt of a call, including that on a failed node', async () => {
    let calls = 0;
    // Whichever node is used first drops the connection.
    const dyingFirst: Behaviour = (request, reply, socket) =>
      (request.method === 'getBalance' && ++calls === 1 ? dyingAfterRequest : good)(request, reply, socket);
    for (const node of nodes) node.become(dyingFirst);
    await server.result('getBalance', ['x']);
    for (const node of nodes) node.become(good);
    const logged = await whole((await found('method=getBalance')).id);
    const [, , dead, living] = logged.steps;
    expect(logged).toMatchObject({ status: 'ok', http: 200, node: living!.node, params: null, result: null });
    expect(logged.steps.map(({ name, node, outcome }) => [name, node, outcome])).toEqual([
      ['authenticate', null, 'ok'],
      ['limit', null, 'ok'],
      ['upstream', expect.stringMatching(/^[ab]$/), 'connection lost'],
      ['upstream', dead!.node === 'a' ? 'b' : 'a', 'ok'],
    ]);
    const times = logged.steps.flatMap(({ startMs, endMs }) => [startMs, endMs]);
    expect(times.every((ms) => ms >= 0)).toBe(true);
    expect(living!.startMs).toBeGreaterThanOrEqual(dead!.endMs);
  });

  it('records requests with an unknown key, without the key but with the address', async () => {
    const { text: stranger } = generateApiKey('rpc');
    await createRpcClient(service.ready.rpcUrl, stranger).call('getBlockHeight');
    const entry = await whole((await found('status=client&method=')).id);
    expect(entry).toMatchObject({ keyId: null, failure: 'INVALID_KEY', http: 403, address: '127.0.0.1' });
    expect(entry.steps).toMatchObject([{ name: 'authenticate', outcome: 'INVALID_KEY' }]);
    expect(JSON.stringify(entry)).not.toContain(stranger);
  });

  it('records params and results for a key that allows it, without secrets', async () => {
    type Created = Readonly<{ secret: string; key: Readonly<{ id: string }> }>;
    const wanted = { product: 'rpc', name: 'open', logsBodies: true };
    const { secret, key } = await api.sendRequest<Created>('POST', '/customers/house/keys', wanted);
    const own = createRpcClient(service.ready.rpcUrl, secret);
    await eventually(async () => (await own.call('getSlot')).status === 200, 'the new key works');
    await own.result('getBalance', [secret, { 'api-key': 'hunter2', commitment: 'confirmed' }]);
    const entry = await whole((await found(`key=${key.id}&method=getBalance`)).id);
    expect(entry.params).toBe(
      '["svc_rpc_live_[redacted]",{"api-key":"[redacted]","commitment":"confirmed"}]',
    );
    expect(entry.result).toBe(BALANCE);
  });

  it('records requests of every protocol', async () => {
    await fetch(`${service.ready.url}/sol/v1/wallet/balance?wallet=nonsense`, {
      headers: { 'x-api-key': service.key },
    });
    const client = await SocketClient.open(`${service.ready.wsUrl}?api-key=${service.key}`);
    await client.call('getSlot');
    await client.call('slotSubscribe');
    client.socket.close();
    expect(await found('method=wallet/balance')).toMatchObject({ status: 'client', http: 400 });
    expect(await found('method=slotSubscribe')).toMatchObject({ http: 0 });
    expect(await found('method=getSlot&status=ok')).toBeDefined();
    if (clickHouseUrl !== undefined) expect(await clickHouse?.countLog(clickHouseUrl)).toBeGreaterThan(2);
  });
});

it('no node gets a customer key, and none is printed after the start', async () => {
  const key = service.key;
  const printed = service.output().length;
  await server.result('getBalance', ['x']);
  await fetch(`${service.ready.rpcUrl}?api-key=${key}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"getBalance","params":["x"]}',
  });
  const requests = nodes.flatMap(({ received }) => received);
  expect(requests.length).toBeGreaterThan(1);
  for (const text of [JSON.stringify(requests), service.output().slice(printed)])
    expect(text).not.toContain(key.slice(-38));
});

describe('/metrics', () => {
  const read = (token: string) =>
    fetch(`${service.ready.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });

  it('requires the token', async () => {
    expect((await read('another')).status).toBe(401);
    expect((await fetch(`${service.ready.url}/metrics`)).status).toBe(401);
    const response = await read(METRICS_TOKEN);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  it('counts calls, reports every node, and contains no secret', async () => {
    for (let i = 0; i < 2; i++) await server.result('getGenesisHash');
    const text = await (await read(METRICS_TOKEN)).text();
    const families = readMetrics(text);
    const sampleOf = (name: string, labels: Record<string, string>) =>
      families.get(name)?.samples.find((sample) => {
        return Object.entries(labels).every(([label, value]) => sample.labels[label] === value);
      })?.value;
    const id = service.ready.keys.find(({ product }) => product === 'rpc')!.id;
    expect(sampleOf('solway_key_requests_total', { key: id, outcome: 'ok' })).toBeGreaterThan(1);
    expect(sampleOf('solway_upstream_cordoned', { node: 'a', network: 'mainnet-beta' })).toBe(0);
    expect(sampleOf('solway_method_requests_total', { method: 'getGenesisHash', status: 'ok' })).toBe(2);
    for (const name of ['solway_upstream_requests_total', 'solway_upstream_request_duration_seconds'])
      expect(
        families.get(name)!.samples.some(({ labels, value }) => labels.node !== undefined && value > 0),
      ).toBe(true);
    expect(sampleOf('solway_answers_total', { what: 'hits' })).toBeGreaterThan(0);
    for (const secret of [METRICS_TOKEN, api.secret, service.key, ...nodes.map(({ url }) => url)]) {
      expect(text).not.toContain(secret);
    }
  });
});

describe('traces', () => {
  it("connect the client's span with each attempt", async () => {
    await server.post('{"jsonrpc":"2.0","id":1,"method":"getBalance","params":["x"]}', {
      traceparent: `00-${TRACE}-${PARENT}-01`,
    });
    const own = await eventually(
      async () => collector.spans.find(({ parentSpanId }) => parentSpanId === PARENT),
      'the span of the request',
    );
    expect(own).toMatchObject({ traceId: TRACE, name: 'getBalance', kind: 2 });
    const inner = collector.spans.filter(({ parentSpanId }) => parentSpanId === own.spanId);
    expect(inner.map(({ name }) => name)).toEqual([
      ...['authenticate', 'limit', expect.stringMatching(/^upstream [ab]$/)],
    ]);
    expect(collector.faults).toEqual([]);
    expect(collector.bodies.join()).not.toContain(service.key);
  });
});
