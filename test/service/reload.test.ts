import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runHere } from '../cli/run-solway.ts';
import { healthy } from '../upstream/mock/behaviors.ts';
import { type MockNode, startMock } from '../upstream/mock/server.ts';
import { eventually } from './eventually.ts';
import { type OperatorApi, operatorApi } from './operator-token.ts';
import { createRpcClient } from './rpc-client.ts';
import { type RunningService, startService, withoutShreds } from './start-service.ts';

const SECRET = 'a-provider-key-that-nobody-reads';
type Reloaded = Readonly<{ changed: string[]; restart: string[] }>;

let nodes: MockNode[];
let service: RunningService;
let api: OperatorApi;

const nodeTable = (name: string, { url }: MockNode): string =>
  `[[upstream]]\nname = "${name}"\nurl = "${url}${SECRET}"\nws = "off"\n`;
const configure = (text: string): void => writeFileSync(service.config, withoutShreds(text));

/** An unknown method is neither cached nor coalesced. */
const METHOD = 'getSomethingElse';
const call = () => createRpcClient(service.ready.rpcUrl, service.key).call(METHOD);
const requestCountOf = (node: MockNode): number => node.count(METHOD);

const waitForPoll = (node: MockNode): Promise<boolean> =>
  eventually(async () => {
    const before = requestCountOf(node);
    // Concurrent calls, because the latency of a new node first includes the time to connect.
    await Promise.all(Array.from({ length: 20 }, call));
    return requestCountOf(node) > before;
  }, 'a call that comes to the node');

beforeAll(async () => {
  nodes = await Promise.all([1, 2, 3].map(() => startMock(healthy())));
  service = await startService({ configuration: nodeTable('first', nodes[0]!) });
  api = await operatorApi(service.ready.url, service.dataDir);
});
afterAll(async () => {
  await service.stop();
  await Promise.all(nodes.map((node) => node.close()));
});

it('a running service reloads a valid configuration on SIGHUP and by command, and rejects an invalid one', async () => {
  const [first, second] = nodes as [MockNode, MockNode];
  await waitForPoll(first);
  configure(`${nodeTable('second', second)}[server]\nconnections_max = 20000\n`);
  expect(await api.sendRequest<Reloaded>('POST', '/reload')).toEqual({
    changed: ['upstream'],
    restart: ['server.connections_max'],
  });
  await waitForPoll(second);
  const before = requestCountOf(first);

  configure(`${nodeTable('third', first)}[server]\nbody_max_bytes = 5\n`);
  service.process.kill('SIGHUP');
  await eventually(async () => service.output().includes('Configuration reload rejected'), 'the log says so');
  await expect(api.sendRequest('POST', '/reload')).rejects.toThrow(/409.*server\.body_max_bytes/);
  await waitForPoll(second);
  expect(requestCountOf(first)).toBe(before);

  configure(`${nodeTable('second', second)}${nodeTable('first', first)}[log]\nlevel = "debug"\n`);
  service.process.kill('SIGHUP');
  await waitForPoll(first);
  configure(nodeTable('first', first));
  // Without a token, through the socket in the data folder.
  expect(await runHere(service.dataDir, ['reload', '--data-dir', service.dataDir])).toMatchObject({
    code: 0,
    err: '',
  });
  expect(service.output()).not.toContain(SECRET);
});

it('an added node receives calls within two seconds, and none after its removal', async () => {
  const third = nodes[2]!;
  const node = { network: 'mainnet-beta', name: 'added', url: `${third.url}${SECRET}`, ws: 'off' };
  await api.sendRequest('POST', '/upstreams', node);
  await waitForPoll(third);
  expect(third.received.at(-1)?.path).toBe(`/${SECRET}`);
  const listed = await eventually(async () => {
    const { nodes: all } = await api.sendRequest<{ nodes: { name: string; source: string }[] }>(
      'GET',
      '/upstreams',
    );
    return all.some(({ name, source }) => name === 'added' && source === 'added') && JSON.stringify(all);
  }, 'the node is listed');
  expect(listed).not.toContain(SECRET);
  await api.sendRequest('DELETE', '/upstreams/added');
  await call();
  const before = requestCountOf(third);
  for (let i = 0; i < 20; i++) await call();
  expect(requestCountOf(third)).toBe(before);
  expect(service.output()).not.toContain(SECRET);
});
