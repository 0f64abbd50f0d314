import type { Network } from '../../protocol/call.ts';
import type { AddedNode, NodeSeal, NodeSettings } from './node-seal.ts';

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
