import type { Configuration } from '../config/configuration.ts';
import { Admission } from '../gateway/admission.ts';
import { FailedAuthLimiter } from '../gateway/auth/failed-auth-limiter.ts';
import { RateLimiter } from '../gateway/limits/rate-limiter.ts';
import { CallMeter, type CallMeterParts } from '../gateway/metering/call-meter.ts';
import type { PipelineParts } from '../gateway/pipeline.ts';
import type { Access } from './access.ts';

/** The parts that record requests, submissions and connections. */
type Recorders = Required<
  Pick<CallMeterParts, 'requestLog' | 'counters' | 'unknownMethods'> &
    Pick<PipelineParts, 'submissions' | 'connections'>
>;

/** All listeners share these services, so each key has one rate limit, one quota and one usage count. */
export function buildAdmissionServices(
  { keys, localnet }: Configuration,
  access: Access,
  recorders: Recorders,
) {
  const { requestLog, counters, unknownMethods, connections, submissions } = recorders;
  const admission = new Admission({
    keys: access.keys,
    limiter: access.limits.rates,
    quota: access.limits.quota,
    addressLimiter: new RateLimiter({ familiesMax: keys.addressesMax }),
    // Passes the live section of the configuration, so that a reload takes effect.
    failedAuthLimiter: new FailedAuthLimiter(keys),
    testMethods: localnet.testMethods,
  });
  const meter = new CallMeter({
    usage: access.usage,
    quota: access.limits.quota,
    lastUsed: access.lastUsed,
    requestLog,
    counters,
    unknownMethods,
  });
  return { admission, meter, connections, submissions };
}
