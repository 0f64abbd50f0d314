import { setTimeout as delay } from 'node:timers/promises';
import { changeKey } from '../../src/control/keys/change-key.ts';
import { createKey } from '../../src/control/keys/create-key.ts';
import { KeyOperationError, type KeyRegister } from '../../src/control/keys/key-register.ts';
import { type KeyTraffic, POLL_MS } from './key-traffic.ts';
import type { Outages } from './outages.ts';

const PAUSE_MS = 500;
const PER_SECOND_MAX = 50;

/**
 * Changes the rate limit of a key repeatedly and compares it with the limit that gateways report.
 * @returns the number of checked changes, and violations.
 */
export async function changeLimits(
  register: KeyRegister,
  traffic: KeyTraffic,
  outages: Outages,
  isOver: () => boolean,
): Promise<{ changes: number; violations: string[] }> {
  const violations: string[] = [];
  const { secret, key } = await createKey(register, { product: 'rpc', name: 'changing' });

  const untilReported = async (gateway: number, perSecond: number, since: number): Promise<void> => {
    for (;;) {
      const startedAt = performance.now();
      const reported = await traffic.rateOf(gateway, secret);
      // Disconnected gateways divide the limit (docs/explanation/limits-and-quotas.md).
      if (reported === perSecond || reported === perSecond / traffic.gateways) return;
      const late = Math.round(startedAt - since);
      const what = `gateway-${gateway + 1} allows ${reported} per second ${late} ms after it became ${perSecond}`;
      if (startedAt > outages.limitOf(since)) return void violations.push(what);
      await delay(POLL_MS);
    }
  };
  let changes = 0;
  while (!isOver()) {
    await delay(PAUSE_MS);
    const perSecond = 5 + Math.floor(Math.random() * (PER_SECOND_MAX - 5));
    const rate = { perSecond, burst: 2 * perSecond };
    // The outcome of a change is unknown during an outage of the database: repeat it.
    const done = await changeKey(register, key.id, { rate }).catch((error: unknown) => {
      if (error instanceof KeyOperationError) throw error;
      return null;
    });
    if (done === null) continue;
    changes++;
    const since = performance.now();
    for (let gateway = 0; gateway < traffic.gateways; gateway++)
      await untilReported(gateway, perSecond, since);
  }
  return { changes, violations };
}
