import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RouteOutput } from '../../src/control/api/contract/contract.ts';
import { type PostgresServer, postgresPrograms, startPostgres } from '../control/postgres-server.ts';
import { healthy } from '../upstream/mock/behaviors.ts';
import { type MockNode, startMock } from '../upstream/mock/server.ts';
import { eventually } from './eventually.ts';
import { type OperatorApi, operatorApi } from './operator-token.ts';
import { type RunningService, startService } from './start-service.ts';

/** Within this time, the API lists a problem, or no longer lists one that has ended. */
const PROMISED = { timeoutMs: 5_000, everyMs: 50 };

/** Each test leaves the service without problems. */
describe.skipIf(postgresPrograms === null)('the problems of a running service (needs PostgreSQL)', () => {
  let database: PostgresServer;
  let nodes: MockNode[];
  let service: RunningService;
  let api: OperatorApi;

  beforeAll(async () => {
    database = await startPostgres(postgresPrograms!);
    nodes = await Promise.all([1, 2].map(() => startMock(healthy())));
    const url = await database.createDatabase();
    const upstreams = nodes.map(
      (node, index) =>
        `[[upstream]]\nname = "node-${index + 1}"\nnetwork = "devnet"\nurl = "${node.url}"\nws = "off"\n`,
    );
    service = await startService({
      configuration: `${upstreams.join('')}[store]\ndatabase_url = "${url}"\n`,
    });
    api = await operatorApi(service.ready.url, service.dataDir, { url });
  });
  afterAll(async () => {
    await service.stop();
    await Promise.all(nodes.map((node) => node.close()));
    await database.destroy();
  });

  const problems = async () =>
    (await api.sendRequest<RouteOutput<'GET /problems'>>('GET', '/problems')).problems;
  const expectCodes = (...codes: string[]) =>
    eventually(
      async () => (await problems()).map(({ code }) => code).join() === codes.join(),
      `the problems are: ${codes.join()}`,
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
    expect(Date.now() - problem!.since).toBeLessThan(PROMISED.timeoutMs);
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
    await post('node-1', 'uncordon');
    await post('node-2', 'uncordon');
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
    await database.start();
    await expectCodes();
  });
});
