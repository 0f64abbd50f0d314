import { Admission } from '../access/admission.ts';
import { RateLimiter } from '../access/rate-limit.ts';
import { WrongKeys } from '../access/wrong-keys.ts';
import { CallMeter } from '../gateway/call-meter.ts';
import type { LiveConnections } from '../observe/live-connections.ts';
import type { SubmissionLog } from '../observe/submission-log.ts';
import type { Access } from './access.ts';
import type { Configuration } from './configuration.ts';
import type { Observing } from './observing.ts';

/** What the gates of all doors have in common: who may come in, and what becomes of each request. */
export type Entrance = Readonly<{
  admission: Admission;
  meter: CallMeter;
  connections: LiveConnections;
  submissions: SubmissionLog;
}>;

/** Builds what all gates share: a key has one rate, one quota and one usage over all doors. */
export function buildEntrance({ keys }: Configuration, access: Access, observing: Observing): Entrance {
  const { watch, connections, submissions } = observing;
  const wrongKeys = new WrongKeys({
    get wrongKeysPerMinute() {
      return keys.wrongKeysPerMinute;
    },
    get refusedMs() {
      return keys.wrongKeysRefusedMs;
    },
    addressesMax: keys.addressesMax,
    exempt: keys.wrongKeysExempt,
  });
  const admission = new Admission({
    keys: access.keys,
    limiter: access.limits.rates,
    quota: access.limits.quota,
    addressLimiter: new RateLimiter({ familiesMax: keys.addressesMax }),
    wrongKeys,
  });
  const meter = new CallMeter({ usage: access.usage, quota: access.limits.quota, uses: access.uses, watch });
  return { admission, meter, connections, submissions };
}
