import { setTimeout as delay } from 'node:timers/promises';
import { changeKey } from '../../src/control/keys/change-key.ts';
import { createKey } from '../../src/control/keys/create-key.ts';
import { KeyOperationError, type KeyRegister } from '../../src/control/keys/key-register.ts';
import type { KeyTraffic } from './key-traffic.ts';
import type { Outages } from './outages.ts';

const POLL_MS = 20;
const PAUSE_MS = 500;
/** Limit of the plan. */
const PER_SECOND_MAX = 50;

/** Changes the rate limit of a key repeatedly and compares it with the limit that gateways report. */
export class LimitChanges {
  readonly violations: string[] = [];
  changes = 0;
  readonly #register: KeyRegister;
  readonly #traffic: KeyTraffic;
  readonly #outages: Outages;

  constructor(register: KeyRegister, traffic: KeyTraffic, outages: Outages) {
    this.#register = register;
    this.#traffic = traffic;
    this.#outages = outages;
  }

  async run(isOver: () => boolean): Promise<void> {
    const { secret, key } = await createKey(this.#register, { product: 'rpc', name: 'changing' });
    while (!isOver()) {
      await delay(PAUSE_MS);
      const perSecond = 5 + Math.floor(Math.random() * (PER_SECOND_MAX - 5));
      const rate = { perSecond, burst: 2 * perSecond };
      // The outcome of a change is unknown during an outage of the database: repeat it.
      const done = await changeKey(this.#register, key.id, { rate }).catch((error: unknown) => {
        if (error instanceof KeyOperationError) throw error;
        return null;
      });
      if (done === null) continue;
      this.changes++;
      await this.#untilReported(secret, perSecond);
    }
  }

  /** Waits until each gateway reports the rate. */
  async #untilReported(secret: string, perSecond: number): Promise<void> {
    const since = performance.now();
    for (let gateway = 0; gateway < this.#traffic.gateways; gateway++) {
      for (;;) {
        const startedAt = performance.now();
        const reported = await this.#traffic.rateOf(gateway, secret);
        // Disconnected gateways divide the limit (docs/explanation/limits-and-quotas.md).
        if (reported === perSecond || reported === perSecond / this.#traffic.gateways) break;
        if (startedAt > this.#outages.limitOf(since)) {
          const late = Math.round(startedAt - since);
          this.violations.push(
            `gateway-${gateway + 1} allows ${reported} per second ${late} ms after it became ${perSecond}`,
          );
          break;
        }
        await delay(POLL_MS);
      }
    }
  }
}
