import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../base/log.ts';
import { type Slot, slot as slotOf } from '../../ledger/units.ts';
import type { Network } from '../../protocol/call.ts';
import type { NodeState } from '../health/node-state.ts';
import type { NodeConfig } from '../node.ts';
import type { NodeStanding } from '../node-status.ts';
import { doublingPause } from '../retry-pause.ts';
import { believedSlot, newestCredible } from './believed-slot.ts';
import { newer } from './gap/continuity.ts';
import type { FeedLimits } from './limits.ts';
import type { SubscribeAnswer, UpstreamRequest, UpstreamSink } from './node-subscriptions.ts';
import { type ConnectionEnd, PubsubConnection } from './pubsub-connection.ts';
import type { SlotInfo } from './slot-info.ts';

export type PubsubNodesOptions = Readonly<{
  network: Network;
  /** Nodes without a `ws` address are passed over. */
  nodes: readonly NodeConfig[];
  /** What the pool knows of its nodes, of all networks. */
  status: () => readonly NodeStanding[];
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
  /** It answered the newest handshake with something else. */
  refuses: boolean;
};

const newPlace = (node: NodeConfig): Place => ({
  node,
  connections: new Set(),
  failures: 0,
  failedAt: Number.NEGATIVE_INFINITY,
  restingUntil: 0,
  refuses: false,
});

/** Where a request was put, and what came of it. */
export type Placed = Readonly<{ node: string; connection: PubsubConnection; answer: SubscribeAnswer }>;

/** Roots are about so many slots behind; used only where a node does not tell. */
const ROOT_DISTANCE = 32n;
const WATCHES_PER_STALL = 10;
/** The longest rest that a node is given because it asks for it. */
const REST_ASKED_MAX_MS = 60_000;
/** What a poll told counts for so long. */
const POLL_FRESH_MS = 30_000;

/** What a node answered to a poll a moment ago. */
const polledSlot = (status: NodeStanding | undefined): Slot | null =>
  status === undefined || (status.silentMs ?? POLL_FRESH_MS) >= POLL_FRESH_MS ? null : status.slot;

/** The newest slot that any connection to a node told of. */
const toldSlot = ({ connections }: Place): Slot | null =>
  [...connections].reduce<Slot | null>((told, { lastSlot }) => newer(told, lastSlot?.slot ?? null), null);

const loadOf = ({ connections }: Place): number =>
  [...connections].reduce((sum, connection) => sum + connection.load, 0);

/** The nodes of one network that have PubSub: chooses, connects, and ends connections that stand still. */
export class PubsubNodes {
  readonly #options: PubsubNodesOptions;
  #places: readonly Place[] = [];
  readonly #watch: NodeJS.Timeout;
  /** The network's slot when a connection was made: whether it has moved on since. */
  readonly #slotAtOpen = new WeakMap<PubsubConnection, Slot | null>();
  #stopped = false;

  constructor(options: PubsubNodesOptions) {
    this.#options = options;
    this.setNodes(options.nodes);
    this.#watch = setInterval(() => this.#look(), options.limits.stallMs / WATCHES_PER_STALL);
    this.#watch.unref();
  }

  /** Whether any node has PubSub at all. */
  get any(): boolean {
    return this.#places.length > 0;
  }

  /** Listens to these nodes from now on. Subscriptions on one that is not among them move to the others. */
  setNodes(nodes: readonly NodeConfig[]): void {
    const before = this.#places;
    this.#places = nodes
      .filter((node) => typeof node.ws === 'string')
      .map((node) => before.find((place) => isDeepStrictEqual(place.node, node)) ?? newPlace(node));
    // Once they are out of the choice: whoever is told that its connection is over looks for another at once.
    const left = before.filter((place) => !this.#places.includes(place));
    for (const { connections } of left) {
      for (const connection of [...connections]) connection.end('taken out of service');
    }
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
    let left = passed;
    for (;;) {
      const place = this.#choose(left);
      if (place === null) return null;
      const connection = this.#connectionOf(place);
      if (connection === null) {
        left = new Set([...left, place.node.name]);
        continue;
      }
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

  /** Whether a subscription finds no place because all are taken: there are nodes, and none of them has room. */
  get isFull(): boolean {
    const now = performance.now();
    const usable = this.#places.filter(
      (place) => place.restingUntil <= now && this.#stateOf(place) !== 'wrong-chain',
    );
    return usable.length > 0 && !usable.some((place) => this.#hasRoom(place));
  }

  /** Whether every node answered its newest handshake with something else. */
  get allRefuse(): boolean {
    const places = this.#places.filter((place) => this.#stateOf(place) !== 'wrong-chain');
    return places.length > 0 && places.every(({ refuses }) => refuses);
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
    const known = this.#known();
    const places = new Map(this.#places.map((place) => [place.node.name, place]));
    const names = [...new Set([...known.keys(), ...places.keys()])];
    const slots = names
      .filter((name) => known.get(name)?.state !== 'wrong-chain')
      .map((name) => {
        const place = places.get(name);
        return { polled: polledSlot(known.get(name)), told: place === undefined ? null : toldSlot(place) };
      });
    return believedSlot(slots, this.#options.limits.lagMaxSlots);
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
    const known = this.#known();
    const stateOf = (place: Place): NodeState => this.#stateOf(place, known);
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

  /** What the pool knows of the network's nodes, by name. */
  #known(): ReadonlyMap<string, NodeStanding> {
    const { network, status } = this.#options;
    const known = status().filter((node) => node.network === network);
    return new Map(known.map((node) => [node.name, node]));
  }

  #stateOf({ node }: Place, known = this.#known()): NodeState {
    return known.get(node.name)?.state ?? 'unknown';
  }

  #newestCredible({ node }: Place, connection: PubsubConnection): Slot | null {
    return newestCredible({
      last: connection.lastSlot?.slot ?? null,
      polled: polledSlot(this.#known().get(node.name)),
      network: this.networkSlot(),
    });
  }

  #hasRoom({ connections }: Place): boolean {
    const { connectionSubscriptionsMax, nodeConnectionsMax } = this.#options.limits;
    if (connections.size < nodeConnectionsMax) return true;
    return [...connections].some(({ load }) => load < connectionSubscriptionsMax);
  }

  /** One with room; else a new one; null when the node is full, or there is no connecting to it. */
  #connectionOf(place: Place): PubsubConnection | null {
    const { connectionSubscriptionsMax, nodeConnectionsMax } = this.#options.limits;
    for (const connection of place.connections) {
      if (connection.load < connectionSubscriptionsMax) return connection;
    }
    return place.connections.size < nodeConnectionsMax ? this.#connect(place) : null;
  }

  /** @returns null where its address or headers are none that a handshake can be made of: that is a failed try. */
  #connect(place: Place): PubsubConnection | null {
    const connection = this.#dialed(place);
    if (connection === null) return null;
    this.#slotAtOpen.set(connection, this.networkSlot());
    place.connections.add(connection);
    void connection.ready.then((ready) => {
      if (!ready) return;
      place.refuses = false;
      this.#options.log.info(this.#facts(place), 'connected to the PubSub of an upstream node');
    });
    return connection;
  }

  #dialed(place: Place): PubsubConnection | null {
    const { limits, log } = this.#options;
    try {
      const connection: PubsubConnection = new PubsubConnection({
        node: place.node,
        limits,
        newestCredible: () => this.#newestCredible(place, connection),
        onEnd: (end, detail) => this.#ended(place, connection, { end, detail }),
      });
      return connection;
    } catch {
      // What was caught may name the address.
      log.warn(
        this.#facts(place),
        'the PubSub of an upstream node has an address or a header that is not valid',
      );
      place.refuses = true;
      this.#rest(place);
      return null;
    }
  }

  #ended(
    place: Place,
    connection: PubsubConnection,
    { end, detail }: Readonly<{ end: ConnectionEnd; detail: string | null }>,
  ): void {
    place.connections.delete(connection);
    if (this.#stopped || end === 'taken out of service') return;
    place.refuses = end === 'the handshake was refused';
    this.#rest(place, connection.restMs);
    this.#options.log.warn(
      { ...this.#facts(place), end, ...(detail !== null && { detail }), subscriptions: connection.load },
      'lost the PubSub of an upstream node',
    );
  }

  /** @param askedMs - how long the node itself asked to be left alone; null when it did not. */
  #rest(place: Place, askedMs: number | null = null): void {
    const { reconnectMs, reconnectMaxMs } = this.#options.limits;
    // All connections of a node that dies end at once: that is one failure.
    if (place.restingUntil > performance.now()) return;
    const ms = doublingPause(reconnectMs, reconnectMaxMs, place.failures++);
    place.failedAt = performance.now();
    const restMs = Math.max(ms * (0.5 + Math.random() / 2), Math.min(askedMs ?? 0, REST_ASKED_MAX_MS));
    place.restingUntil = place.failedAt + restMs;
  }

  #facts({ node }: Place): { node: string; network: Network } {
    return { node: node.name, network: this.#options.network };
  }

  /** The watchdog: what counts is whether slots come, not whether the socket stands. */
  #look(): void {
    const reference = this.networkSlot();
    const known = this.#known();
    for (const place of this.#places) {
      const isStranger = this.#stateOf(place, known) === 'wrong-chain';
      for (const connection of place.connections) {
        const end = isStranger ? 'another chain' : this.#fault(place, connection, reference);
        if (end !== null) connection.end(end);
      }
    }
  }

  #fault(place: Place, connection: PubsubConnection, reference: Slot | null): ConnectionEnd | null {
    if (reference === null || !connection.tellsSlots) return null;
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
    const known = this.#known();
    const untried = places.find(
      (place) =>
        place.connections.size === 0 &&
        place.restingUntil <= now &&
        this.#stateOf(place, known) !== 'wrong-chain',
    );
    if (untried !== undefined) this.#connect(untried);
  }
}
