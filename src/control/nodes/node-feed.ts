import type { Network } from '../../protocol/call.ts';
import type { Store } from '../database/open.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import {
  ADDED_NODES_MAX,
  type AddedNode,
  type NodeSeal,
  type NodeSettings,
  readNodeRows,
  resealNodes,
} from './added-nodes.ts';

/** What a node said of itself; null where it did not say. Holds no address and no secret. */
export type NodeReport = Readonly<{
  reachable: boolean;
  latencyMs: number | null;
  version: string | null;
  genesisHash: string | null;
  healthy: boolean | null;
  slot: string | null;
  firstAvailableBlock: string | null;
  /** An `error` makes the node useless, a `warning` limits it. */
  findings: readonly Readonly<{ severity: 'error' | 'warning'; finding: string; remedy: string }>[];
}>;

/** How a caller says that a node is reached; names of `options` are those of the file. */
export type NodeInput = Readonly<{
  network: Network;
  name: string;
  url: string;
  ws?: string | null | undefined;
  grpc?: string | null | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  options?: Readonly<Record<string, unknown>> | undefined;
}>;

/** A node that nobody added: of the file, or the embedded ledger. */
export type FixedNode = Readonly<{ network: Network; name: string; source: 'file' | 'ledger' }>;

/** What handlers of the nodes stand on besides the store. */
export type NodeServices = Readonly<{
  seal: NodeSeal;
  /** Those of this process's configuration. */
  fixed: () => readonly FixedNode[];
  /** Checks it as the configuration does, and completes it. @throws ApiError 422 */
  parse: (given: NodeInput) => NodeSettings;
  /** Asks a node who it is and what it can do. Never rejects for what the node does. */
  probe: (node: AddedNode) => Promise<NodeReport>;
  /** What of a node takes a restart, in words. */
  notesOf: (node: AddedNode) => readonly string[];
  /** Lets this process take up at once what is in the store. */
  applyChanges: () => Promise<void>;
}>;

/** What became of the nodes that were added; `unreadable` are sealed under a pepper that is not here. */
export type NodesSnapshot = Readonly<{ nodes: readonly AddedNode[]; unreadable: readonly string[] }>;

type NodeFeedOptions = Readonly<{
  store: Store;
  seal: NodeSeal;
  /** Gets all of them whenever one was added, changed or removed. Must not throw. */
  onNodes: (read: NodesSnapshot) => void;
  /** How often it looks whether there are others: names and versions of one small table are read. */
  pollIntervalMs?: number;
  /** Hears when the store begins to fail, and with null when it works again. */
  onState?: OnState;
}>;

/** What holds when nothing else is said. A change is to be in force everywhere within a second or two. */
const nodeFeedOptions = { pollIntervalMs: 500 } as const;

/** Carries nodes that were added through any gateway from the store to this one. */
export class NodeFeed {
  readonly #options: NodeFeedOptions;
  readonly #state: FailureState;
  /** Names and versions of those that were told last. */
  #appliedVersions = '';
  #polling: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: NodeFeedOptions) {
    this.#options = options;
    this.#state = new FailureState(options.onState);
  }

  /** Reads the nodes for the first time, sealed under the pepper of today. @throws the driver's error. */
  async start(): Promise<NodesSnapshot> {
    await resealNodes(this.#options.store, this.#options.seal);
    this.#appliedVersions = await this.#versions();
    return this.#read();
  }

  /** Begins to look for changes. */
  watch(): void {
    const { pollIntervalMs = nodeFeedOptions.pollIntervalMs } = this.#options;
    this.#timer ??= setInterval(() => void this.poll(), pollIntervalMs);
  }

  /** Looks whether there are others, and tells them. Never rejects. */
  poll(): Promise<void> {
    this.#polling ??= this.#state
      .guard(() => this.#poll())
      .finally(() => {
        this.#polling = null;
      });
    return this.#polling;
  }

  /** Looks again; resolves when what was in the store at the call was told, or could not be read. */
  async refresh(): Promise<void> {
    await this.#polling;
    await this.poll();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#polling;
  }

  async #poll(): Promise<void> {
    const versions = await this.#versions();
    if (versions === this.#appliedVersions) return;
    const read = await this.#read();
    this.#appliedVersions = versions;
    this.#options.onNodes(read);
  }

  async #versions(): Promise<string> {
    const rows = await this.#options.store.db
      .selectFrom('upstream_node')
      .select(['name', 'version'])
      .orderBy('name')
      .limit(ADDED_NODES_MAX)
      .execute();
    return JSON.stringify(rows.map(({ name, version }) => [name, version]));
  }

  async #read(): Promise<NodesSnapshot> {
    const { store, seal } = this.#options;
    const rows = await readNodeRows(store.db);
    const opened = rows.map((row) => ({ name: row.name, node: seal.open(row) }));
    return {
      nodes: opened.flatMap(({ node }) => (node === null ? [] : [node])),
      unreadable: opened.flatMap(({ name, node }) => (node === null ? [name] : [])),
    };
  }
}
