import { Turnstile } from '../../base/turnstile.ts';
import { type Network, networks } from '../../protocol/call.ts';

/** The turns of one key family on one network, and how many of its calls are there or wait. */
type Owned = { readonly turns: Turnstile; calls: number };

/**
 * Places for calls to nodes: so many of a key family on a network, and so many of all on a network. So neither one
 * customer nor one slow network holds up the others. Whoever waits is one of the requests under way, which are bounded.
 */
export class CallTurns {
  readonly #ofNetwork: Readonly<Record<Network, Turnstile>>;
  readonly #ownerMax: number;
  readonly #owned = new Map<string, Owned>();

  /**
   * @param networkMax - calls of all to the nodes of a network at a time.
   * @param ownerMax - those of one key family.
   */
  constructor(networkMax: number, ownerMax: number) {
    const turns = networks.map((network) => [network, new Turnstile(networkMax)] as const);
    this.#ofNetwork = Object.fromEntries(turns) as Record<Network, Turnstile>;
    this.#ownerMax = ownerMax;
  }

  /** Runs a call when it is its turn. */
  async run<T>(ownerId: string, network: Network, call: () => Promise<T>): Promise<T> {
    const name = `${network} ${ownerId}`;
    const owned = this.#owned.get(name) ?? { turns: new Turnstile(this.#ownerMax), calls: 0 };
    this.#owned.set(name, owned);
    owned.calls++;
    try {
      return await owned.turns.run(() => this.#ofNetwork[network].run(call));
    } finally {
      if (--owned.calls === 0) this.#owned.delete(name);
    }
  }
}
