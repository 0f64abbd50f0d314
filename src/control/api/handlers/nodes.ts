import type { Kysely } from 'kysely';
import type { Network } from '../../../protocol/call.ts';
import type { Schema } from '../../database/schema.ts';
import type { UpstreamNodeTable } from '../../database/tables/nodes.ts';
import {
  ADDED_NODES_MAX,
  type AddedNode,
  countNodes,
  deleteNode,
  findNodeRow,
  insertNode,
  type NodeSeal,
  type NodeSettings,
  readNodeRows,
  updateNode,
} from '../../nodes/added-nodes.ts';
import type { NodeReport, NodeServices } from '../../nodes/node-feed.ts';
import { cordonNode, uncordonNode } from '../../requests/gateway-heartbeat.ts';
import { readGateways } from '../../requests/read-gateways.ts';
import { ApiError } from '../api-error.ts';
import type { ParsedRouteInput } from '../contract/contract.ts';
import type { NodeJson } from '../contract/operator.ts';
import type { ApiContext, Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { withAudit } from './audit.ts';

const STREAMS_DEGRADED = 'gRPC streams end, and go on from PubSub and blocks, which tell less';

/** Those of a network that are in service, in any gateway. */
async function inService({ store }: ApiServices, network: Network): Promise<readonly NodeJson[]> {
  const { nodes } = await readGateways(store);
  return nodes.filter((node) => node.network === network && !node.drained);
}

/**
 * A network without a node answers nobody, and the one that streams are fed from without Geyser tells them less: a
 * last node is drained or removed on purpose only.
 * @throws ApiError 409
 */
async function checkNotLast(services: ApiServices, network: Network, name: string): Promise<void> {
  const nodes = await inService(services, network);
  if (nodes.length === 0 || nodes.some((node) => node.name !== name)) {
    checkGeyserStays(services, network, name, nodes);
    return;
  }
  throw new ApiError(
    409,
    'LAST_NODE',
    `${name} is the last node of ${network}, and without it no call is answered: add another first, or force it`,
  );
}

/** @throws ApiError 409 when the node is the last with Geyser of those that gRPC streams are fed from. */
async function checkNotLastGeyser(services: ApiServices, network: Network, name: string): Promise<void> {
  checkGeyserStays(services, network, name, await inService(services, network));
}

function checkGeyserStays(
  { service }: ApiServices,
  network: Network,
  name: string,
  nodes: readonly NodeJson[],
): void {
  const servers = nodes.filter(({ hasGrpc }) => hasGrpc);
  if (network !== service.network) return;
  if (servers.length === 0 || servers.some((node) => node.name !== name)) return;
  throw new ApiError(
    409,
    'LAST_GEYSER_NODE',
    `${name} is the last node of ${network} with Geyser, and without it ${STREAMS_DEGRADED}: add another first, or force it`,
  );
}

const addressesOf = ({ url, ws, grpc }: NodeSettings): string[] =>
  [url, ws, grpc].filter((address) => address !== null);

/** Who gets what is sent there, and whether others can read it on its way: the same for http and ws. */
const originOf = (address: string): string => new URL(address.replace(/^ws/i, 'http')).origin;

const REMEDY =
  'another host, port or scheme does not get the headers that were kept for the one before: give them again, or {} for none';

/**
 * Headers are credentials that are shown to nobody: whoever may change where a node is must not have them sent to a
 * place of their own.
 * @throws ApiError 422
 */
function checkHeaderTargets(before: NodeSettings, after: NodeSettings, areGiven: boolean): void {
  if (areGiven || Object.keys(before.headers).length === 0) return;
  const previousOrigins = new Set(addressesOf(before).map(originOf));
  if (addressesOf(after).every((address) => previousOrigins.has(originOf(address)))) return;
  throw new ApiError(422, 'INVALID_FIELDS', `headers: ${REMEDY}`, { fields: { headers: REMEDY } });
}

type AddedNodeRoutes =
  | 'POST /upstreams'
  | 'POST /upstreams/test'
  | 'PATCH /upstreams/{node}'
  | 'DELETE /upstreams/{node}';

/** How an added node is shown: nothing of where it is. @param seal - null where none opens it here. */
const addedNodeJson = (row: UpstreamNodeTable, seal: NodeSeal | null) => ({
  name: row.name,
  network: row.network,
  hasWs: row.has_ws === 1,
  hasGrpc: row.has_grpc === 1,
  options: seal?.open(row)?.settings.options ?? null,
  createdBy: row.created_by,
  createdAt: row.created_at,
});

/** @throws ApiError 503 */
function requireNodeServices({ nodes }: ApiServices): NodeServices {
  if (nodes !== undefined) return nodes;
  throw new ApiError(503, 'NO_GATEWAY', 'nodes cannot be changed from here: ask a running service');
}

/** Whoever asks for a node that is not an added one is told whose it is. @throws ApiError 404, 409 */
async function addedRow(services: ApiServices, name: string): Promise<UpstreamNodeTable> {
  const row = await findNodeRow(services.store.db, name);
  if (row !== undefined) return row;
  const { nodes } = await readGateways(services.store);
  const own = requireNodeServices(services).fixed();
  const fixed = [...own, ...nodes].find((node) => node.name === name && node.source !== 'added');
  if (fixed === undefined)
    throw new ApiError(404, 'NOT_FOUND', `there is no node ${name}: GET /upstreams names them`);
  if (fixed.source === 'ledger')
    throw new ApiError(
      409,
      'LEDGER_NODE',
      `${name} is the embedded ledger of development mode: it ends when the service starts with nodes`,
    );
  throw new ApiError(
    409,
    'FILE_NODE',
    `${name} stands in the configuration: change it there and reload; until then it can be cordoned or drained`,
  );
}

/** A name stands for one node wherever it is seen. @throws ApiError 409 */
async function checkName(services: ApiServices, db: Kysely<Schema>, name: string): Promise<void> {
  const isFixed = requireNodeServices(services)
    .fixed()
    .some((node) => node.name === name);
  if (!isFixed && (await findNodeRow(db, name)) === undefined) return;
  throw new ApiError(409, 'NAME_TAKEN', `there is a node ${name} already: give another name`, {
    fields: { name: 'is taken: give another' },
  });
}

/** Two chains must not answer as one. @throws ApiError 409 */
function checkLedger(services: ApiServices): void {
  const { fixed } = requireNodeServices(services);
  if (!fixed().some(({ source }) => source === 'ledger')) return;
  throw new ApiError(
    409,
    'LEDGER_NODE',
    'the service runs in development mode: add the node to the configuration file, or with "solway upstream add" on its machine, and restart',
  );
}

/** @throws ApiError 409 */
async function checkNodeQuota(db: Kysely<Schema>): Promise<void> {
  if ((await countNodes(db)) < ADDED_NODES_MAX) return;
  throw new ApiError(409, 'LIMIT', `there are ${ADDED_NODES_MAX} added nodes and no more are allowed`);
}

/** A node that is no use is taken only on purpose. @throws ApiError 422 with what was found */
async function probed(
  nodeServices: NodeServices,
  node: AddedNode,
  force: boolean,
): Promise<NodeReport | null> {
  if (force) return null;
  const report = await nodeServices.probe(node);
  const errors = report.findings.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return report;
  const text = errors.map(({ finding, remedy }) => `${finding} ${remedy}`).join(' ');
  throw new ApiError(422, 'NODE_NOT_FIT', `${text} To take it all the same, force it.`, {
    fields: { url: text },
  });
}

const reportJson = (report: NodeReport) => ({ ...report, findings: [...report.findings] });

const toAcceptedNodeJson = (
  nodeServices: NodeServices,
  node: AddedNode,
  report: NodeReport | null,
  by: Pick<UpstreamNodeTable, 'created_by' | 'created_at'>,
) => ({
  node: {
    name: node.name,
    network: node.network,
    hasWs: node.settings.ws !== null,
    hasGrpc: node.settings.grpc !== null,
    options: node.settings.options,
    createdBy: by.created_by,
    createdAt: by.created_at,
  },
  report: report === null ? null : reportJson(report),
  notes: [...nodeServices.notesOf(node)],
});

/** What the audit log says of a node: nothing of where it is. */
const auditDetailOf = ({ name, network, settings }: AddedNode) => ({
  network,
  node: name,
  hasWs: settings.ws !== null,
  hasGrpc: settings.grpc !== null,
  headers: Object.keys(settings.headers).length,
});

async function add(
  services: ApiServices,
  given: ParsedRouteInput<'POST /upstreams'>['body'],
  context: ApiContext,
) {
  const nodeServices = requireNodeServices(services);
  const { network, name, force } = given;
  checkLedger(services);
  await checkName(services, services.store.db, name);
  const node: AddedNode = { name, network, settings: nodeServices.parse(given) };
  const report = await probed(nodeServices, node, force);
  const at = services.now();
  await withAudit(services, context, async (trx, version) => {
    // Somebody may have been quicker while it was asked.
    await checkName(services, trx, name);
    await checkNodeQuota(trx);
    await insertNode(trx, nodeServices.seal, node, { by: context.actor, at, version });
    return [null, { action: 'node.add', customerId: null, detail: { ...auditDetailOf(node), force } }];
  });
  await nodeServices.applyChanges();
  return toAcceptedNodeJson(nodeServices, node, report, { created_by: context.actor, created_at: at });
}

const lost = (name: string): ApiError =>
  new ApiError(
    409,
    'UNREADABLE',
    `${name} was kept under a pepper that is not here: remove it and add it again, or bring the pepper back`,
  );

/** What is left out stays as it was. */
function merged(
  row: UpstreamNodeTable,
  before: NodeSettings,
  body: ParsedRouteInput<'PATCH /upstreams/{node}'>['body'],
) {
  const { name, network } = row;
  const { url = before.url, headers = before.headers, options = before.options } = body;
  // An address that was derived from the old URL does not outlive it.
  const currentSettings = before.isWsDerived ? undefined : (before.ws ?? 'off');
  const ws = body.ws === undefined ? currentSettings : body.ws;
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
  const before = nodeServices.seal.open(row);
  if (before === null) throw lost(name);
  const { network } = row;
  const node: AddedNode = { name, network, settings: nodeServices.parse(merged(row, before.settings, body)) };
  // Before it is asked who it is, for that is asked with them.
  checkHeaderTargets(before.settings, node.settings, body.headers !== undefined);
  const losesGeyser = before.settings.grpc !== null && node.settings.grpc === null;
  if (losesGeyser && !body.force) await checkNotLastGeyser(services, network, name);
  const report = await probed(nodeServices, node, body.force);
  await withAudit(services, context, async (trx, version) => {
    const now = await findNodeRow(trx, name);
    if (now?.version !== row.version)
      throw new ApiError(409, 'CHANGED', `${name} was changed by somebody else meanwhile: try again`);
    await updateNode(trx, nodeServices.seal, node, { at: services.now(), version });
    const fields = ['url', 'ws', 'grpc', 'headers', 'options'] as const;
    const changed = fields.filter((field) => body[field] !== undefined).join(', ');
    const detail = { ...auditDetailOf(node), changed, force: body.force };
    return [null, { action: 'node.change', customerId: null, detail }];
  });
  await nodeServices.applyChanges();
  return toAcceptedNodeJson(nodeServices, node, report, row);
}

async function remove(services: ApiServices, name: string, force: boolean, context: ApiContext) {
  const { network } = await addedRow(services, name);
  if (!force) await checkNotLast(services, network, name);
  await withAudit(services, context, async (trx) => {
    await deleteNode(trx, network, name);
    return [null, { action: 'node.remove', customerId: null, detail: { network, node: name, force } }];
  });
  await requireNodeServices(services).applyChanges();
  return { done: true as const };
}

/** Nodes that are added, changed and removed while the service runs. */
export const addedNodeHandlers = (services: ApiServices): Handlers<AddedNodeRoutes> => ({
  'POST /upstreams': ({ body }, context) => add(services, body, context),
  async 'POST /upstreams/test'({ body }) {
    const nodeServices = requireNodeServices(services);
    const settings = nodeServices.parse({ ...body, name: 'tested' });
    return reportJson(await nodeServices.probe({ name: 'tested', network: body.network, settings }));
  },
  'PATCH /upstreams/{node}': ({ path, body }, context) => change(services, path.node, body, context),
  'DELETE /upstreams/{node}': ({ path, query }, context) =>
    remove(services, path.node, query.force === 'true', context),
});

type UpstreamRoutes =
  | 'GET /upstreams'
  | 'POST /upstreams/{node}/cordon'
  | 'POST /upstreams/{node}/uncordon'
  | 'POST /upstreams/{node}/drain';

/** @throws ApiError 404 */
async function checkNodeExists({ store }: ApiServices, node: string, network: Network): Promise<void> {
  const { nodes } = await readGateways(store);
  if (nodes.some((one) => one.name === node && one.network === network)) return;
  throw new ApiError(
    404,
    'NOT_FOUND',
    `no gateway has a node ${node} of ${network}: GET /upstreams names them`,
  );
}

/** The nodes behind the service, and the operator's word on them. */
export const upstreamHandlers = (services: ApiServices): Handlers<UpstreamRoutes> => ({
  async 'GET /upstreams'() {
    const [reported, rows] = await Promise.all([
      readGateways(services.store),
      readNodeRows(services.store.db),
    ]);
    return { ...reported, added: rows.map((row) => addedNodeJson(row, services.nodes?.seal ?? null)) };
  },
  async 'POST /upstreams/{node}/cordon'({ path: { node }, body: { network, reason } }, context) {
    await checkNodeExists(services, node, network);
    const cordon = { network, node, reason, isDrain: false };
    await cordonNode(services.store, cordon, context, services.now());
    return { done: true };
  },
  async 'POST /upstreams/{node}/drain'({ path: { node }, body: { network, reason, force } }, context) {
    await checkNodeExists(services, node, network);
    if (!force) await checkNotLast(services, network, node);
    const drain = { network, node, reason, isDrain: true };
    await cordonNode(services.store, drain, context, services.now());
    return { done: true };
  },
  async 'POST /upstreams/{node}/uncordon'({ path: { node }, body: { network } }, context) {
    const { store, now } = services;
    if (await uncordonNode(store, { network, node }, context, now())) return { done: true };
    throw new ApiError(409, 'NOT_CORDONED', `${node} of ${network} is neither cordoned nor drained`);
  },
});
