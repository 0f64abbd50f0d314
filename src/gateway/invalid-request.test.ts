import { expect, it } from 'vitest';
import { dispatcherOf } from '../../test/upstream/mock/dispatcher.ts';
import { createLogger } from '../base/log.ts';
import { unknownClient } from '../protocol/client-info.ts';
import { Failure } from '../protocol/errors.ts';
import { Admission } from './admission.ts';
import { digestApiKey, generateApiKey } from './auth/api-key.ts';
import { KeyDirectory } from './auth/key-directory.ts';
import { defaultPlanLimits, internalKey } from './auth/key-record.ts';
import { CallMeter } from './metering/call-meter.ts';
import { LastUsedTracker } from './metering/last-used.ts';
import { UsageMeter } from './metering/usage-meter.ts';
import { createPipeline } from './pipeline.ts';
import { RequestWatch } from './telemetry/request-watch.ts';

const pepper = Buffer.alloc(32, 1);

it('what is no call is in usage and in the request log, and is a use of the key, once and for nothing', () => {
  const [usage, uses, watch] = [new UsageMeter(), new LastUsedTracker(), new RequestWatch()];
  const keys = new KeyDirectory({ peppers: new Map([[1, pepper]]) });
  const { id, text } = generateApiKey('rpc');
  // A price by that name is for methods that are not known.
  const limits = { ...defaultPlanLimits, prices: { other: 9 } };
  const record = {
    id,
    product: 'rpc',
    ...internalKey,
    familyId: id,
    name: 'test',
    pepperVersion: 1,
  } as const;
  const rest = { digest: digestApiKey(text, pepper), expiresAt: null, status: 'active', version: 1 } as const;
  keys.apply([{ ...record, ...rest, limits }]);
  keys.setStoreReachable(true);
  const { recordInvalidRequest } = createPipeline({
    admission: new Admission({ keys }),
    source: dispatcherOf(() => Promise.reject(new Error('nothing is asked'))),
    meter: new CallMeter({ usage, lastUsed: uses, watch }),
    log: createLogger('silent', () => {}),
  });
  const client = { ...unknownClient, address: '192.0.2.1' };
  const from = { credential: text, client, product: 'rpc', network: 'devnet' } as const;
  const fault = new Failure('PARSE_ERROR');
  expect(recordInvalidRequest({ ...from, fault, bytesIn: 4, idBytes: 4 }).failure).toBe(fault);
  expect(usage.drain()).toMatchObject([
    { keyId: id, method: 'other', status: 'client', requests: 1, bytesIn: 4, credits: 0 },
  ]);
  expect(uses.unsaved(Date.now())).toMatchObject([{ keyId: id, from: '192.0.2.1' }]);
  expect(watch.log.drain()).toMatchObject([
    {
      ...{ keyId: id, method: 'other', status: 'client', failure: 'PARSE_ERROR', http: 200 },
      rpcCode: -32700,
    },
  ]);
});
