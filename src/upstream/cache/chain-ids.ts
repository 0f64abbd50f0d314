import type { Network, RpcDispatcher, RpcResponse } from '../../protocol/call.ts';
import { genesisCall, parseGenesisHash } from '../genesis.ts';

/** How often a network is asked for its genesis again: one for tests may begin anew under its old name. */
const REFRESH_INTERVAL_MS = 60_000;

/** Which chains the networks are, by the hashes of their genesis. */
export class ChainIds {
  readonly #source: RpcDispatcher;
  readonly #chainIds = new Map<Network, string>();
  readonly #requestedAt = new Map<Network, number>();

  constructor(source: RpcDispatcher) {
    this.#source = source;
  }

  /** The name as far as it is known, at once; null while it is not. */
  chainIdOf(network: Network): string | null {
    const now = performance.now();
    if (now - (this.#requestedAt.get(network) ?? Number.NEGATIVE_INFINITY) >= REFRESH_INTERVAL_MS) {
      this.#requestedAt.set(network, now);
      this.#refresh(network);
    }
    return this.#chainIds.get(network) ?? null;
  }

  #refresh(network: Network): void {
    this.#source.dispatch(genesisCall(network), {
      onResponse: (response) => this.#record(network, response),
      // Asked again with the next call.
      onError: () => this.#requestedAt.delete(network),
    });
  }

  #record(network: Network, response: RpcResponse): void {
    const hash = parseGenesisHash(response);
    if (hash === null) this.#chainIds.delete(network);
    else this.#chainIds.set(network, hash);
  }
}
