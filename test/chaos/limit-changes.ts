import { setTimeout as delay } from 'node:timers/promises';
import { changeKey } from '../../src/control/keys/change-key.ts';
import type { KeyRegister } from '../../src/control/keys/key-register.ts';
import { createKey } from '../../src/control/keys/keys.ts';
import type { KeyTraffic } from './key-traffic.ts';
import type { Outages } from './outages.ts';

const POLL_MS = 20;
const PAUSE_MS = 500;

/** Changes the rate of a key, again and again, and holds what gateways say of it against what was asked. */
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
      const perSecond = 100 + Math.floor(Math.random() * 9_900);
      const rate = { perSecond, burst: 2 * perSecond };
      // What became of a change is not known where the database went away meanwhile: it is made again.
      const done = await changeKey(this.#register, key.id, { rate }).catch(() => null);
      if (done === null) continue;
      this.changes++;
      await this.#untilSaid(secret, perSecond);
    }
  }

  /** Until each gateway tells of the rate. */
  async #untilSaid(secret: string, perSecond: number): Promise<void> {
    const since = performance.now();
    for (let gateway = 0; gateway < this.#traffic.gateways; gateway++) {
      for (;;) {
        const startedAt = performance.now();
        const said = await this.#traffic.rateOf(gateway, secret);
        if (said === perSecond) break;
        if (startedAt > this.#outages.limitOf(since)) {
          const late = Math.round(startedAt - since);
          this.violations.push(
            `gateway-${gateway + 1} allows ${said} a second ${late} ms after it became ${perSecond}`,
          );
          break;
        }
        await delay(POLL_MS);
      }
    }
  }
}
