import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RouteOutput } from '../../src/control/api/contract/contract.ts';
import { TcpProxy } from '../chaos/tcp-proxy.ts';
import { type ClickHouseServer, clickHouseProgram, startClickHouse } from '../control/clickhouse-server.ts';
import { type PostgresServer, postgresPrograms, startPostgres } from '../control/postgres-server.ts';
import { healthy } from '../upstream/mock/behaviors.ts';
import { type MockNode, startMock } from '../upstream/mock/server.ts';
import { eventually } from './eventually.ts';
import { type OperatorApi, operatorApi } from './operator-token.ts';
import { type RunningService, startService } from './start-service.ts';

/** Within this time, the API lists a problem, or no longer lists one that has ended. */
const PROMISED = { timeoutMs: 5_000, everyMs: 50 };

type Received = Readonly<{ type: string; alert: Readonly<{ id: string; code: string }> }>;

/** Alerts follow their problems sooner than in production. */
const promptAlerts = `
[internal.health]
alert_interval_ms = 100
alert_after_ms = 300
resolve_after_ms = 1_000
[internal.notices]
retry_ms = 100
`;

/** Each test leaves the service without problems. */
describe.skipIf(postgresPrograms === null)('the problems of a running service (needs PostgreSQL)', () => {
  const received: Received[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (text) => (body += text));
    request.on('end', () => {
      received.push(JSON.parse(body) as Received);
      response.writeHead(204).end();
    });
  });
  let database: PostgresServer;
  let clickHouse: ClickHouseServer | null;
  let clickHouseProxy: TcpProxy | null = null;
  let nodes: MockNode[];
  let service: RunningService;
  let api: OperatorApi;

  beforeAll(async () => {
    database = await startPostgres(postgresPrograms!);
    nodes = await Promise.all([1, 2].map(() => startMock(healthy())));
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const { port } = receiver.address() as AddressInfo;
    const url = await database.createDatabase();
    clickHouse = clickHouseProgram === null ? null : await startClickHouse(clickHouseProgram);
    const clickHouseUrl = await proxied(await clickHouse?.createDatabase());
    const upstreams = nodes.map(
      (node, index) =>
        `[[upstream]]\nname = "node-${index + 1}"\nnetwork = "devnet"\nurl = "${node.url}"\nws = "off"\n`,
    );
    service = await startService({
      configuration: [
        '[server]\nstatus_page = true',
        ...upstreams,
        `[store]\ndatabase_url = "${url}"`,
        ...(clickHouseUrl === undefined ? [] : [`clickhouse_url = "${clickHouseUrl}"`]),
        `[notices]\nallow_networks = ["127.0.0.1"]\nports = [${port}]`,
        promptAlerts,
      ].join('\n'),
    });
    api = await operatorApi(service.ready.url, service.dataDir, { url });
    await api.sendRequest('POST', '/alerts/targets', { kind: 'webhook', to: `http://127.0.0.1:${port}/` });
  });
  afterEach(async () => {
    await eventually(
      async () => received.length > 0 && openAlerts().length === 0,
      'every alert of the test is resolved',
    );
    // Each alert was raised once and resolved once.
    for (const [id, messages] of Map.groupBy(received, ({ alert }) => alert.id))
      expect([id, messages.map(({ type }) => type)]).toEqual([id, ['alert.raised', 'alert.resolved']]);
    received.length = 0;
  });
  afterAll(async () => {
    await service.stop();
    receiver.close();
    await Promise.all(nodes.map((node) => node.close()));
    await database.destroy();
    await clickHouseProxy?.close();
    await clickHouse?.destroy();
  });

  async function proxied(target: string | undefined): Promise<string | undefined> {
    if (target === undefined) return undefined;
    const url = new URL(target);
    clickHouseProxy = await TcpProxy.start(Number(url.port));
    url.port = String(clickHouseProxy.port);
    return url.href;
  }
  const openAlerts = () =>
    [...Map.groupBy(received, ({ alert }) => alert.id).values()].filter(
      (messages) => messages.at(-1)?.type === 'alert.raised',
    );
  const expectAlert = (code: string) =>
    eventually(async () => received.some(({ alert }) => alert.code === code), `an alert of ${code}`);

  const problems = async () =>
    (await api.sendRequest<RouteOutput<'GET /problems'>>('GET', '/problems')).problems;
  const expectCodes = (...codes: string[]) =>
    eventually(
      async () => (await problems()).map(({ code }) => code).join() === codes.join(),
      `the problems are: ${codes.join()}`,
      PROMISED,
    );
  const expectStatus = (state: string) =>
    eventually(
      async () => {
        const response = await fetch(`${service.ready.url}/status.json`);
        return ((await response.json()) as { state: string }).state === state;
      },
      `the status is: ${state}`,
      PROMISED,
    );
  const kill = (index: number) => nodes[index]!.close();
  const restart = async (index: number) => {
    nodes[index] = await startMock(healthy(), Number(new URL(nodes[index]!.url).port));
  };

  it('name a node that was killed, then its network, until a node is back', async () => {
    await expectCodes();
    await kill(0);
    await expectCodes('node_unhealthy');
    expect(await problems()).toMatchObject([{ node: 'node-1', network: 'devnet', severity: 'warning' }]);
    await kill(1);
    await expectCodes('no_ready_node');
    const [problem] = await problems();
    expect(problem).toMatchObject({ network: 'devnet', severity: 'error', page: '/upstreams' });
    expect(problem?.gateways).toHaveLength(1);
    await expectStatus('outage');
    expect(Date.now() - problem!.since).toBeLessThan(PROMISED.timeoutMs);
    await expectAlert('no_ready_node');
    await Promise.all([restart(0), restart(1)]);
    await expectCodes();
  });

  it('name the network whose last node is drained', async () => {
    const post = (node: string, action: string, body: object = {}) =>
      api.sendRequest('POST', `/upstreams/${node}/${action}`, { network: 'devnet', ...body });
    await post('node-1', 'drain');
    await expect(post('node-2', 'drain')).rejects.toThrow(/409.*LAST_NODE/);
    await post('node-2', 'drain', { force: true });
    await expectCodes('no_ready_node');
    expect((await problems())[0]?.text).toContain('node-1 is drained');
    await expectAlert('no_ready_node');
    await post('node-1', 'uncordon');
    await post('node-2', 'uncordon');
    await expectCodes();
  });

  it.skipIf(clickHouseProgram === null)('name ClickHouse, without which usage cannot be read', async () => {
    const readUsage = () => api.sendRequest('GET', '/usage/summary');
    await readUsage();
    await clickHouse!.kill();
    await expectCodes('clickhouse_unavailable');
    await expect(readUsage()).rejects.toThrow(/503.*STORE_AWAY/);
    await expectAlert('clickhouse_unavailable');
    await clickHouse!.start();
    await expectCodes();
    await readUsage();
  });

  it.skipIf(clickHouseProgram === null)('name ClickHouse that accepts connections only', async () => {
    clickHouseProxy!.freeze();
    await expectCodes('clickhouse_unavailable');
    await expectAlert('clickhouse_unavailable');
    clickHouseProxy!.thaw();
    await expectCodes();
  });

  it('cannot be listed without the database, which the response says', async () => {
    await database.kill();
    const isAway = () =>
      problems().then(
        () => false,
        (error: Error) => /503.*STORE_AWAY/.test(error.message),
      );
    await eventually(isAway, 'the API says so', PROMISED);
    await expectAlert('database_unavailable');
    await expectStatus('operational');
    await database.start();
    await expectCodes();
  });
});
