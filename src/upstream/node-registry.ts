import { isDeepStrictEqual } from 'node:util';
import type { ByteBudget } from '../base/cache/byte-budget.ts';
import type { Logger } from '../base/log.ts';
import { type Network, standardNetworks } from '../protocol/call.ts';
import { type GenesisHashes, genesisHashesWith } from './genesis-hash.ts';
import { HealthMonitor } from './health/health-monitor.ts';
import type { UpstreamLimits } from './limits.ts';
import { createResponseBudget, type NodeConfig, type NodesByNetwork, UpstreamNode } from './node.ts';
import { NodeGroup } from './node-group.ts';

type Member = Readonly<{ node: UpstreamNode; config: NodeConfig }>;

type NetworkNodes = {
  members: readonly Member[];
  /** Excludes drained nodes. */
  readonly group: NodeGroup;
  readonly monitor: HealthMonitor;
};

/** Added to the longest call duration, because a call may still be sent to a node that was just removed. */
const REMOVAL_MARGIN_MS = 250;

/**
 * Nodes of all networks. Unchanged nodes keep their connections and state across configuration changes;
 * removed nodes finish their calls.
 */
export class NodeRegistry {
  readonly #log: Logger;
  readonly #genesisHashes: GenesisHashes;
  readonly sets = new Map<Network, NetworkNodes>();
  /** Networks that have nodes, the standard ones first. Replaced on changes, because each request reads it. */
  networks: readonly Network[] = [];
  /** Entries have the form `network/name` and may name nodes that do not exist. */
  #drained: ReadonlySet<string> = new Set();
  readonly #removing = new Map<UpstreamNode, NodeJS.Timeout>();
  /** Updated in place, so that all readers see the current values. */
  readonly #limits: UpstreamLimits;
  readonly #responseBudget: ByteBudget;
  /** Time by which all calls that started under a longer timeout will have ended, on the `performance.now()` clock. */
  #longCallsUntil = Number.NEGATIVE_INFINITY;
  #isStarted = false;
  #isStopped = false;

  constructor(
    nodes: NodesByNetwork,
    limits: UpstreamLimits,
    log: Logger,
    genesisHashes: GenesisHashes = genesisHashesWith({}),
  ) {
    this.#limits = { ...limits };
    this.#responseBudget = createResponseBudget(this.#limits);
    this.#log = log;
    this.#genesisHashes = genesisHashes;
    this.#replaceAll(this.#prepared(nodes));
  }

  all(): UpstreamNode[][] {
    return [...this.sets.values()].map(({ members }) => members.map(({ node }) => node));
  }

  isDrained({ network, name }: UpstreamNode): boolean {
    return this.#drained.has(`${network}/${name}`);
  }

  find(network: Network, name: string): UpstreamNode | undefined {
    return this.sets.get(network)?.members.find(({ node }) => node.name === name)?.node;
  }

  start(): void {
    this.#isStarted = true;
    for (const { monitor } of this.sets.values()) monitor.start();
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#removing.values()) clearTimeout(timer);
    for (const { monitor } of this.sets.values()) monitor.stop();
    for (const node of [...this.all().flat(), ...this.#removing.keys()]) node.close();
    this.#removing.clear();
  }

  async waitForFirstResponses(): Promise<void> {
    await Promise.all([...this.sets.values()].map(({ monitor }) => monitor.waitForFirstResponses()));
  }

  change(nodes: NodesByNetwork, limits: UpstreamLimits): void {
    if (this.#isStopped) return;
    const prepared = this.#prepared(nodes);
    const { timeoutMs } = this.#limits;
    if (limits.timeoutMs < timeoutMs) this.#longCallsUntil = performance.now() + timeoutMs;
    Object.assign(this.#limits, limits);
    this.#replaceAll(prepared);
  }

  drain(drained: ReadonlySet<string>): void {
    this.#drained = drained;
    for (const { members, group } of this.sets.values()) this.#setCandidates(group, members);
  }

  /** Creates the new nodes before any are replaced, so that an error leaves the registry unchanged. */
  #prepared(nodes: NodesByNetwork): ReadonlyMap<Network, readonly Member[]> {
    const membersOf = (network: Network): Member[] => {
      const previous = this.sets.get(network);
      return (nodes[network] ?? []).map((config) => {
        const existing = previous?.members.find((member) => isDeepStrictEqual(member.config, config));
        if (existing !== undefined) return existing;
        const node = new UpstreamNode(config, network, this.#limits, this.#responseBudget);
        // A cordon survives a change of the node's configuration.
        node.cordon = this.find(network, config.name)?.cordon ?? null;
        return { node, config };
      });
    };
    const networks = new Set([...this.sets.keys(), ...(Object.keys(nodes) as Network[])]);
    return new Map([...networks].map((network) => [network, membersOf(network)]));
  }

  #replaceAll(prepared: ReadonlyMap<Network, readonly Member[]>): void {
    for (const [network, members] of prepared) this.#replace(network, members);
    const networks = new Set<Network>([...standardNetworks, ...this.sets.keys()]);
    this.networks = [...networks].filter((network) => this.sets.has(network));
  }

  #replace(network: Network, members: readonly Member[]): void {
    const previous = this.sets.get(network);
    for (const member of previous?.members ?? [])
      if (!members.includes(member)) this.#removeNode(member.node);
    if (members.length === 0) {
      previous?.monitor.stop();
      this.sets.delete(network);
      return;
    }
    const set = previous ?? this.#createSet(network);
    set.members = members;
    this.#setCandidates(set.group, members);
    set.monitor.watch(members.map(({ node }) => node));
  }

  #createSet(network: Network): NetworkNodes {
    const group = new NodeGroup([], this.#limits);
    const set = { members: [], group, monitor: new HealthMonitor(group, this.#log, this.#genesisHashes) };
    this.sets.set(network, set);
    if (this.#isStarted) set.monitor.start();
    return set;
  }

  #setCandidates(group: NodeGroup, members: readonly Member[]): void {
    const nodes = members.map(({ node }) => node);
    group.setCandidates(
      nodes.filter((node) => !this.isDrained(node)),
      nodes,
    );
  }

  #removeNode(node: UpstreamNode): void {
    const callsMs = Math.max(this.#limits.timeoutMs, this.#longCallsUntil - performance.now());
    const close = (): void => {
      if (node.inFlight > 0) {
        this.#removing.set(node, setTimeout(close, REMOVAL_MARGIN_MS).unref());
        return;
      }
      this.#removing.delete(node);
      node.close();
    };
    this.#removing.set(node, setTimeout(close, callsMs + REMOVAL_MARGIN_MS).unref());
  }
}
