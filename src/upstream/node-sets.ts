import { isDeepStrictEqual } from 'node:util';
import type { ByteBudget } from '../base/byte-budget.ts';
import type { Logger } from '../base/log.ts';
import { type Network, networks } from '../protocol/call.ts';
import { HealthWatch } from './health/watch.ts';
import type { UpstreamLimits } from './limits.ts';
import { answerBudget, type NodeConfig, UpstreamNode } from './node.ts';
import { NodeGroup } from './node-group.ts';

/** The nodes of all networks, as they are to be. */
export type NodesByNetwork = Readonly<Partial<Record<Network, readonly NodeConfig[]>>>;

/** A node and what it was made of. */
type Member = Readonly<{ node: UpstreamNode; config: NodeConfig }>;

/**
 * The nodes of one network, and what calls to them share, which stays whatever nodes come and go. The list is never
 * changed, only replaced: a call goes on with those that it began with.
 */
type NodeSet = {
  members: readonly Member[];
  /** Those that calls are put to, all but the drained ones. */
  readonly group: NodeGroup;
  readonly watch: HealthWatch;
};

/** One object for good, so that all who hold it read what is in force. */
type LiveLimits = { -readonly [Limit in keyof UpstreamLimits]: UpstreamLimits[Limit] };

/** Beyond the longest time a call may take: one that began before a node left may still come to it. */
const LEAVE_MARGIN_MS = 250;

/**
 * The nodes of all networks, which come and go while calls are answered: a node that stays keeps its connections and
 * all that is known of it; one that leaves finishes what is under way.
 */
export class NodeSets {
  readonly #log: Logger;
  readonly #sets = new Map<Network, NodeSet>();
  /** Those that are drained, as `network/name`, whether they are there or not. */
  #drained: ReadonlySet<string> = new Set();
  readonly #leaving = new Map<UpstreamNode, NodeJS.Timeout>();
  readonly #limits: LiveLimits;
  /** What the answers of all of them are gathered in. */
  readonly #answers: ByteBudget;
  /** By then all calls are over that began under a longer time; `performance.now()`. */
  #longerCallsUntil = Number.NEGATIVE_INFINITY;
  #isStarted = false;
  #isStopped = false;

  constructor(nodes: NodesByNetwork, limits: UpstreamLimits, log: Logger) {
    this.#limits = { ...limits };
    this.#answers = answerBudget(this.#limits);
    this.#log = log;
    this.#put(this.#prepared(nodes));
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
    for (const { watch } of this.#sets.values()) watch.start();
  }

  /** Stops watching and closes every connection. What is under way fails. */
  stop(): void {
    this.#isStopped = true;
    const leaving = [...this.#leaving];
    this.#leaving.clear();
    for (const [, timer] of leaving) clearTimeout(timer);
    for (const { watch } of this.#sets.values()) watch.stop();
    const nodes = [...this.all().flat(), ...leaving.map(([node]) => node)];
    for (const node of nodes) node.close();
  }

  /** Resolves when every node has been polled once, and every network with nodes has one that answered. */
  async answered(): Promise<void> {
    const watches = [...this.#sets.values()].map(({ watch }) => watch);
    await Promise.all(watches.flatMap((watch) => [watch.firstAnswer, watch.firstPolls()]));
  }

  /** Makes the nodes exactly these: those that are as they were stay as they are, whatever their limits become. */
  change(nodes: NodesByNetwork, limits: UpstreamLimits): void {
    if (this.#isStopped) return;
    const prepared = this.#prepared(nodes);
    const { timeoutMs } = this.#limits;
    if (limits.timeoutMs < timeoutMs) this.#longerCallsUntil = performance.now() + timeoutMs;
    Object.assign(this.#limits, limits);
    this.#put(prepared);
  }

  /** Lets calls go to all but these. @param drained - as `network/name`. */
  drain(drained: ReadonlySet<string>): void {
    this.#drained = drained;
    for (const { members, group } of this.#sets.values()) group.ask(this.#askedOf(members));
  }

  /** All that may fail, before anything is another. */
  #prepared(nodes: NodesByNetwork): ReadonlyMap<Network, readonly Member[]> {
    const membersOf = (network: Network): Member[] => {
      const before = this.#sets.get(network);
      return (nodes[network] ?? []).map((config) => this.#memberOf(config, network, before));
    };
    return new Map(networks.map((network) => [network, membersOf(network)]));
  }

  #put(prepared: ReadonlyMap<Network, readonly Member[]>): void {
    for (const [network, members] of prepared) {
      const before = this.#sets.get(network);
      const isSame =
        members.length === before?.members.length &&
        members.every((member, at) => member === before.members[at]);
      if (!isSame) this.#replace(network, before, members);
    }
  }

  #memberOf(config: NodeConfig, network: Network, before: NodeSet | undefined): Member {
    const known = before?.members.find((member) => isDeepStrictEqual(member.config, config));
    if (known !== undefined) return known;
    const node = new UpstreamNode(config, network, this.#limits, this.#answers);
    // What the operator said of it holds whatever its addresses are.
    node.cordon = this.find(network, config.name)?.cordon ?? null;
    return { node, config };
  }

  #replace(network: Network, before: NodeSet | undefined, members: readonly Member[]): void {
    for (const member of before?.members ?? []) if (!members.includes(member)) this.#leave(member.node);
    if (members.length === 0) {
      before?.watch.stop();
      this.#sets.delete(network);
      return;
    }
    const set = before ?? this.#begin(network);
    set.members = members;
    set.group.ask(this.#askedOf(members));
    set.watch.watch(members.map(({ node }) => node));
  }

  #begin(network: Network): NodeSet {
    const group = new NodeGroup([], this.#limits);
    const set = { members: [], group, watch: new HealthWatch(group, this.#log) };
    this.#sets.set(network, set);
    if (this.#isStarted) set.watch.start();
    return set;
  }

  #askedOf(members: readonly Member[]): readonly UpstreamNode[] {
    return members.map(({ node }) => node).filter((node) => !this.isDrained(node));
  }

  /** Closes a node when nothing is under way there, nor can come there any more. */
  #leave(node: UpstreamNode): void {
    const callsMs = Math.max(this.#limits.timeoutMs, this.#longerCallsUntil - performance.now());
    const close = (): void => {
      if (node.inFlight > 0) {
        this.#leaving.set(node, setTimeout(close, LEAVE_MARGIN_MS).unref());
        return;
      }
      this.#leaving.delete(node);
      node.close();
    };
    this.#leaving.set(node, setTimeout(close, callsMs + LEAVE_MARGIN_MS).unref());
  }
}
