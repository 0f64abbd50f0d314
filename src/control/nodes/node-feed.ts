import type { Network } from '../../protocol/call.ts';
import type { ParsedRouteInput } from '../api/contract/contract.ts';
import type { NodeReportJson } from '../api/contract/nodes.ts';
import type { Store } from '../database/store.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import { PeriodicTask } from '../periodic-task.ts';
import {
  ADDED_NODES_MAX,
  type AddedNode,
  type NodeSeal,
  type NodeSettings,
  readNodeRows,
  resealNodes,
} from './added-nodes.ts';

export type NodeInput = Omit<ParsedRouteInput<'POST /upstreams'>['body'], 'force'>;

/** A node from the configuration file, or the embedded ledger. */
export type FixedNode = Readonly<{ network: Network; name: string; source: 'file' | 'ledger' }>;

export type NodeServices = Readonly<{
  seal: NodeSeal;
  /** This process's nodes that were not added at run time. */
  fixed: () => readonly FixedNode[];
  /** Applies the validation rules and defaults of the configuration. @throws ApiError 422 */
  parse: (input: NodeInput) => NodeSettings;
  /** Checks a node. Node failures appear in the report and never reject the promise. */
  probe: (node: AddedNode) => Promise<NodeReportJson>;
  /** Applies the stored nodes to this process immediately. */
  applyChanges: () => Promise<void>;
}>;

/** `unreadable`: names of nodes that cannot be decrypted, because the pepper is missing or the data is corrupt. */
export type NodesSnapshot = Readonly<{ nodes: readonly AddedNode[]; unreadable: readonly string[] }>;

type NodeFeedOptions = Readonly<{
  store: Store;
  seal: NodeSeal;
  /** Called with all nodes after each change. Must not throw. */
  onNodes: (read: NodesSnapshot) => void;
  pollIntervalMs?: number;
  onState?: OnState;
}>;

/** Short, because changes must take effect on every gateway within two seconds. */
const POLL_INTERVAL_MS = 500;

/** Polls the store for nodes that any gateway added, changed or removed. */
export class NodeFeed {
  readonly #options: NodeFeedOptions;
  #appliedVersions = '';
  readonly #task: PeriodicTask;

  constructor(options: NodeFeedOptions) {
    this.#options = options;
    const state = new FailureState(options.onState);
    const { pollIntervalMs = POLL_INTERVAL_MS } = options;
    this.#task = new PeriodicTask(() => state.guard(() => this.#poll()), pollIntervalMs);
  }

  /** Re-encrypts the nodes with the current pepper and reads them. */
  async start(): Promise<NodesSnapshot> {
    await resealNodes(this.#options.store, this.#options.seal);
    this.#appliedVersions = await this.#versions();
    return this.#read();
  }

  watch(): void {
    this.#task.start();
  }

  /** Polls now. Resolves once changes committed before the call have been reported, or the poll has failed. */
  refresh(): Promise<void> {
    return this.#task.rerun();
  }

  stop(): Promise<void> {
    return this.#task.stop();
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
    const nodes: AddedNode[] = [];
    const unreadable: string[] = [];
    for (const row of rows) {
      const { name, network } = row;
      const settings = seal.open(row, network, name);
      if (settings === null) unreadable.push(name);
      else nodes.push({ name, network, settings });
    }
    return { nodes, unreadable };
  }
}
