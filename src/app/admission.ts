import { Admission } from '../access/admission.ts';
import { RateLimiter } from '../access/rate-limit.ts';
import { WrongKeys } from '../access/wrong-keys.ts';
import { CallMeter } from '../gateway/call-meter.ts';
import type { Access } from './access.ts';
import type { Configuration } from './configuration.ts';

/** What the gates of all doors have in common: who may come in, and what becomes of each request. */
export type Entrance = Readonly<{ admission: Admission; meter: CallMeter }>;

/** Builds what all gates share: a key has one rate, one quota and one usage over all doors. */
export function buildEntrance({ keys }: Configuration, access: Access): Entrance {
  const wrongKeys = new WrongKeys({
    wrongKeysPerMinute: keys.wrongKeysPerMinute,
    refusedMs: keys.wrongKeysRefusedMs,
    addressesMax: keys.addressesMax,
    exempt: keys.wrongKeysExempt,
  });
  const admission = new Admission({
    keys: access.keys,
    limiter: new RateLimiter({ familiesMax: keys.keysMax }),
    addressLimiter: new RateLimiter({ familiesMax: keys.addressesMax }),
    wrongKeys,
  });
  return { admission, meter: new CallMeter({ usage: access.usage, uses: access.uses }) };
}
