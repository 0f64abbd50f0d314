import type { Network } from '../../protocol/call.ts';
import type { UpstreamNodeTable } from '../database/tables/nodes.ts';
import type { Peppers } from '../pepper.ts';
import { ServerKeys, WrapError } from '../semi-wallets/wrap.ts';

const PURPOSE = 'solway upstream nodes';

/** How a node is reached and used. Addresses and headers may hold a provider's key: never shown. */
export type NodeSettings = Readonly<{
  url: string;
  /** null: it has no PubSub. */
  ws: string | null;
  /** Nobody gave that address: it follows from `url`. */
  isWsDerived: boolean;
  /** null: it has no Geyser. */
  grpc: string | null;
  headers: Readonly<Record<string, string>>;
  /** What else the configuration says of nodes, by the names of the file. */
  options: Readonly<Record<string, unknown>>;
}>;

/** A node that was added while the service ran. */
export type AddedNode = Readonly<{ name: string; network: Network; settings: NodeSettings }>;

/** A node's settings under a key of the server. */
export type SealedNode = Pick<UpstreamNodeTable, 'sealed' | 'pepper_version'>;

/** Keeps nodes so that who steals the database cannot call them in our name. */
export class NodeSeal {
  readonly #keys: ServerKeys;

  constructor(peppers: Peppers) {
    this.#keys = new ServerKeys(peppers, PURPOSE);
  }

  /** The pepper that nodes are sealed under now. */
  get current(): number {
    return this.#keys.current;
  }

  /** Seals for this node alone: a row that is copied to another name or network does not open. */
  seal({ name, network, settings }: AddedNode): SealedNode {
    const { text, version } = this.#keys.wrap(JSON.stringify(settings), network, name);
    return { sealed: text, pepper_version: version };
  }

  /** @returns null for what was sealed under a pepper that is not here, or is damaged. */
  open(row: SealedNode & Pick<UpstreamNodeTable, 'name' | 'network'>): AddedNode | null {
    const { name, network, sealed, pepper_version: version } = row;
    try {
      const text = this.#keys.unwrap({ text: sealed, version }, network, name);
      return { name, network, settings: JSON.parse(text) as NodeSettings };
    } catch (error) {
      if (error instanceof WrapError) return null;
      throw error;
    }
  }
}
