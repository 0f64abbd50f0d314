import type { Answer, DirectSource, Network } from '../../protocol/call.ts';
import { genesisCall, genesisIn } from '../chain.ts';

/** How often a network is asked for its genesis again: one for tests may begin anew under its old name. */
const LOOK_INTERVAL_MS = 60_000;

/** Which chains the networks are, by the hashes of their genesis. */
export class ChainNames {
  readonly #source: DirectSource;
  readonly #names = new Map<Network, string>();
  readonly #askedAt = new Map<Network, number>();

  constructor(source: DirectSource) {
    this.#source = source;
  }

  /** The name as far as it is known, at once; null while it is not. */
  nameOf(network: Network): string | null {
    const now = performance.now();
    if (now - (this.#askedAt.get(network) ?? Number.NEGATIVE_INFINITY) >= LOOK_INTERVAL_MS) {
      this.#askedAt.set(network, now);
      this.#look(network);
    }
    return this.#names.get(network) ?? null;
  }

  #look(network: Network): void {
    this.#source.put(genesisCall(network), {
      answered: (answer) => this.#learn(network, answer),
      // Asked again with the next call.
      failed: () => this.#askedAt.delete(network),
    });
  }

  #learn(network: Network, answer: Answer): void {
    const hash = genesisIn(answer);
    if (hash === null) this.#names.delete(network);
    else this.#names.set(network, hash);
  }
}
