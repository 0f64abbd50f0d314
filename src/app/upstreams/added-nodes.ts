import type { Logger } from '../../base/log.ts';
import {
  type Configuration,
  type UpstreamConfiguration,
  websocketUrlOf,
} from '../../config/configuration.ts';
import { problemsFrom } from '../../config/errors.ts';
import { upstreamNode } from '../../config/schema.ts';
import { WS_OFF } from '../../config/value-types.ts';
import { invalidFields } from '../../control/api/api-error.ts';
import type { NodeReportJson } from '../../control/api/contract/nodes.ts';
import type { Store } from '../../control/database/store.ts';
import { type AddedNode, NodeSeal, type NodeSettings } from '../../control/nodes/added-nodes.ts';
import {
  NodeFeed,
  type NodeInput,
  type NodeServices,
  type NodesSnapshot,
} from '../../control/nodes/node-feed.ts';
import type { Peppers } from '../../control/pepper.ts';
import { type GenesisHashes, genesisHashesWith } from '../../upstream/genesis-hash.ts';
import { probeNode } from '../../upstream/probe/probe-node.ts';
import { probePubsub } from '../../upstream/probe/probe-pubsub.ts';
import { probeGeyser } from '../../upstream/probe/probe-streams.ts';
import { logStateChange } from '../log-state-change.ts';
import { type ActiveNodes, toUpstreamConfiguration } from './active-nodes.ts';

/** Timeout for one request of a probe. A probe sends its requests one after another. */
const PROBE_TIMEOUT_MS = 4_000;

/** API fields have the same names as configuration options. */
const sourceOf = (field: string) => ({ source: '', field });

/**
 * Parses node settings like those in the configuration, but rejects `env:` and `file:` references: a remote caller must
 * not be able to read the environment or files of the service. @throws ApiError 422
 */
export function parseNodeSettings(input: NodeInput): NodeSettings {
  const { network, name, url, ws, grpc, headers = {}, options = {} } = input;
  const read = upstreamNode.safeParse({ ...options, network, name, url, ws, grpc, headers });
  if (!read.success) {
    const problems = problemsFrom(read.error, sourceOf);
    // A fault in an item of a list is shown beside the list.
    const fields = Object.fromEntries(
      problems.map(({ field, message }) => [field.replace(/\[\d+\]$/, ''), message]),
    );
    const text = problems.map(({ field, message }) => `${field}: ${message}`).join('; ');
    throw invalidFields(text, fields);
  }
  const { network: _, name: __, url: ___, headers: ____, ...more } = read.data;
  const { ws: address, grpc: geyser, ...complete } = more;
  return {
    url,
    ws: address === WS_OFF ? null : (address ?? websocketUrlOf(url)),
    isWsDerived: address === null,
    grpc: geyser,
    headers,
    options: complete,
  };
}

type Findings = NodeReportJson['findings'];

async function pubsubFindings(node: UpstreamConfiguration): Promise<Findings> {
  if (node.ws === null) return [];
  const { fault } = await probePubsub(node, PROBE_TIMEOUT_MS);
  if (fault === null) return [];
  const finding = `PubSub delivered no notifications (${fault}).`;
  // A derived URL was not entered by the operator.
  const severity = node.ws === websocketUrlOf(node.url) ? 'warning' : 'error';
  return [{ severity, finding, remedy: 'Enter the correct PubSub URL, or off.' }];
}

async function geyserFindings({ grpc, ...node }: UpstreamConfiguration): Promise<Findings> {
  if (typeof grpc !== 'string') return [];
  const { fault } = await probeGeyser({ ...node, grpc }, PROBE_TIMEOUT_MS);
  if (fault === null) return [];
  const finding = `Geyser delivered no updates (${fault}).`;
  return [{ severity: 'error', finding, remedy: 'Check the Geyser URL and the headers.' }];
}

async function probe(added: AddedNode, genesisHashes: GenesisHashes): Promise<NodeReportJson> {
  const node = toUpstreamConfiguration(added);
  const [report, pubsub, geyser] = await Promise.all([
    probeNode(node, node.network, PROBE_TIMEOUT_MS, genesisHashes),
    pubsubFindings(node),
    geyserFindings(node),
  ]);
  const feeds = report.reachable ? [...pubsub, ...geyser] : [];
  const text = (slot: bigint | null): string | null => (slot === null ? null : String(slot));
  const { reachable, latencyMs, version, genesisHash, healthy } = report;
  return {
    ...{ reachable, latencyMs, version, genesisHash, healthy },
    slot: text(report.slot),
    firstAvailableBlock: text(report.firstAvailableBlock),
    findings: [...report.findings, ...feeds],
  };
}

const nodeChecks = (custom: Configuration['networks']['custom']): Pick<NodeServices, 'parse' | 'probe'> => {
  const genesisHashes = genesisHashesWith(custom);
  return { parse: parseNodeSettings, probe: (added) => probe(added, genesisHashes) };
};

/** Node services for a control API without a gateway. `fixed` lists the nodes in the configuration. */
export const offlineNodeFacts = ({ upstreams, networks }: Configuration, peppers: Peppers): NodeServices => ({
  ...nodeChecks(networks.custom),
  seal: new NodeSeal(peppers),
  fixed: () => upstreams.map(({ network, name }) => ({ network, name, source: 'file' as const })),
  applyChanges: async () => {},
});

export async function readAddedNodes(store: Store, peppers: Peppers): Promise<NodesSnapshot> {
  return new NodeFeed({ store, seal: new NodeSeal(peppers), onNodes: () => {} }).start();
}

/** @throws the driver's error */
export async function openAddedNodes(
  { networks }: Configuration,
  { store, peppers }: Readonly<{ store: Store; peppers: Peppers }>,
  log: Logger,
) {
  const seal = new NodeSeal(peppers);
  let followingNodes: ActiveNodes | null = null;
  const logUnreadable = (names: readonly string[]): void => {
    if (names.length === 0) return;
    log.error({ nodes: names }, 'Added nodes are sealed under a missing pepper: add them again');
  };
  const feed = new NodeFeed({
    store,
    seal,
    onNodes({ nodes, unreadable }) {
      logUnreadable(unreadable);
      followingNodes?.setAddedNodes(nodes);
      log.info({ nodes: nodes.map(({ name }) => name) }, 'Added nodes changed');
    },
    onState: logStateChange(log, 'Failed to read added nodes', 'Reading added nodes recovered'),
  });
  const { nodes, unreadable } = await feed.start();
  logUnreadable(unreadable);
  return {
    /** Nodes found in the store at startup. */
    nodes,
    nodeFacts: (activeNodes: ActiveNodes): NodeServices => ({
      ...nodeChecks(networks.custom),
      seal,
      fixed: () => activeNodes.fixedNodes,
      applyChanges: () => feed.refresh(),
    }),
    /** Starts applying node changes in the store to `activeNodes`. */
    follow(activeNodes: ActiveNodes) {
      followingNodes = activeNodes;
      feed.watch();
    },
    stop: () => feed.stop(),
  };
}
