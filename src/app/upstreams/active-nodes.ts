import type { Logger } from '../../base/log.ts';
import type { UpstreamConfiguration } from '../../config/configuration.ts';
import { camelNames } from '../../config/option.ts';
import type { AddedNode } from '../../control/nodes/added-nodes.ts';
import type { FixedNode } from '../../control/nodes/node-feed.ts';
import type { NodeCordon } from '../../control/requests/gateway-heartbeat.ts';
import type { Network } from '../../protocol/call.ts';
import type { UpstreamLimits } from '../../upstream/limits.ts';
import type { NodeConfig, NodesByNetwork } from '../../upstream/node.ts';
import type { UpstreamPool } from '../../upstream/upstream-pool.ts';

export type NetworkNode = NodeConfig & Readonly<{ network: Network }>;

type NodeOptions = Omit<UpstreamConfiguration, 'network' | 'name' | 'url' | 'ws' | 'grpc' | 'headers'>;

type Source = FixedNode['source'] | 'added';
type Origin = Readonly<{ node: NetworkNode; source: Source }>;

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
  file: readonly NetworkNode[];
  ledger: NetworkNode | null;
  added: readonly AddedNode[];
  defaultNetwork: Network;
  log: Logger;
}>;

/** All nodes of the service. Passes each change to the pool and the feeds immediately. */
export class ActiveNodes {
  readonly #options: ActiveNodesOptions;
  readonly #followers: Follower[] = [];
  #file: readonly NetworkNode[];
  #added: readonly AddedNode[];
  #drained: ReadonlySet<string> = new Set();
  #pool: UpstreamPool | null = null;
  #limits: Partial<UpstreamLimits> = {};
  #origins: readonly Origin[] = [];

  constructor(options: ActiveNodesOptions) {
    this.#options = options;
    this.#file = options.file;
    this.#added = options.added;
    this.#origins = this.#findOrigins();
  }

  get byNetwork(): NodesByNetwork {
    const nodes: readonly NetworkNode[] = this.#origins.map(({ node }) => node);
    return Object.groupBy(nodes, ({ network }) => network);
  }

  /** Nodes that feed subscriptions and streams: those of the default network that are not drained. */
  get feeding(): readonly NodeConfig[] {
    const { defaultNetwork } = this.#options;
    const own = this.#origins.map(({ node }) => node).filter(({ network }) => network === defaultNetwork);
    return own.filter(({ network, name }) => !this.#drained.has(`${network}/${name}`));
  }

  get fixed(): readonly FixedNode[] {
    return this.#origins.flatMap(({ node: { network, name }, source }) =>
      source === 'added' ? [] : [{ network, name, source }],
    );
  }

  traitsOf(network: Network, name: string): NodeTraits {
    const found = this.#origins.find(({ node }) => node.network === network && node.name === name);
    const { ws = null, grpc = null } = found?.node ?? {};
    return { source: found?.source ?? 'file', hasWs: ws !== null, hasGrpc: grpc !== null };
  }

  get addedNames(): readonly string[] {
    return this.#added.map(({ name }) => name);
  }

  setPool(pool: UpstreamPool, limits: Partial<UpstreamLimits>): void {
    this.#pool = pool;
    this.#limits = limits;
  }

  follow(follower: Follower): void {
    this.#followers.push(follower);
  }

  /** Replaces the nodes and limits from the configuration. Must not throw. */
  setFile(file: readonly NetworkNode[], limits: Partial<UpstreamLimits>): void {
    this.#file = file;
    this.#limits = limits;
    this.#onChange();
  }

  setAdded(added: readonly AddedNode[]): void {
    this.#added = added;
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

  #findOrigins(): Origin[] {
    const { ledger } = this.#options;
    const origins: Origin[] = this.#file.map((node) => ({ node, source: 'file' }));
    if (ledger !== null) origins.push({ node: ledger, source: 'ledger' });
    const usedNames = new Set(origins.map(({ node }) => node.name));
    for (const added of this.#added) {
      const reason = usedNames.has(added.name)
        ? 'the configuration has a node of this name'
        : ledger !== null
          ? 'the service runs in development mode: restart it to use the node'
          : null;
      if (reason === null) origins.push({ node: toUpstreamConfiguration(added), source: 'added' });
      else this.#options.log.error({ node: added.name, reason }, 'Added node ignored');
    }
    return origins;
  }

  #onChange(): void {
    this.#origins = this.#findOrigins();
    this.#pool?.change(this.byNetwork, this.#limits);
    this.#notifyFollowers();
  }

  #notifyFollowers(): void {
    const nodes = this.feeding;
    for (const follower of this.#followers) follower(nodes);
  }
}
