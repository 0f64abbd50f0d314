import type { Configuration } from '../config/configuration.ts';
import { Admission } from '../gateway/admission.ts';
import { FailedAuthLimiter } from '../gateway/auth/failed-auth-limiter.ts';
import { RateLimiter } from '../gateway/limits/rate-limiter.ts';
import { CallMeter } from '../gateway/metering/call-meter.ts';
import type { LiveConnections } from '../gateway/telemetry/live-connections.ts';
import type { SubmissionLog } from '../gateway/telemetry/submission-log.ts';
import type { Access } from './access.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

/** What the gates of all doors have in common: who may come in, and what becomes of each request. */
export type AdmissionServices = Readonly<{
  admission: Admission;
  meter: CallMeter;
  connections: LiveConnections;
  submissions: SubmissionLog;
}>;

/** Builds what all gates share: a key has one rate, one quota and one usage over all doors. */
export function buildAdmissionServices(
  { keys }: Configuration,
  access: Access,
  telemetry: Telemetry,
): AdmissionServices {
  const { requestLog, counters, connections, submissions } = telemetry;
  const wrongKeys = new FailedAuthLimiter({
    get wrongKeysPerMinute() {
      return keys.wrongKeysPerMinute;
    },
    get blockMs() {
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
    failedAuthLimiter: wrongKeys,
  });
  const meter = new CallMeter({
    usage: access.usage,
    quota: access.limits.quota,
    lastUsed: access.lastUsed,
    requestLog,
    counters,
  });
  return { admission, meter, connections, submissions };
}
