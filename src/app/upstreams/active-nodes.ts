import type { Logger } from '../../base/log.ts';
import type { Configuration, UpstreamConfiguration } from '../../config/configuration.ts';
import { camelNames } from '../../config/option.ts';
import type { AddedNode } from '../../control/nodes/added-nodes.ts';
import type { FixedNode } from '../../control/nodes/node-feed.ts';
import type { NodeCordon } from '../../control/requests/gateway-heartbeat.ts';
import type { Network } from '../../protocol/call.ts';
import type { UpstreamLimits } from '../../upstream/limits.ts';
import type { NodeConfig, NodesByNetwork } from '../../upstream/node.ts';
import type { UpstreamPool } from '../../upstream/upstream-pool.ts';

export type NetworkNode = NodeConfig & Readonly<{ network: Network; region?: string | null }>;

type NodeOptions = Omit<UpstreamConfiguration, 'network' | 'name' | 'url' | 'ws' | 'grpc' | 'headers'>;

type Source = FixedNode['source'] | 'added';
type SourcedNode = Readonly<{ node: NetworkNode; source: Source }>;

/** Called after each change, with the nodes that feed subscriptions and streams. */
type Follower = (nodes: readonly NodeConfig[]) => void;

/** Facts about a node that are safe to publish, unlike its addresses. */
export type NodeTraits = Readonly<{ source: Source; hasWs: boolean; hasGrpc: boolean }>;

export const toUpstreamConfiguration = ({ name, network, settings }: AddedNode): UpstreamConfiguration => {
  const { url, ws, grpc, headers, options } = settings;
  // The options are complete: they were parsed before the node was stored.
  return { ...(camelNames(options) as NodeOptions), name, network, url, ws, grpc, headers };
};

type ActiveNodesOptions = Readonly<{
  fileNodes: readonly NetworkNode[];
  ledgerNode: NetworkNode | null;
  addedNodes: readonly AddedNode[];
  /** Added nodes of networks beyond `names` are ignored. */
  networks: Pick<Configuration['networks'], 'default' | 'names'>;
  /** Region of this gateway. */
  region?: string | null;
  log: Logger;
}>;

/** All nodes of the service. Passes each change to the pool and the feeds immediately. */
export class ActiveNodes {
  readonly #options: ActiveNodesOptions;
  readonly #followers: Follower[] = [];
  #fileNodes: readonly NetworkNode[];
  #addedNodes: readonly AddedNode[];
  #drained: ReadonlySet<string> = new Set();
  #pool: UpstreamPool | null = null;
  #limits: Partial<UpstreamLimits> = {};
  #sourcedNodes: readonly SourcedNode[] = [];

  constructor(options: ActiveNodesOptions) {
    this.#options = options;
    this.#fileNodes = options.fileNodes;
    this.#addedNodes = options.addedNodes;
    this.#sourcedNodes = this.#collectNodes();
  }

  get byNetwork(): NodesByNetwork {
    const { region: own = null } = this.#options;
    const nodes = this.#sourcedNodes.map(({ node }) => {
      const isRemote = own !== null && node.region != null && node.region !== own;
      return isRemote ? { ...node, isRemote } : node;
    });
    return Object.groupBy(nodes, ({ network }) => network);
  }

  /** Nodes that feed subscriptions and streams: those of the default network that are not drained. */
  get feedingNodes(): readonly NodeConfig[] {
    const { default: defaultNetwork } = this.#options.networks;
    const own = this.byNetwork[defaultNetwork] ?? [];
    return own.filter(({ name }) => !this.#drained.has(`${defaultNetwork}/${name}`));
  }

  get fixedNodes(): readonly FixedNode[] {
    return this.#sourcedNodes.flatMap(({ node: { network, name }, source }) =>
      source === 'added' ? [] : [{ network, name, source }],
    );
  }

  traitsOf(network: Network, name: string): NodeTraits {
    const found = this.#sourcedNodes.find(({ node }) => node.network === network && node.name === name);
    const { ws = null, grpc = null } = found?.node ?? {};
    return { source: found?.source ?? 'file', hasWs: ws !== null, hasGrpc: grpc !== null };
  }

  get addedNames(): readonly string[] {
    return this.#addedNodes.map(({ name }) => name);
  }

  setPool(pool: UpstreamPool, limits: Partial<UpstreamLimits>): void {
    this.#pool = pool;
    this.#limits = limits;
  }

  follow(follower: Follower): void {
    this.#followers.push(follower);
  }

  /** Replaces the nodes and limits from the configuration. Must not throw. */
  setFileNodes(fileNodes: readonly NetworkNode[], limits: Partial<UpstreamLimits>): void {
    this.#fileNodes = fileNodes;
    this.#limits = limits;
    this.#onChange();
  }

  setAddedNodes(addedNodes: readonly AddedNode[]): void {
    this.#addedNodes = addedNodes;
    this.#onChange();
  }

  /** Cordons exactly these nodes, drains those with `isDrain`, and uncordons all others. Must not throw. */
  setCordons(cordons: readonly NodeCordon[]): void {
    const pool = this.#pool;
    if (pool === null) return;
    for (const { network, name, cordoned } of pool.status()) {
      const cordon = cordons.find((one) => one.network === network && one.node === name);
      if (cordon !== undefined) pool.cordon(network, name, cordon.reason);
      else if (cordoned) pool.uncordon(network, name);
    }
    const drains = cordons.filter(({ isDrain }) => isDrain).map(({ network, node }) => `${network}/${node}`);
    if (drains.length === this.#drained.size && drains.every((name) => this.#drained.has(name))) return;
    this.#drained = new Set(drains);
    pool.drain(this.#drained);
    this.#notifyFollowers();
  }

  #collectNodes(): SourcedNode[] {
    const { ledgerNode, networks } = this.#options;
    const nodes: SourcedNode[] = this.#fileNodes.map((node) => ({ node, source: 'file' }));
    if (ledgerNode !== null) nodes.push({ node: ledgerNode, source: 'ledger' });
    const usedNames = new Set(nodes.map(({ node }) => node.name));
    for (const added of this.#addedNodes) {
      const reason = usedNames.has(added.name)
        ? 'the configuration has a node with this name'
        : ledgerNode !== null
          ? 'the service is running on the embedded ledger; restart it to use this node'
          : networks.names.includes(added.network)
            ? null
            : `networks.custom in the configuration does not name ${added.network}`;
      if (reason === null) nodes.push({ node: toUpstreamConfiguration(added), source: 'added' });
      else this.#options.log.error({ node: added.name, reason }, 'Added node ignored');
    }
    return nodes;
  }

  #onChange(): void {
    this.#sourcedNodes = this.#collectNodes();
    this.#pool?.change(this.byNetwork, this.#limits);
    this.#notifyFollowers();
  }

  #notifyFollowers(): void {
    const nodes = this.feedingNodes;
    for (const follower of this.#followers) follower(nodes);
  }
}
