import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../base/log.ts';
import { type Network, networks } from '../protocol/call.ts';
import { HealthWatch } from './health/watch.ts';
import type { UpstreamLimits } from './limits.ts';
import { type NodeConfig, UpstreamNode } from './node.ts';
import { NodeGroup } from './node-group.ts';

/** The nodes of all networks, as they are to be. */
export type NodesByNetwork = Readonly<Partial<Record<Network, readonly NodeConfig[]>>>;

/** A node and what it was made of. */
type Member = Readonly<{ node: UpstreamNode; config: NodeConfig }>;

/** The nodes of one network. Its lists are never changed, only replaced: a call goes on with those that it began with. */
type NodeSet = Readonly<{
  members: readonly Member[];
  /** Those that calls are put to, all but the drained ones, and what those calls share. */
  group: NodeGroup;
  watch: HealthWatch;
}>;

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
  #limits: UpstreamLimits;
  #isStarted = false;
  #isStopped = false;

  constructor(nodes: NodesByNetwork, limits: UpstreamLimits, log: Logger) {
    this.#limits = limits;
    this.#log = log;
    this.#put(nodes, false);
  }

  /** What holds for calls that begin now. */
  get limits(): UpstreamLimits {
    return this.#limits;
  }

  /** Those of a network that calls are put to; null where there are none. */
  groupOf(network: Network): NodeGroup | null {
    return this.#sets.get(network)?.group ?? null;
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
  async stop(): Promise<void> {
    this.#isStopped = true;
    const leaving = [...this.#leaving];
    this.#leaving.clear();
    for (const [, timer] of leaving) clearTimeout(timer);
    for (const { watch } of this.#sets.values()) watch.stop();
    const nodes = [...this.all().flat(), ...leaving.map(([node]) => node)];
    await Promise.all(nodes.map((node) => node.close()));
  }

  /** Kept when every network with nodes has one that answered. */
  async answered(): Promise<void> {
    await Promise.all([...this.#sets.values()].map(({ watch }) => watch.firstAnswer));
  }

  /**
   * Makes the nodes exactly these: those that are as they were stay as they are. With other limits all of them are made
   * anew, for connections have some of them for life.
   */
  change(nodes: NodesByNetwork, limits: UpstreamLimits): void {
    if (this.#isStopped) return;
    const isAnew = !isDeepStrictEqual({ ...limits }, { ...this.#limits });
    this.#limits = limits;
    this.#put(nodes, isAnew);
  }

  /** Lets calls go to all but these. @param drained - as `network/name`. */
  drain(drained: ReadonlySet<string>): void {
    this.#drained = drained;
    for (const { members, group } of this.#sets.values()) group.ask(this.#askedOf(members));
  }

  #put(nodes: NodesByNetwork, isAnew: boolean): void {
    for (const network of networks) {
      const before = this.#sets.get(network);
      const configs = nodes[network] ?? [];
      const members = configs.map((config) => this.#memberOf(config, network, isAnew ? undefined : before));
      const isSame =
        members.length === before?.members.length &&
        members.every((member, at) => member === before.members[at]);
      if (!isSame) this.#replace(network, before, members);
    }
  }

  #memberOf(config: NodeConfig, network: Network, before: NodeSet | undefined): Member {
    const known = before?.members.find((member) => isDeepStrictEqual(member.config, config));
    if (known !== undefined) return known;
    const node = new UpstreamNode(config, network, this.#limits);
    // What the operator said of it holds whatever its addresses are.
    node.cordon = this.find(network, config.name)?.cordon ?? null;
    return { node, config };
  }

  #replace(network: Network, before: NodeSet | undefined, members: readonly Member[]): void {
    before?.watch.stop();
    for (const member of before?.members ?? []) if (!members.includes(member)) this.#leave(member.node);
    if (members.length === 0) {
      this.#sets.delete(network);
      return;
    }
    const nodes = members.map(({ node }) => node);
    const group = new NodeGroup(this.#askedOf(members), this.#limits);
    const watch = new HealthWatch(nodes, group, this.#log);
    this.#sets.set(network, { members, group, watch });
    if (this.#isStarted) watch.start();
  }

  #askedOf(members: readonly Member[]): readonly UpstreamNode[] {
    return members.map(({ node }) => node).filter((node) => !this.isDrained(node));
  }

  /** Closes a node when nothing is under way there, nor can come there any more. */
  #leave(node: UpstreamNode): void {
    const close = (): void => {
      if (node.inFlight > 0) {
        this.#leaving.set(node, setTimeout(close, LEAVE_MARGIN_MS).unref());
        return;
      }
      this.#leaving.delete(node);
      void node.close().catch(() => {});
    };
    this.#leaving.set(node, setTimeout(close, this.#limits.timeoutMs + LEAVE_MARGIN_MS).unref());
  }
}
