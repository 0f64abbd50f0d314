import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { type Network, networks } from '../../protocol/call.ts';

/** The turns of one key family on one network, and how many of its calls are there or wait. */
type KeySemaphore = { readonly semaphore: Semaphore; calls: number };

/**
 * Places for calls to nodes: so many of a key family on a network, and so many of all on a network. So neither one
 * customer nor one slow network holds up the others. Whoever waits is one of the requests under way, which are bounded.
 */
export class CallConcurrencyLimiter {
  readonly #networkSemaphores: Readonly<Record<Network, Semaphore>>;
  readonly #keyMax: number;
  readonly #keySemaphores = new Map<string, KeySemaphore>();

  /**
   * @param networkMax - calls of all to the nodes of a network at a time.
   * @param ownerMax - those of one key family.
   */
  constructor(networkMax: number, keyMax: number) {
    const semaphores = networks.map((network) => [network, new Semaphore(networkMax)] as const);
    this.#networkSemaphores = Object.fromEntries(semaphores) as Record<Network, Semaphore>;
    this.#keyMax = keyMax;
  }

  /** Runs a call when it is its turn. */
  async run<T>(familyId: string, network: Network, call: () => Promise<T>): Promise<T> {
    const name = `${network} ${familyId}`;
    const entry = this.#keySemaphores.get(name) ?? { semaphore: new Semaphore(this.#keyMax), calls: 0 };
    this.#keySemaphores.set(name, entry);
    entry.calls++;
    try {
      return await entry.semaphore.run(() => this.#networkSemaphores[network].run(call));
    } finally {
      if (--entry.calls === 0) this.#keySemaphores.delete(name);
    }
  }
}
