import type { Kysely } from 'kysely';
import type { Schema } from '../../database/schema.ts';
import type { UpstreamNodeTable } from '../../database/tables/nodes.ts';
import {
  ADDED_NODES_MAX,
  countNodes,
  deleteNode,
  findNodeRow,
  insertNode,
  updateNode,
} from '../../nodes/added-nodes.ts';
import type { AddedNode, NodeSeal, NodeSettings } from '../../nodes/node-seal.ts';
import type { NodeReport, NodeServices } from '../../nodes/node-services.ts';
import { readGateways } from '../../requests/read-gateways.ts';
import { ApiError } from '../api-error.ts';
import type { ParsedRouteInput } from '../contract/contract.ts';
import type { ApiContext, Handlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { checkHeaderTargets } from './check-header-targets.ts';
import { checkNotLast, checkNotLastGeyser } from './last-node.ts';
import { withAudit } from './with-audit.ts';

type Names =
  | 'POST /upstreams'
  | 'POST /upstreams/test'
  | 'PATCH /upstreams/{node}'
  | 'DELETE /upstreams/{node}';

/** How an added node is shown: nothing of where it is. @param seal - null where none opens it here. */
export const addedNodeJson = (row: UpstreamNodeTable, seal: NodeSeal | null) => ({
  name: row.name,
  network: row.network,
  hasWs: row.has_ws === 1,
  hasGrpc: row.has_grpc === 1,
  options: seal?.open(row)?.settings.options ?? null,
  createdBy: row.created_by,
  createdAt: row.created_at,
});

/** @throws ApiError 503 */
export function requireNodeServices({ nodes }: ApiServices): NodeServices {
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
export const addedNodeHandlers = (services: ApiServices): Handlers<Names> => ({
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
