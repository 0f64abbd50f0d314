import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../base/log.ts';
import type { Network } from '../../protocol/call.ts';
import { type Slot, slot as slotOf } from '../../solana/units.ts';
import { withLowest } from '../balancing/load-balancer.ts';
import { exponentialBackoff } from '../exponential-backoff.ts';
import type { NodeState } from '../health/node-state.ts';
import { type NodeConfig, tierOf, weightOf } from '../node.ts';
import type { NodeFeedStatus } from '../node-status.ts';
import { newestOf } from '../slots/newest-slot.ts';
import type { FeedLimits } from './limits.ts';
import type {
  NodeSubscriptionListener,
  NodeSubscriptionRequest,
  SubscribeResponse,
} from './node-subscriptions.ts';
import { type ConnectionEnd, PubsubConnection } from './pubsub-connection.ts';
import type { SlotInfo } from './pubsub-message.ts';
import { maxPlausibleSlot, trustedSlot } from './trusted-slot.ts';

export type PubsubNodesOptions = Readonly<{
  network: Network;
  /** Nodes without a `ws` address are ignored. */
  nodes: readonly NodeConfig[];
  /** Status of the nodes on all networks. */
  status: () => readonly NodeFeedStatus[];
  limits: FeedLimits;
  log: Logger;
}>;

/** Times are on the `performance.now()` clock. */
class NodeEntry {
  readonly node: NodeConfig;
  readonly tier: number;
  readonly connections = new Set<PubsubConnection>();
  /** Since when the node has been healthy; null if it is not. */
  healthySince: number | null = null;
  /** How often connections returned from this node to one of a better priority, until none did for a while. */
  failBacks = 0;
  failedBackAt = Number.NEGATIVE_INFINITY;
  /** Number of consecutive failed connections and unacknowledged requests. */
  failures = 0;
  failedAt = Number.NEGATIVE_INFINITY;
  backoffUntil = 0;
  rejectsHandshake = false;

  constructor(node: NodeConfig) {
    this.node = node;
    this.tier = tierOf(node);
  }

  /** Number of subscriptions on all connections. */
  get load(): number {
    return [...this.connections].reduce((sum, { load }) => sum + load, 0);
  }

  get loadPerWeight(): number {
    return this.load / weightOf(this.node);
  }

  get newestSlot(): Slot | null {
    return newestOf([...this.connections].map(({ lastSlot }) => lastSlot?.slot ?? null));
  }
}

export type NodeSubscribeResult = Readonly<{
  node: string;
  connection: PubsubConnection;
  response: SubscribeResponse;
}>;

/** Assumed distance between the root and the network's slot, for connections that have reported no slot. */
const ROOT_DISTANCE = 32n;
const WATCHES_PER_STALL = 10;
/** Each return to a better priority doubles the time until the next one, up to this factor. */
const FAIL_BACK_FACTOR_MAX = 64;
const RETRY_AFTER_MAX_MS = 60_000;
const POLL_FRESH_MS = 30_000;

const polledSlot = (status: NodeFeedStatus | undefined): Slot | null =>
  status === undefined || (status.silentMs ?? POLL_FRESH_MS) >= POLL_FRESH_MS ? null : status.slot;

export class PubsubNodes {
  readonly #options: PubsubNodesOptions;
  #entries: readonly NodeEntry[] = [];
  readonly #watch: NodeJS.Timeout;
  /** The network's slot at connect time, to detect connections that never advance. */
  readonly #slotAtOpen = new WeakMap<PubsubConnection, Slot | null>();
  #stopped = false;

  constructor(options: PubsubNodesOptions) {
    this.#options = options;
    this.setNodes(options.nodes);
    this.#watch = setInterval(() => {
      // Ends connections that stall, lag or are on another chain.
      const reference = this.networkSlot();
      const statuses = this.#statusByName();
      for (const entry of this.#entries) {
        const isWrongChain = this.#stateOf(entry, statuses) === 'wrong-chain';
        for (const connection of entry.connections) {
          const end = isWrongChain ? 'wrong chain' : this.#fault(entry, connection, reference);
          if (end !== null) connection.end(end);
        }
      }
      this.#failBack(statuses);
    }, options.limits.stallMs / WATCHES_PER_STALL);
    this.#watch.unref();
  }

  get any(): boolean {
    return this.#entries.length > 0;
  }

  setNodes(nodes: readonly NodeConfig[]): void {
    const before = this.#entries;
    this.#entries = nodes
      .filter((node) => typeof node.ws === 'string')
      .map((node) => before.find((entry) => isDeepStrictEqual(entry.node, node)) ?? new NodeEntry(node));
    // Removed nodes are disconnected last, because their subscriptions immediately look for another node.
    const removed = before.filter((entry) => !this.#entries.includes(entry));
    for (const { connections } of removed) {
      for (const connection of [...connections]) connection.end('node removed');
    }
  }

  /** Subscribes on the best node that is not in `excluded`. @returns null if no node is available. */
  async subscribe(
    request: NodeSubscriptionRequest,
    listener: NodeSubscriptionListener,
    excluded: ReadonlySet<string>,
  ): Promise<NodeSubscribeResult | null> {
    let skipped = excluded;
    for (;;) {
      const entry = this.#choose(skipped);
      if (entry === null) return null;
      const connection = this.#connectionOf(entry);
      if (connection === null) {
        skipped = new Set([...skipped, entry.node.name]);
        continue;
      }
      if (!(await connection.ready))
        return { node: entry.node.name, connection, response: { kind: 'closed' } };
      // The connection may have filled up while it was connecting.
      if (connection.load >= this.#options.limits.connectionSubscriptionsMax) continue;
      const response = await connection.subscribe(request, listener);
      if (response.kind === 'timeout') this.#backOff(entry);
      else if (response.kind !== 'closed') entry.failures = 0;
      return { node: entry.node.name, connection, response };
    }
  }

  backoffRemainingMs(): number {
    const now = performance.now();
    return Math.max(0, Math.min(...this.#entries.map(({ backoffUntil }) => backoffUntil - now)));
  }

  get isFull(): boolean {
    const now = performance.now();
    const usable = this.#entries.filter(
      (entry) => entry.backoffUntil <= now && this.#stateOf(entry) !== 'wrong-chain',
    );
    return usable.length > 0 && !usable.some((entry) => this.#hasCapacity(entry));
  }

  get allRejectHandshake(): boolean {
    const entries = this.#entries.filter((entry) => this.#stateOf(entry) !== 'wrong-chain');
    return entries.length > 0 && entries.every(({ rejectsHandshake }) => rejectsHandshake);
  }

  /** The connection's last position, or the network's position if the connection has reported no slot. */
  position(connection: PubsubConnection): SlotInfo | null {
    return connection.lastSlot ?? this.networkPosition();
  }

  networkPosition(): SlotInfo | null {
    const slot = this.networkSlot();
    if (slot === null) return null;
    return { slot, parent: slot, root: slotOf(slot > ROOT_DISTANCE ? slot - ROOT_DISTANCE : 0n) };
  }

  networkSlot(): Slot | null {
    const statuses = this.#statusByName();
    const entries = new Map(this.#entries.map((entry) => [entry.node.name, entry]));
    const names = [...new Set([...statuses.keys(), ...entries.keys()])];
    const slots = names
      .filter((name) => statuses.get(name)?.state !== 'wrong-chain')
      .map((name) => ({
        polled: polledSlot(statuses.get(name)),
        observed: entries.get(name)?.newestSlot ?? null,
      }));
    return trustedSlot(slots, this.#options.limits.lagMaxSlots);
  }

  close(): void {
    this.#stopped = true;
    clearInterval(this.#watch);
    for (const connection of this.#entries.flatMap(({ connections }) => [...connections]))
      connection.end('closed by us');
  }

  /** The least loaded node of the best priority. Prefers healthy nodes without a recent failure. */
  #choose(excluded: ReadonlySet<string>): NodeEntry | null {
    if (this.#stopped) return null;
    const now = performance.now();
    const statuses = this.#statusByName();
    const stateOf = (entry: NodeEntry): NodeState => this.#stateOf(entry, statuses);
    const open = this.#entries.filter(
      (entry) =>
        entry.backoffUntil <= now &&
        !excluded.has(entry.node.name) &&
        stateOf(entry) !== 'wrong-chain' &&
        this.#hasCapacity(entry),
    );
    const usable = open.filter((entry) => stateOf(entry) === 'healthy' || stateOf(entry) === 'unknown');
    const reliable = usable.filter(
      (entry) => !(entry.failures > 0 && now - entry.failedAt < this.#options.limits.openTimeoutMs),
    );
    const candidates = [reliable, usable, open].find(({ length }) => length > 0) ?? [];
    return withLowest('tier', candidates).reduce<NodeEntry | null>(
      (best, entry) => (best === null || entry.loadPerWeight < best.loadPerWeight ? entry : best),
      null,
    );
  }

  #statusByName(): ReadonlyMap<string, NodeFeedStatus> {
    const { network, status } = this.#options;
    const statuses = status().filter((node) => node.network === network);
    return new Map(statuses.map((node) => [node.name, node]));
  }

  #stateOf({ node }: NodeEntry, statuses = this.#statusByName()): NodeState {
    return statuses.get(node.name)?.state ?? 'unknown';
  }

  #maxPlausibleSlot({ node }: NodeEntry, connection: PubsubConnection): Slot | null {
    return maxPlausibleSlot({
      last: connection.lastSlot?.slot ?? null,
      polled: polledSlot(this.#statusByName().get(node.name)),
      network: this.networkSlot(),
    });
  }

  #hasCapacity({ connections }: NodeEntry): boolean {
    const { connectionSubscriptionsMax, nodeConnectionsMax } = this.#options.limits;
    if (connections.size < nodeConnectionsMax) return true;
    return [...connections].some(({ load }) => load < connectionSubscriptionsMax);
  }

  #connectionOf(entry: NodeEntry): PubsubConnection | null {
    const { connectionSubscriptionsMax, nodeConnectionsMax } = this.#options.limits;
    for (const connection of entry.connections) {
      if (connection.load < connectionSubscriptionsMax) return connection;
    }
    return entry.connections.size < nodeConnectionsMax ? this.#connect(entry) : null;
  }

  #connect(entry: NodeEntry): PubsubConnection | null {
    const connection = this.#dial(entry);
    if (connection === null) return null;
    this.#slotAtOpen.set(connection, this.networkSlot());
    entry.connections.add(connection);
    void connection.ready.then((ready) => {
      if (!ready) return;
      entry.rejectsHandshake = false;
      this.#options.log.info(this.#facts(entry), 'Connected to upstream PubSub');
    });
    return connection;
  }

  #dial(entry: NodeEntry): PubsubConnection | null {
    const { limits, log } = this.#options;
    try {
      const connection: PubsubConnection = new PubsubConnection({
        node: entry.node,
        limits,
        maxPlausibleSlot: () => this.#maxPlausibleSlot(entry, connection),
        onEnd: (end, detail) => this.#handleEnd(entry, connection, { end, detail }),
      });
      return connection;
    } catch {
      // Does not log the error's message, which may contain the address.
      log.warn(this.#facts(entry), 'Invalid upstream PubSub address or header');
      entry.rejectsHandshake = true;
      this.#backOff(entry);
      return null;
    }
  }

  #handleEnd(
    entry: NodeEntry,
    connection: PubsubConnection,
    { end, detail }: Readonly<{ end: ConnectionEnd; detail: string | null }>,
  ): void {
    entry.connections.delete(connection);
    if (this.#stopped || end === 'node removed') return;
    if (end === 'better priority available') {
      this.#options.log.info(this.#facts(entry), 'Subscriptions return to a node of a better priority');
      return;
    }
    entry.rejectsHandshake = end === 'handshake rejected';
    this.#backOff(entry, connection.retryAfterMs);
    this.#options.log.warn(
      { ...this.#facts(entry), end, ...(detail !== null && { detail }), subscriptions: connection.load },
      'Upstream PubSub connection lost',
    );
  }

  #backOff(entry: NodeEntry, requestedMs: number | null = null): void {
    const { reconnectMs, reconnectMaxMs } = this.#options.limits;
    // When a node fails, all its connections end at once, which counts as one failure.
    if (entry.backoffUntil > performance.now()) return;
    const ms = exponentialBackoff(reconnectMs, reconnectMaxMs, entry.failures++);
    entry.failedAt = performance.now();
    const backoffMs = Math.max(
      ms * (0.5 + Math.random() / 2),
      Math.min(requestedMs ?? 0, RETRY_AFTER_MAX_MS),
    );
    entry.backoffUntil = entry.failedAt + backoffMs;
  }

  /** Ends connections once a node of a better priority has been healthy for long enough. */
  #failBack(statuses: ReadonlyMap<string, NodeFeedStatus>): void {
    const now = performance.now();
    const { failBackMs } = this.#options.limits;
    for (const entry of this.#entries) {
      const isOpen = entry.backoffUntil <= now && this.#hasCapacity(entry);
      const isHealthy = isOpen && this.#stateOf(entry, statuses) === 'healthy';
      entry.healthySince = isHealthy ? (entry.healthySince ?? now) : null;
    }
    for (const entry of this.#entries) {
      if (entry.connections.size === 0) continue;
      if (now - entry.failedBackAt > 2 * FAIL_BACK_FACTOR_MAX * failBackMs) entry.failBacks = 0;
      const waitMs = failBackMs * Math.min(2 ** entry.failBacks, FAIL_BACK_FACTOR_MAX);
      const hasBetter = this.#entries.some(
        ({ tier, healthySince }) =>
          tier < entry.tier && healthySince !== null && now - healthySince >= waitMs,
      );
      if (!hasBetter) continue;
      entry.failBacks++;
      entry.failedBackAt = now;
      for (const connection of [...entry.connections]) connection.end('better priority available');
    }
  }

  #facts({ node }: NodeEntry): { node: string; network: Network } {
    return { node: node.name, network: this.#options.network };
  }

  #fault(entry: NodeEntry, connection: PubsubConnection, reference: Slot | null): ConnectionEnd | null {
    if (reference === null || !connection.sendsSlots) return null;
    const { stallMs, lagMaxSlots } = this.#options.limits;
    const now = performance.now();
    const observed = connection.lastSlot?.slot ?? this.#slotAtOpen.get(connection) ?? reference;
    if (reference > observed && now - connection.progressAt > stallMs) return 'slot stalled';
    if (reference <= observed + BigInt(lagMaxSlots)) return null;
    return this.#hasBetter(entry, reference) ? 'lagging' : null;
  }

  /** A lagging connection stays open until another node is known not to lag. */
  #hasBetter(laggard: NodeEntry, reference: Slot): boolean {
    const lag = BigInt(this.#options.limits.lagMaxSlots);
    const isGood = ({ lastSlot }: PubsubConnection): boolean =>
      lastSlot !== null && lastSlot.slot + lag >= reference;
    const others = this.#entries.filter((entry) => entry !== laggard);
    if (others.some(({ connections }) => [...connections].some(isGood))) return true;
    // Connects to an unused node, to learn its slot.
    const now = performance.now();
    const statuses = this.#statusByName();
    const untried = others.find(
      (entry) =>
        entry.connections.size === 0 &&
        entry.backoffUntil <= now &&
        this.#stateOf(entry, statuses) !== 'wrong-chain',
    );
    if (untried !== undefined) this.#connect(untried);
    return false;
  }
}
