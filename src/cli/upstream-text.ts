import type { UpstreamCommands } from '../app/commands/upstreams.ts';
import { tableText } from './table-text.ts';

type Listed = Awaited<ReturnType<UpstreamCommands['list']>>;
type AcceptedNode = Awaited<ReturnType<UpstreamCommands['add']>>;
type Node = Listed['nodes'][number];

const HEAD = ['NODE', 'NETWORK', 'STATE', 'FROM', 'FEEDS', 'SLOT', 'BEHIND', 'LATENCY', 'SEEN BY', 'REASON'];

function feedsOf({ hasWs, hasGrpc }: Pick<Node, 'hasWs' | 'hasGrpc'>): string {
  const feeds = [hasWs ? 'ws' : null, hasGrpc ? 'grpc' : null].filter((feed) => feed !== null);
  return feeds.length === 0 ? '-' : feeds.join('+');
}

const rowOf = (node: Node): string[] => [
  node.name,
  node.network,
  node.state,
  node.source,
  feedsOf(node),
  node.slot ?? '-',
  node.lagSlots ?? '-',
  node.latencyMs === null ? '-' : `${Math.round(node.latencyMs)} ms`,
  node.gateway,
  node.reason ?? '',
];

/** Table of nodes: a row per node and gateway, and a row for each added node that no gateway reports. */
export function upstreamTable({ nodes, added }: Listed): string {
  const unseen = added
    .filter(({ name }) => !nodes.some((node) => node.name === name))
    .map((node) => [node.name, node.network, '-', 'added', feedsOf(node), '-', '-', '-', 'no gateway', '']);
  const rows = [...nodes.map(rowOf), ...unseen];
  if (rows.length === 0)
    return 'No gateway reports a node. Start the service, or use --server for a service on another machine.\n';
  return tableText([HEAD, ...rows]);
}

export const APPLIED = 'Every gateway applies this within two seconds.';

function reportLines({ report, notes }: AcceptedNode): string[] {
  const summary =
    report === null
      ? 'The node was not checked.'
      : `The node responds: version ${report.version ?? 'unknown'}, slot ${report.slot ?? 'unknown'}` +
        `${report.latencyMs === null ? '' : `, latency ${Math.round(report.latencyMs)} ms`}.`;
  const findings = (report?.findings ?? []).map(({ finding, remedy }) => `${finding} ${remedy}`);
  return [summary, ...findings, ...notes];
}

export function acceptedNodeText(verb: 'Added' | 'Changed', accepted: AcceptedNode): string {
  const { name, network } = accepted.node;
  const first = `${verb} ${name} (${network}). ${APPLIED}`;
  return `${[first, ...reportLines(accepted)].join('\n')}\n`;
}
