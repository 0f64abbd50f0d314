import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { parseNodeSettings } from '../../src/app/upstreams/added-nodes.ts';
import type { NodeReportJson } from '../../src/control/api/contract/nodes.ts';
import type { ApiContext } from '../../src/control/api/handler.ts';
import { addedNodeHandlers, upstreamHandlers } from '../../src/control/api/handlers/nodes.ts';
import type { ApiServices } from '../../src/control/api/services.ts';
import type { Store } from '../../src/control/database/store.ts';
import { type AddedNode, NodeSeal } from '../../src/control/nodes/added-nodes.ts';
import { NodeFeed, type NodeServices, type NodesSnapshot } from '../../src/control/nodes/node-feed.ts';
import type { Peppers } from '../../src/control/pepper.ts';
import { GatewayHeartbeat, type GatewayHooks } from '../../src/control/requests/gateway-heartbeat.ts';
import { testPeppers } from './register.ts';
import { describeOnBothStores, describeOnSqlite } from './stores.ts';

const NOW = 1_700_000_000_000;
const SECRET = 'a-provider-key-that-nobody-reads';
const context = { actor: 'user:op@example.com', address: '192.0.2.9', userAgent: 'test', requestId: 'r1' };

const fit: NodeReportJson = {
  ...{ reachable: true, latencyMs: 3, version: '3.0.0', genesisHash: null, healthy: true },
  ...{ slot: '7', firstAvailableBlock: '0', findings: [] },
};
function gatewayOn(
  store: Store,
  {
    peppers = testPeppers,
    probe = async () => fit,
    source = 'file',
  }: { peppers?: Peppers; probe?: NodeServices['probe']; source?: 'file' | 'ledger' } = {},
) {
  const seal = new NodeSeal(peppers);
  const reported: NodesSnapshot[] = [];
  const feed = new NodeFeed({ store, seal, onNodes: (read) => reported.push(read), pollIntervalMs: 20 });
  const facts: NodeServices = {
    seal,
    fixed: () => [{ network: 'devnet', name: source === 'file' ? 'of-the-file' : 'embedded-ledger', source }],
    parse: parseNodeSettings,
    probe,
    applyChanges: () => feed.refresh(),
  };
  const service = () => ({ network: 'devnet', networks: ['devnet', 'staging'] });
  const services = { store, now: () => NOW, nodes: facts, service } as unknown as ApiServices;
  const requested = { ...context, signal: new AbortController().signal } as unknown as ApiContext;
  const handlers = { ...addedNodeHandlers(services), ...upstreamHandlers(services) };
  return { feed, reported, handlers, requested, names: () => reported.at(-1)?.nodes.map(({ name }) => name) };
}

type Gateway = ReturnType<typeof gatewayOn>;
const body = (more: object = {}) => ({
  network: 'devnet' as const,
  name: 'second',
  url: `https://node.example.com/${SECRET}`,
  headers: { 'x-token': SECRET },
  force: false,
  ...more,
});
const add = ({ handlers, requested }: Gateway, more: object = {}) =>
  handlers['POST /upstreams']({ path: {}, query: null, body: body(more) } as never, requested);
const remove = ({ handlers, requested }: Gateway, node: string, query: object = {}) =>
  handlers['DELETE /upstreams/{node}']({ path: { node }, query, body: null } as never, requested);
const change = ({ handlers, requested }: Gateway, node: string, given: object) =>
  handlers['PATCH /upstreams/{node}'](
    { path: { node }, query: null, body: { force: false, ...given } } as never,
    requested,
  );
const drain = ({ handlers, requested }: Gateway, node: string, more: object = {}) =>
  handlers['POST /upstreams/{node}/drain'](
    { path: { node }, query: null, body: { network: 'devnet', reason: '', force: false, ...more } } as never,
    requested,
  );

async function dump({ db }: Store): Promise<string> {
  const tables = await db.introspection.getTables();
  const rows = await Promise.all(tables.map(({ name }) => sql`select * from ${sql.table(name)}`.execute(db)));
  return JSON.stringify(rows.map((all) => all.rows));
}

const until = (isTrue: () => boolean) => expect.poll(isTrue, { interval: 5, timeout: 5_000 }).toBe(true);

describeOnBothStores('nodes added at run time', (stores) => {
  it('are used by every gateway, updated and removed at the next poll, and restored after a restart', async () => {
    const store = await stores.open();
    const [one, other] = [gatewayOn(store), gatewayOn(store)];
    stores.defer(async () => void (await Promise.all([one.feed.stop(), other.feed.stop()])));
    for (const { feed } of [one, other]) expect((await feed.start()).nodes).toEqual([]);
    other.feed.watch();
    const { node, report } = await add(one);
    expect(one.names()).toEqual(['second']);
    expect(node).toMatchObject({ name: 'second', hasWs: true, hasGrpc: false, createdBy: context.actor });
    expect(report).toEqual(fit);
    await until(() => other.reported.length === 1);
    expect(other.reported[0]!.nodes[0]!.settings).toMatchObject({
      url: `https://node.example.com/${SECRET}`,
      ws: `wss://node.example.com/${SECRET}`,
      headers: { 'x-token': SECRET },
    });
    await change(one, 'second', { url: 'https://node.example.com/other' });
    await until(() => other.reported.length === 2);
    expect(other.reported[1]!.nodes[0]!.settings).toMatchObject({
      ws: 'wss://node.example.com/other',
      headers: { 'x-token': SECRET },
    });
    expect((await gatewayOn(store).feed.start()).nodes).toHaveLength(1);
    await remove(one, 'second');
    await until(() => other.reported.length === 3);
    expect(other.names()).toEqual([]);
  });

  it('never expose their URLs in responses, errors, the audit log or table rows', async () => {
    const store = await stores.open();
    const gateway = gatewayOn(store);
    await gateway.feed.start();
    const answers: unknown[] = [
      await add(gateway),
      await change(gateway, 'second', { ws: `wss://node.example.com/x/${SECRET}` }),
    ];
    const { handlers, requested } = gateway;
    answers.push(await handlers['GET /upstreams']({ path: {}, query: null, body: null } as never, requested));
    const wrong = { name: 'third', url: `ftp://u:${SECRET}@host/${SECRET}`, headers: { 'x y': SECRET } };
    const refusal = await add(gateway, wrong).catch((error: Error & { fields?: object }) => [
      error.message,
      error.fields,
    ]);
    expect(JSON.stringify(refusal)).toContain('is not an http(s) URL');
    const audit = await store.db.selectFrom('audit').selectAll().execute();
    expect(audit.map(({ action }) => action)).toEqual(['node.add', 'node.change']);
    expect(JSON.stringify([...answers, refusal]) + (await dump(store))).not.toContain(SECRET);
  });
});

const liveNode = (name: string, more: object = {}) => ({
  ...{ name, network: 'devnet', state: 'healthy', reason: null, cordoned: false, drained: false },
  ...{ source: 'file', hasWs: true, hasGrpc: false, slot: '1', lagSlots: '0', latencyMs: 1 },
  ...{ inFlight: 0, failuresInRow: 0, silentMs: 0 },
  ...more,
});

describeOnSqlite('changes of nodes added at run time', (stores) => {
  async function heartbeat(store: Store, host: string, more: Partial<GatewayHooks>) {
    const idle = { connections: () => [], laggedMinutes: () => [], setCordons() {}, closeConnection() {} };
    const presence = new GatewayHeartbeat(
      store,
      { nodes: () => [], problems: () => [], ...idle, ...more },
      { host, version: '1' },
    );
    await presence.start();
    stores.defer(() => presence.stop());
    return presence;
  }

  it('never send stored headers to a new URL', async () => {
    const requested: AddedNode[] = [];
    const probe: NodeServices['probe'] = async (node) => {
      requested.push(node);
      return fit;
    };
    const gateway = gatewayOn(await stores.open(), { probe });
    await gateway.feed.start();
    await add(gateway);
    for (const given of [
      { url: 'https://elsewhere.example.com/' },
      { url: 'http://node.example.com/', force: true },
      { ws: 'wss://elsewhere.example.com/' },
      { grpc: 'https://node.example.com:9/' },
    ])
      await expect(change(gateway, 'second', given)).rejects.toMatchObject({
        status: 422,
        fields: { headers: expect.stringContaining('must be given again') },
      });
    expect(requested).toHaveLength(1);
    await change(gateway, 'second', { url: 'https://elsewhere.example.com/', headers: { 'x-token': 'new' } });
    await change(gateway, 'second', { url: 'https://third.example.com/', headers: {} });
    expect(requested.map(({ settings }) => settings.headers['x-token'])).toEqual([SECRET, 'new', undefined]);
    await change(gateway, 'second', { url: 'https://fourth.example.com/' });
  });

  it('require unique names, and settings that are valid in the configuration file', async () => {
    const gateway = gatewayOn(await stores.open());
    await gateway.feed.start();
    await add(gateway);
    await expect(add(gateway)).rejects.toMatchObject({ status: 409, code: 'NAME_TAKEN' });
    await expect(add(gateway, { name: 'of-the-file' })).rejects.toMatchObject({ code: 'NAME_TAKEN' });
    await expect(add(gateway, { name: 'x', options: { speed: 3 } })).rejects.toMatchObject({
      status: 422,
      fields: { speed: expect.stringContaining('no such option') },
    });
    await expect(
      add(gateway, { name: 'x', options: { methods: ['getBlock', 'logsSubscribe'] } }),
    ).rejects.toMatchObject({
      fields: { methods: expect.stringContaining('subscription methods cannot be routed') },
    });
    await expect(add(gateway, { name: 'x', url: 'env:HOME' })).rejects.toMatchObject({ status: 422 });
    const unusable = { name: 'x', url: 'http://u:50%off@127.0.0.1:1/#x', force: true };
    await expect(add(gateway, unusable)).rejects.toMatchObject({ status: 422 });
  });

  it('are re-encrypted under a new pepper, and reported when their pepper is missing', async () => {
    const store = await stores.open();
    const first = gatewayOn(store);
    await first.feed.start();
    await add(first);
    const secret = (version: number): [number, Buffer] => [
      version,
      Buffer.alloc(32, version === 1 ? 7 : version),
    ];
    const both = { current: 2, secrets: new Map([secret(1), secret(2)]) };
    expect((await gatewayOn(store, { peppers: both }).feed.start()).nodes).toHaveLength(1);
    const only = { current: 2, secrets: new Map([secret(2)]) };
    expect((await gatewayOn(store, { peppers: only }).feed.start()).nodes).toHaveLength(1);
    const lost = await gatewayOn(store).feed.start();
    expect(lost).toEqual({ nodes: [], unreadable: ['second'] });
  });

  it('need force to drain the last ready node, even beside nodes that are failing', async () => {
    const store = await stores.open();
    const gateway = gatewayOn(store);
    const nodes = () => [
      liveNode('of-the-file'),
      liveNode('second', { state: 'failing' }),
      liveNode('third'),
    ];
    await heartbeat(store, 'a', { nodes });
    await drain(gateway, 'third');
    // Although the gateway has not yet reported the drain.
    await expect(drain(gateway, 'of-the-file')).rejects.toMatchObject({ code: 'LAST_NODE' });
    await drain(gateway, 'second');
  });

  it('are rejected by a test for the same reasons as when they are added', async () => {
    const finding = {
      severity: 'error' as const,
      finding: 'It is on another network.',
      remedy: 'Change it.',
    };
    const probe = async () => ({ ...fit, findings: [finding] });
    const gateway = gatewayOn(await stores.open(), { probe });
    await gateway.feed.start();
    const test = async (more: object) => {
      const { name, network, url, headers } = body(more);
      const given = { path: {}, query: null, body: { name, network, url, headers } } as never;
      const { findings } = await gateway.handlers['POST /upstreams/test'](given, gateway.requested);
      return findings.map((one) => one.finding);
    };
    await expect(add(gateway)).rejects.toMatchObject({ message: expect.stringContaining(finding.finding) });
    const elsewhere = { fields: { network: 'must be one of devnet, staging' } };
    await expect(add(gateway, { network: 'other' })).rejects.toMatchObject(elsewhere);
    await expect(test({ network: 'other' })).rejects.toMatchObject(elsewhere);
    expect(await test({ network: 'staging' })).toEqual([finding.finding]);
    expect(await test({})).toEqual([finding.finding]);
    const taken = await add(gateway, { name: 'of-the-file' }).catch((error: Error) => error.message);
    expect(await test({ name: 'of-the-file' })).toEqual([taken, finding.finding]);
  });

  it('can also drain configured nodes in every gateway, the last one of a network only by force', async () => {
    const store = await stores.open();
    const gateway = gatewayOn(store);
    const reported: unknown[] = [];
    const presence = await heartbeat(store, 'a', {
      nodes: () => [liveNode('of-the-file'), liveNode('second', { drained: true })],
      setCordons: (cordons) => reported.push(cordons),
    });
    await expect(drain(gateway, 'of-the-file')).rejects.toMatchObject({ status: 409, code: 'LAST_NODE' });
    await drain(gateway, 'of-the-file', { force: true, reason: 'new disks' });
    await presence.refresh();
    expect(reported.at(-1)).toEqual([
      { network: 'devnet', node: 'of-the-file', reason: 'new disks', isDrain: true },
    ]);
    const audit = await store.db.selectFrom('audit').select('action').execute();
    expect(audit).toEqual([{ action: 'node.drain' }]);
  });

  it('can drain the last node that serves a method only by force', async () => {
    const store = await stores.open();
    const gateway = gatewayOn(store);
    const routed = liveNode('second', { methods: ['getToken*'] });
    await heartbeat(store, 'a', { nodes: () => [liveNode('of-the-file'), liveNode('third'), routed] });
    await expect(drain(gateway, 'second')).rejects.toMatchObject({
      code: 'LAST_NODE',
      message: expect.stringContaining('second is the last ready node of devnet that serves getToken*'),
    });
    await drain(gateway, 'of-the-file');
    await drain(gateway, 'second', { force: true });
  });

  it('can drain, change or remove the last Geyser node of a network only by force', async () => {
    const store = await stores.open();
    const gateway = gatewayOn(store);
    await gateway.feed.start();
    await add(gateway, { grpc: 'http://127.0.0.1:10000' });
    const geyser = { hasGrpc: true };
    const third = liveNode('third', { ...geyser, network: 'testnet' });
    await heartbeat(store, 'a', {
      nodes: () => [liveNode('of-the-file'), liveNode('second', geyser), third],
    });
    const refusal = { status: 409, code: 'LAST_GEYSER_NODE' };
    await expect(drain(gateway, 'second')).rejects.toMatchObject(refusal);
    await expect(change(gateway, 'second', { grpc: null })).rejects.toMatchObject(refusal);
    await expect(remove(gateway, 'second')).rejects.toMatchObject(refusal);
    await drain(gateway, 'of-the-file');
    await heartbeat(store, 'b', { nodes: () => [liveNode('fourth', geyser)] });
    await change(gateway, 'second', { grpc: null });
    await drain(gateway, 'second');
  });
});
