import { isDeepStrictEqual } from 'node:util';
import type { ByteBudget } from '../base/cache/byte-budget.ts';
import type { Logger } from '../base/log.ts';
import { type Network, networks } from '../protocol/call.ts';
import { HealthMonitor } from './health/health-monitor.ts';
import type { UpstreamLimits } from './limits.ts';
import { createResponseBudget, type NodeConfig, UpstreamNode } from './node.ts';
import { NodeGroup } from './node-group.ts';

/** The nodes of all networks, as they are to be. */
export type NodesByNetwork = Readonly<Partial<Record<Network, readonly NodeConfig[]>>>;

/** A node and what it was made of. */
type Member = Readonly<{ node: UpstreamNode; config: NodeConfig }>;

/**
 * The nodes of one network, and what calls to them share, which stays whatever nodes come and go. The list is never
 * changed, only replaced: a call goes on with those that it began with.
 */
type NetworkNodes = {
  members: readonly Member[];
  /** Those that calls are put to, all but the drained ones. */
  readonly group: NodeGroup;
  readonly monitor: HealthMonitor;
};

/** One object for good, so that all who hold it read what is in force. */
type LiveLimits = { -readonly [Limit in keyof UpstreamLimits]: UpstreamLimits[Limit] };

/** Beyond the longest time a call may take: one that began before a node left may still come to it. */
const REMOVAL_MARGIN_MS = 250;

/**
 * The nodes of all networks, which come and go while calls are answered: a node that stays keeps its connections and
 * all that is known of it; one that leaves finishes what is under way.
 */
export class NodeRegistry {
  readonly #log: Logger;
  readonly #sets = new Map<Network, NetworkNodes>();
  /** Those that are drained, as `network/name`, whether they are there or not. */
  #drained: ReadonlySet<string> = new Set();
  readonly #removing = new Map<UpstreamNode, NodeJS.Timeout>();
  readonly #limits: LiveLimits;
  /** What the answers of all of them are gathered in. */
  readonly #responseBudget: ByteBudget;
  /** By then all calls are over that began under a longer time; `performance.now()`. */
  #longCallsUntil = Number.NEGATIVE_INFINITY;
  #isStarted = false;
  #isStopped = false;

  constructor(nodes: NodesByNetwork, limits: UpstreamLimits, log: Logger) {
    this.#limits = { ...limits };
    this.#responseBudget = createResponseBudget(this.#limits);
    this.#log = log;
    this.#apply(this.#prepared(nodes));
  }

  /** What holds for calls that begin now. */
  get limits(): UpstreamLimits {
    return this.#limits;
  }

  /** Those of a network that calls are put to; null where there are none. */
  groupOf(network: Network): NodeGroup | null {
    return this.#sets.get(network)?.group ?? null;
  }

  /** Networks that have nodes. */
  get networks(): readonly Network[] {
    return networks.filter((network) => this.#sets.has(network));
  }

  /** All nodes of each network, the drained ones too. */
  all(): UpstreamNode[][] {
    return [...this.#sets.values()].map(({ members }) => members.map(({ node }) => node));
  }

  /** Whether the operator drained it. */
  isDrained({ network, name }: UpstreamNode): boolean {
    return this.#drained.has(`${network}/${name}`);
  }

  find(network: Network, name: string): UpstreamNode | undefined {
    return this.#sets.get(network)?.members.find(({ node }) => node.name === name)?.node;
  }

  /** Begins to watch the nodes, now and those that come. */
  start(): void {
    this.#isStarted = true;
    for (const { monitor } of this.#sets.values()) monitor.start();
  }

  /** Stops watching and closes every connection. What is under way fails. */
  stop(): void {
    this.#isStopped = true;
    const removing = [...this.#removing];
    this.#removing.clear();
    for (const [, timer] of removing) clearTimeout(timer);
    for (const { monitor } of this.#sets.values()) monitor.stop();
    const nodes = [...this.all().flat(), ...removing.map(([node]) => node)];
    for (const node of nodes) node.close();
  }

  /** Resolves when every node has been polled once, and every network with nodes has one that answered. */
  async waitForFirstResponses(): Promise<void> {
    const watches = [...this.#sets.values()].map(({ monitor }) => monitor);
    await Promise.all(watches.flatMap((watch) => [watch.firstResponse, watch.firstPolls()]));
  }

  /** Makes the nodes exactly these: those that are as they were stay as they are, whatever their limits become. */
  change(nodes: NodesByNetwork, limits: UpstreamLimits): void {
    if (this.#isStopped) return;
    const prepared = this.#prepared(nodes);
    const { timeoutMs } = this.#limits;
    if (limits.timeoutMs < timeoutMs) this.#longCallsUntil = performance.now() + timeoutMs;
    Object.assign(this.#limits, limits);
    this.#apply(prepared);
  }

  /** Lets calls go to all but these. @param drained - as `network/name`. */
  drain(drained: ReadonlySet<string>): void {
    this.#drained = drained;
    for (const { members, group } of this.#sets.values()) group.setCandidates(this.#candidatesOf(members));
  }

  /** All that may fail, before anything is another. */
  #prepared(nodes: NodesByNetwork): ReadonlyMap<Network, readonly Member[]> {
    const membersOf = (network: Network): Member[] => {
      const previous = this.#sets.get(network);
      return (nodes[network] ?? []).map((config) => this.#memberOf(config, network, previous));
    };
    return new Map(networks.map((network) => [network, membersOf(network)]));
  }

  #apply(prepared: ReadonlyMap<Network, readonly Member[]>): void {
    for (const [network, members] of prepared) {
      const previous = this.#sets.get(network);
      const isSame =
        members.length === previous?.members.length &&
        members.every((member, at) => member === previous.members[at]);
      if (!isSame) this.#replace(network, previous, members);
    }
  }

  #memberOf(config: NodeConfig, network: Network, previous: NetworkNodes | undefined): Member {
    const existing = previous?.members.find((member) => isDeepStrictEqual(member.config, config));
    if (existing !== undefined) return existing;
    const node = new UpstreamNode(config, network, this.#limits, this.#responseBudget);
    // What the operator said of it holds whatever its addresses are.
    node.cordon = this.find(network, config.name)?.cordon ?? null;
    return { node, config };
  }

  #replace(network: Network, previous: NetworkNodes | undefined, members: readonly Member[]): void {
    for (const member of previous?.members ?? [])
      if (!members.includes(member)) this.#removeNode(member.node);
    if (members.length === 0) {
      previous?.monitor.stop();
      this.#sets.delete(network);
      return;
    }
    const set = previous ?? this.#createSet(network);
    set.members = members;
    set.group.setCandidates(this.#candidatesOf(members));
    set.monitor.watch(members.map(({ node }) => node));
  }

  #createSet(network: Network): NetworkNodes {
    const group = new NodeGroup([], this.#limits);
    const set = { members: [], group, monitor: new HealthMonitor(group, this.#log) };
    this.#sets.set(network, set);
    if (this.#isStarted) set.monitor.start();
    return set;
  }

  #candidatesOf(members: readonly Member[]): readonly UpstreamNode[] {
    return members.map(({ node }) => node).filter((node) => !this.isDrained(node));
  }

  /** Closes a node when nothing is under way there, nor can come there any more. */
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
