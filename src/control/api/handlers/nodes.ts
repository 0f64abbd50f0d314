import type { Kysely } from 'kysely';
import type { Network } from '../../../protocol/call.ts';
import { ANY_METHOD, patternsOf } from '../../../protocol/method-patterns.ts';
import { countRows, deleteRows, fieldsOf, findRow, selectRows, upsertRow } from '../../database/rows.ts';
import type { Schema } from '../../database/schema.ts';
import type { UpstreamNodeTable } from '../../database/tables/nodes.ts';
import {
  ADDED_NODES_MAX,
  type AddedNode,
  deleteNode,
  insertNode,
  type NodeSeal,
  type NodeSettings,
  readNodeRows,
  updateNode,
} from '../../nodes/added-nodes.ts';
import type { NodeServices } from '../../nodes/node-feed.ts';
import type { NodeCordon } from '../../requests/gateway-heartbeat.ts';
import { readGateways } from '../../requests/read-gateways.ts';
import { ApiError, conflict, invalidField, limitReached, notFound, unknownNetwork } from '../api-error.ts';
import type { ParsedRouteInput } from '../contract/contract.ts';
import type { NodeReportJson } from '../contract/nodes.ts';
import type { NodeJson } from '../contract/operator.ts';
import { type ApiContext, defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { withAudit } from './audit.ts';

const STREAMS_DEGRADED = 'gRPC streams fall back to PubSub and blocks, which carry less data';

/** A cordoned node takes over when no other node is left. */
const isReady = ({ state, drained }: NodeJson): boolean =>
  !drained && (state === 'healthy' || state === 'cordoned');

/** Whether no other node is in service, or no other node is ready. */
function isLastNode(nodes: readonly NodeJson[], name: string): boolean {
  const isLastOf = (those: readonly NodeJson[]): boolean =>
    those.length > 0 && those.every((node) => node.name === name);
  return isLastOf(nodes.filter(({ drained }) => !drained)) || isLastOf(nodes.filter(isReady));
}

/** @param isGone - true: the whole node is lost; false: only its Geyser endpoint. */
async function checkNotLast(
  { store, service }: ApiServices,
  network: Network,
  name: string,
  isGone: boolean,
): Promise<void> {
  const [gateways, drains] = await Promise.all([
    readGateways(store),
    // Gateways take up to two seconds to report a drain.
    selectRows(store.db, 'node_cordon', { network, is_drain: 1 }).execute(),
  ]);
  const drainedNames = new Set(drains.map(({ node }) => node));
  const nodes = gateways.nodes
    .filter((node) => node.network === network)
    .map((node) => ({ ...node, drained: node.drained || drainedNames.has(node.name) }));
  const lastNode = (code: string, what: string, loss: string) =>
    conflict(
      code,
      `${name} is the last ready node of ${network}${what}; without it, ${loss}. Add another node first, or force it.`,
    );
  const own = nodes.find((node) => node.name === name);
  for (const pattern of isGone && own !== undefined ? patternsOf(own) : [])
    if (
      isLastNode(
        nodes.filter((node) => patternsOf(node).includes(pattern)),
        name,
      )
    ) {
      const what = pattern === ANY_METHOD ? '' : ` that serves ${pattern}`;
      throw lastNode('LAST_NODE', what, 'calls fail');
    }
  const streaming = nodes.filter(({ hasGrpc }) => hasGrpc);
  if (network === service().network && isLastNode(streaming, name))
    throw lastNode('LAST_GEYSER_NODE', ' with Geyser', STREAMS_DEGRADED);
}

const addressesOf = ({ url, ws, grpc }: NodeSettings): string[] =>
  [url, ws, grpc].filter((address) => address !== null);

/** Treats ws URLs as http URLs, because both name the same server. */
const originOf = (address: string): string => new URL(address.replace(/^ws/i, 'http')).origin;

const REMEDY =
  'must be given again (or {} for none), because the host, port or scheme changed and stored headers are not sent to a new destination';

/** Stored headers may be credentials, so they must not be sent to another origin when an address changes. */
function checkHeaderTargets(before: NodeSettings, after: NodeSettings, areGiven: boolean): void {
  if (areGiven || Object.keys(before.headers).length === 0) return;
  const previousOrigins = new Set(addressesOf(before).map(originOf));
  if (addressesOf(after).every((address) => previousOrigins.has(originOf(address)))) return;
  throw invalidField('headers', REMEDY);
}

/** @param seal - null: the settings cannot be decrypted here. */
const addedNodeJson = (row: UpstreamNodeTable, seal: NodeSeal | null) => ({
  ...fieldsOf(row, 'name', 'network', 'created_by', 'created_at'),
  hasWs: row.has_ws === 1,
  hasGrpc: row.has_grpc === 1,
  options: seal?.open(row, row.network, row.name)?.options ?? null,
});

const endpointsOf = ({ ws, grpc }: NodeSettings) => ({ hasWs: ws !== null, hasGrpc: grpc !== null });

function requireNodeServices({ nodes }: ApiServices): NodeServices {
  if (nodes !== undefined) return nodes;
  throw new ApiError(503, 'NO_GATEWAY', 'Nodes cannot be changed here. Use a running service.');
}

async function addedRow(services: ApiServices, name: string): Promise<UpstreamNodeTable> {
  const row = await findRow(services.store.db, 'upstream_node', { name });
  if (row !== undefined) return row;
  const { nodes } = await readGateways(services.store);
  const own = requireNodeServices(services).fixed();
  const fixed = [...own, ...nodes].find((node) => node.name === name && node.source !== 'added');
  if (fixed === undefined) throw notFound(`There is no node ${name}. GET /upstreams lists them.`);
  if (fixed.source === 'ledger')
    throw conflict(
      'LEDGER_NODE',
      `${name} is the embedded ledger of development mode; it ends when the service starts with nodes`,
    );
  throw conflict(
    'FILE_NODE',
    `${name} is defined in the configuration. Change it there and reload; until then it can be cordoned or drained.`,
  );
}

function checkNetwork({ service }: ApiServices, network: Network): void {
  const { networks } = service();
  if (!networks.includes(network)) throw unknownNetwork('network', networks);
}

async function checkName(services: ApiServices, db: Kysely<Schema>, name: string): Promise<void> {
  const { fixed } = requireNodeServices(services);
  const isFixed = fixed().some((node) => node.name === name);
  if (!isFixed && (await findRow(db, 'upstream_node', { name })) === undefined) return;
  throw conflict('NAME_TAKEN', `There is a node ${name} already. Choose another name.`, {
    fields: { name: 'This name is already in use.' },
  });
}

/** Nodes of a real network must not be mixed with the embedded ledger, which is another chain. */
function checkLedger(services: ApiServices): void {
  const { fixed } = requireNodeServices(services);
  if (!fixed().some(({ source }) => source === 'ledger')) return;
  throw conflict(
    'LEDGER_NODE',
    'The service runs in development mode. Add the node to the configuration file, or with "solway upstream add" on its machine, and restart.',
  );
}

async function checkNodeQuota(db: Kysely<Schema>): Promise<void> {
  if ((await countRows(db, 'upstream_node', {})) < ADDED_NODES_MAX) return;
  throw limitReached(`The maximum of ${ADDED_NODES_MAX} added nodes has been reached`);
}

async function requireUsable(
  nodeServices: NodeServices,
  node: AddedNode,
  force: boolean,
): Promise<NodeReportJson | null> {
  if (force) return null;
  const report = await nodeServices.probe(node);
  const errors = report.findings.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return report;
  const text = errors.map(({ finding, remedy }) => `${finding} ${remedy}`).join(' ');
  throw new ApiError(422, 'NODE_NOT_FIT', `${text} To add it anyway, force it.`, {
    fields: { url: text },
  });
}

/** Why `add` would reject a node before it probes it. */
async function rejectionsOf(services: ApiServices, name: string | undefined): Promise<ApiError[]> {
  const { db } = services.store;
  const checks = [
    async () => checkLedger(services),
    () => checkNodeQuota(db),
    ...(name === undefined ? [] : [() => checkName(services, db, name)]),
  ];
  const results = await Promise.allSettled(checks.map((check) => check()));
  return results.flatMap((result) => {
    if (result.status === 'fulfilled') return [];
    if (result.reason instanceof ApiError) return [result.reason];
    throw result.reason;
  });
}

/** Returns the findings that `add` would reject the node for, and warnings. */
async function test(
  services: ApiServices,
  { name, ...input }: ParsedRouteInput<'POST /upstreams/test'>['body'],
): Promise<NodeReportJson> {
  const nodeServices = requireNodeServices(services);
  checkNetwork(services, input.network);
  const node = { name: name ?? 'tested', network: input.network };
  const settings = nodeServices.parse({ ...input, ...node });
  const rejections = await rejectionsOf(services, name);
  const report = await nodeServices.probe({ ...node, settings });
  const findings = rejections.map(({ message }) => ({
    severity: 'error' as const,
    finding: message,
    remedy: '',
  }));
  return { ...report, findings: [...findings, ...report.findings] };
}

const toAcceptedNodeJson = (
  node: AddedNode,
  report: NodeReportJson | null,
  created: Readonly<{ createdBy: string; createdAt: number }>,
) => ({
  node: {
    name: node.name,
    network: node.network,
    options: node.settings.options,
    ...endpointsOf(node.settings),
    ...created,
  },
  report,
  // Always empty, because all settings apply without a restart.
  notes: [],
});

const auditDetailOf = ({ name, network, settings }: AddedNode) => ({
  network,
  node: name,
  ...endpointsOf(settings),
  headers: Object.keys(settings.headers).length,
});

async function add(
  services: ApiServices,
  input: ParsedRouteInput<'POST /upstreams'>['body'],
  context: ApiContext,
) {
  const nodeServices = requireNodeServices(services);
  const { network, name, force } = input;
  checkNetwork(services, network);
  checkLedger(services);
  await checkName(services, services.store.db, name);
  const node: AddedNode = { name, network, settings: nodeServices.parse(input) };
  const report = await requireUsable(nodeServices, node, force);
  const at = services.now();
  await withAudit(services, context, async (trx, version) => {
    // Checks again, because the name may have been taken during the probe.
    await checkName(services, trx, name);
    await checkNodeQuota(trx);
    await insertNode(trx, nodeServices.seal, node, { by: context.actor, at, version });
    return [null, { action: 'node.add', customerId: null, detail: { ...auditDetailOf(node), force } }];
  });
  await nodeServices.applyChanges();
  return toAcceptedNodeJson(node, report, { createdBy: context.actor, createdAt: at });
}

const cannotDecrypt = (name: string): ApiError =>
  conflict(
    'UNREADABLE',
    `${name} cannot be decrypted because its pepper is missing. Restore the pepper, or remove the node and add it again.`,
  );

function mergeSettings(
  row: UpstreamNodeTable,
  before: NodeSettings,
  body: ParsedRouteInput<'PATCH /upstreams/{node}'>['body'],
) {
  const { name, network } = row;
  const { url = before.url, headers = before.headers, options = before.options } = body;
  // A derived WebSocket address changes with the URL.
  const currentWs = before.isWsDerived ? undefined : (before.ws ?? 'off');
  const ws = body.ws === undefined ? currentWs : body.ws;
  const grpc = body.grpc === undefined ? before.grpc : body.grpc;
  return { name, network, url, ws, grpc, headers, options };
}

async function change(
  services: ApiServices,
  name: string,
  body: ParsedRouteInput<'PATCH /upstreams/{node}'>['body'],
  context: ApiContext,
) {
  const nodeServices = requireNodeServices(services);
  const row = await addedRow(services, name);
  const { network } = row;
  const before = nodeServices.seal.open(row, network, name);
  if (before === null) throw cannotDecrypt(name);
  const settings = nodeServices.parse(mergeSettings(row, before, body));
  const node: AddedNode = { name, network, settings };
  // Must come before the probe, because the probe already sends the headers.
  checkHeaderTargets(before, settings, body.headers !== undefined);
  const losesGeyser = before.grpc !== null && settings.grpc === null;
  if (losesGeyser && !body.force) await checkNotLast(services, network, name, false);
  const report = await requireUsable(nodeServices, node, body.force);
  await withAudit(services, context, async (trx, version) => {
    const now = await findRow(trx, 'upstream_node', { name });
    if (now?.version !== row.version) throw conflict('CHANGED', `${name} was changed meanwhile. Try again.`);
    await updateNode(trx, nodeServices.seal, node, { at: services.now(), version });
    const fields = ['url', 'ws', 'grpc', 'headers', 'options'] as const;
    const changed = fields.filter((field) => body[field] !== undefined).join(', ');
    const detail = { ...auditDetailOf(node), changed, force: body.force };
    return [null, { action: 'node.change', customerId: null, detail }];
  });
  await nodeServices.applyChanges();
  return toAcceptedNodeJson(node, report, fieldsOf(row, 'created_by', 'created_at'));
}

async function remove(services: ApiServices, name: string, force: boolean, context: ApiContext) {
  const { network } = await addedRow(services, name);
  if (!force) await checkNotLast(services, network, name, true);
  await withAudit(services, context, async (trx) => {
    await deleteNode(trx, network, name);
    return [null, { action: 'node.remove', customerId: null, detail: { network, node: name, force } }];
  });
  await requireNodeServices(services).applyChanges();
  return { done: true as const };
}

export const addedNodeHandlers = (services: ApiServices) =>
  defineHandlers({
    'POST /upstreams': ({ body }, context) => add(services, body, context),
    'POST /upstreams/test': ({ body }) => test(services, body),
    'PATCH /upstreams/{node}': ({ path, body }, context) => change(services, path.node, body, context),
    'DELETE /upstreams/{node}': ({ path, query }, context) =>
      remove(services, path.node, query.force === 'true', context),
  });

async function checkNodeExists({ store }: ApiServices, node: string, network: Network): Promise<void> {
  const { nodes } = await readGateways(store);
  if (nodes.some((one) => one.name === node && one.network === network)) return;
  throw notFound(`No gateway has a node "${node}" on ${network}. GET /upstreams lists the nodes.`);
}

async function cordon(
  services: ApiServices,
  { network, node, reason, isDrain }: NodeCordon,
  context: ApiContext,
) {
  await checkNodeExists(services, node, network);
  return withAudit(services, context, async (trx) => {
    const columns = { reason, actor: context.actor, at: services.now(), is_drain: isDrain ? 1 : 0 };
    await upsertRow(trx, 'node_cordon', { network, node }, columns);
    const action = isDrain ? 'node.drain' : 'node.cordon';
    return [{ done: true as const }, { action, customerId: null, detail: { network, node, reason } }];
  });
}

function uncordon(services: ApiServices, network: Network, node: string, context: ApiContext) {
  return withAudit(services, context, async (trx) => {
    if ((await deleteRows(trx, 'node_cordon', { network, node })) === 0)
      throw conflict('NOT_CORDONED', `${node} of ${network} is neither cordoned nor drained`);
    const detail = { network, node };
    return [{ done: true as const }, { action: 'node.uncordon', customerId: null, detail }];
  });
}

export const upstreamHandlers = (services: ApiServices) =>
  defineHandlers({
    async 'GET /upstreams'() {
      const [reported, rows] = await Promise.all([
        readGateways(services.store),
        readNodeRows(services.store.db),
      ]);
      return { ...reported, added: rows.map((row) => addedNodeJson(row, services.nodes?.seal ?? null)) };
    },
    'POST /upstreams/{node}/cordon': ({ path: { node }, body: { network, reason } }, context) =>
      cordon(services, { network, node, reason, isDrain: false }, context),
    async 'POST /upstreams/{node}/drain'({ path: { node }, body: { network, reason, force } }, context) {
      if (!force) await checkNotLast(services, network, node, true);
      return cordon(services, { network, node, reason, isDrain: true }, context);
    },
    'POST /upstreams/{node}/uncordon': ({ path, body }, context) =>
      uncordon(services, body.network, path.node, context),
  });
