import type { Logger } from '../../base/log.ts';
import { type Slot, slot as slotOf } from '../../ledger/units.ts';
import type { Network } from '../../protocol/call.ts';
import { referenceSlot } from '../health.ts';
import type { NodeConfig, NodeState } from '../node.ts';
import type { NodeStatus } from '../pool.ts';
import type { FeedLimits } from './limits.ts';
import type { SubscribeAnswer, UpstreamRequest, UpstreamSink } from './node-subscriptions.ts';
import { type ConnectionEnd, PubsubConnection } from './pubsub-connection.ts';
import type { SlotInfo } from './slot-info.ts';

export type PubsubNodesOptions = Readonly<{
  network: Network;
  /** Nodes without a `ws` address are passed over. */
  nodes: readonly NodeConfig[];
  /** What the pool knows of its nodes, of all networks. */
  status: () => readonly NodeStatus[];
  limits: FeedLimits;
  log: Logger;
}>;

/** A node and the connections to it. Times are `performance.now()`. */
type Place = {
  readonly node: NodeConfig;
  readonly connections: Set<PubsubConnection>;
  /** In a row: connections that ended or came to nothing, requests without an acknowledgement. */
  failures: number;
  failedAt: number;
  /** It is passed over until then. */
  restingUntil: number;
};

/** Where a request was put, and what came of it. */
export type Placed = Readonly<{ node: string; connection: PubsubConnection; answer: SubscribeAnswer }>;

/** Roots are about so many slots behind; used only where a node does not tell. */
const ROOT_DISTANCE = 32n;
const WATCHES_PER_STALL = 10;

const loadOf = ({ connections }: Place): number =>
  [...connections].reduce((sum, connection) => sum + connection.load, 0);

/** The nodes of one network that have PubSub: chooses, connects, and ends connections that stand still. */
export class PubsubNodes {
  readonly #options: PubsubNodesOptions;
  readonly #places: readonly Place[];
  readonly #watch: NodeJS.Timeout;
  /** The network's slot when a connection was made: whether it has moved on since. */
  readonly #slotAtOpen = new WeakMap<PubsubConnection, Slot | null>();
  #stopped = false;

  constructor(options: PubsubNodesOptions) {
    this.#options = options;
    this.#places = options.nodes
      .filter((node) => typeof node.ws === 'string')
      .map((node) => ({
        node,
        connections: new Set(),
        failures: 0,
        failedAt: Number.NEGATIVE_INFINITY,
        restingUntil: 0,
      }));
    this.#watch = setInterval(() => this.#look(), options.limits.stallMs / WATCHES_PER_STALL);
    this.#watch.unref();
  }

  /** Whether any node has PubSub at all. */
  get any(): boolean {
    return this.#places.length > 0;
  }

  /**
   * Puts a request to the best node.
   * @param passed - names of nodes that are not asked, because they were just now.
   * @returns null when nobody can be asked now.
   */
  async subscribe(
    request: UpstreamRequest,
    sink: UpstreamSink,
    passed: ReadonlySet<string>,
  ): Promise<Placed | null> {
    for (;;) {
      const place = this.#choose(passed);
      const connection = place === null ? null : this.#connectionOf(place);
      if (place === null || connection === null) return null;
      if (!(await connection.ready)) return { node: place.node.name, connection, answer: { kind: 'gone' } };
      // Others may have taken the last room while this one waited.
      if (connection.load >= this.#options.limits.connectionSubscriptionsMax) continue;
      const answer = await connection.subscribe(request, sink);
      if (answer.kind === 'unanswered') this.#rest(place);
      else if (answer.kind !== 'gone') place.failures = 0;
      return { node: place.node.name, connection, answer };
    }
  }

  /** Milliseconds until the next node may be asked again; 0 when one may be now. */
  restLeft(): number {
    const now = performance.now();
    return Math.max(0, Math.min(...this.#places.map(({ restingUntil }) => restingUntil - now)));
  }

  /** How far a connection has told, or about how far the network is where the node tells no slots. */
  position(connection: PubsubConnection): SlotInfo | null {
    return connection.lastSlot ?? this.networkPosition();
  }

  /** About how far the network is; null while unknown. */
  networkPosition(): SlotInfo | null {
    const slot = this.networkSlot();
    if (slot === null) return null;
    return { slot, parent: slot, root: slotOf(slot > ROOT_DISTANCE ? slot - ROOT_DISTANCE : 0n) };
  }

  /** The newest slot that is believed; null while unknown. */
  networkSlot(): Slot | null {
    const { network, limits, status } = this.#options;
    const known = status().filter((node) => node.network === network && node.state !== 'wrong-chain');
    const polled = known.map((node) => node.slot);
    const told = this.#all().map((connection) => connection.lastSlot?.slot ?? null);
    const slots = [...polled, ...told].filter((slot) => slot !== null);
    return referenceSlot(slots, limits.lagMaxSlots);
  }

  /** Ends every connection at once. */
  close(): void {
    this.#stopped = true;
    clearInterval(this.#watch);
    for (const connection of this.#all()) connection.end('closed by us');
  }

  #all(): PubsubConnection[] {
    return this.#places.flatMap(({ connections }) => [...connections]);
  }

  /** Among the nodes that do not rest, good ones that did not fail lately; of these the one that carries least. */
  #choose(passed: ReadonlySet<string>): Place | null {
    if (this.#stopped) return null;
    const now = performance.now();
    const states = this.#states();
    const stateOf = ({ node }: Place): NodeState => states.get(node.name) ?? 'unknown';
    const open = this.#places.filter(
      (place) =>
        place.restingUntil <= now &&
        !passed.has(place.node.name) &&
        stateOf(place) !== 'wrong-chain' &&
        this.#hasRoom(place),
    );
    const good = open.filter((place) => stateOf(place) === 'healthy' || stateOf(place) === 'unknown');
    const calm = good.filter((place) => !this.#isTroubled(place, now));
    const candidates = [calm, good, open].find(({ length }) => length > 0) ?? [];
    return candidates.reduce<Place | null>(
      (best, place) => (best === null || loadOf(place) < loadOf(best) ? place : best),
      null,
    );
  }

  #isTroubled({ failures, failedAt }: Place, now: number): boolean {
    return failures > 0 && now - failedAt < this.#options.limits.openTimeoutMs;
  }

  #states(): ReadonlyMap<string, NodeState> {
    const { network, status } = this.#options;
    const known = status().filter((node) => node.network === network);
    return new Map(known.map(({ name, state }) => [name, state]));
  }

  #hasRoom({ connections }: Place): boolean {
    const { connectionSubscriptionsMax, nodeConnectionsMax } = this.#options.limits;
    if (connections.size < nodeConnectionsMax) return true;
    return [...connections].some(({ load }) => load < connectionSubscriptionsMax);
  }

  /** One with room; else a new one; null when the node is full. */
  #connectionOf(place: Place): PubsubConnection | null {
    const { connectionSubscriptionsMax, nodeConnectionsMax } = this.#options.limits;
    for (const connection of place.connections) {
      if (connection.load < connectionSubscriptionsMax) return connection;
    }
    return place.connections.size < nodeConnectionsMax ? this.#connect(place) : null;
  }

  #connect(place: Place): PubsubConnection {
    const { limits } = this.#options;
    const connection = new PubsubConnection({
      node: place.node,
      limits,
      onEnd: (end, detail) => this.#ended(place, connection, { end, detail }),
    });
    this.#slotAtOpen.set(connection, this.networkSlot());
    place.connections.add(connection);
    void connection.ready.then((ready) => {
      if (ready) this.#options.log.info(this.#facts(place), 'connected to the PubSub of an upstream node');
    });
    return connection;
  }

  #ended(
    place: Place,
    connection: PubsubConnection,
    { end, detail }: Readonly<{ end: ConnectionEnd; detail: string | null }>,
  ): void {
    place.connections.delete(connection);
    if (this.#stopped) return;
    this.#rest(place);
    this.#options.log.warn(
      { ...this.#facts(place), end, ...(detail !== null && { detail }), subscriptions: connection.load },
      'lost the PubSub of an upstream node',
    );
  }

  #rest(place: Place): void {
    const { reconnectMs, reconnectMaxMs } = this.#options.limits;
    // All connections of a node that dies end at once: that is one failure.
    if (place.restingUntil > performance.now()) return;
    const ms = Math.min(reconnectMs * 2 ** Math.min(place.failures++, 20), reconnectMaxMs);
    place.failedAt = performance.now();
    place.restingUntil = place.failedAt + ms * (0.5 + Math.random() / 2);
  }

  #facts({ node }: Place): { node: string; network: Network } {
    return { node: node.name, network: this.#options.network };
  }

  /** The watchdog: what counts is whether slots come, not whether the socket stands. */
  #look(): void {
    const reference = this.networkSlot();
    if (reference === null) return;
    for (const place of this.#places) {
      for (const connection of place.connections) {
        const end = this.#fault(place, connection, reference);
        if (end !== null) connection.end(end);
      }
    }
  }

  #fault(place: Place, connection: PubsubConnection, reference: Slot): ConnectionEnd | null {
    if (!connection.tellsSlots) return null;
    const { stallMs, lagMaxSlots } = this.#options.limits;
    const now = performance.now();
    const told = connection.lastSlot?.slot ?? this.#slotAtOpen.get(connection) ?? reference;
    if (reference > told && now - connection.progressAt > stallMs) return 'no new slot';
    if (reference <= told + BigInt(lagMaxSlots)) return null;
    return this.#hasBetter(place, reference) ? 'behind the network' : null;
  }

  /** A laggard is better than nobody: it is left once a connection to another node has shown to be better. */
  #hasBetter(laggard: Place, reference: Slot): boolean {
    const lag = BigInt(this.#options.limits.lagMaxSlots);
    const isGood = ({ lastSlot }: PubsubConnection): boolean =>
      lastSlot !== null && lastSlot.slot + lag >= reference;
    const others = this.#places.filter((place) => place !== laggard);
    if (others.some(({ connections }) => [...connections].some(isGood))) return true;
    this.#tryOne(others);
    return false;
  }

  /** Connects to a node that is not connected to, so that it can show how far it is. */
  #tryOne(places: readonly Place[]): void {
    const now = performance.now();
    const states = this.#states();
    const untried = places.find(
      ({ node, connections, restingUntil }) =>
        connections.size === 0 && restingUntil <= now && states.get(node.name) !== 'wrong-chain',
    );
    if (untried !== undefined) this.#connect(untried);
  }
}
