import { expect, it } from 'vitest';
import { Admission } from '../access/admission.ts';
import { digestApiKey, generateApiKey } from '../access/api-key.ts';
import { KeyDirectory } from '../access/key-directory.ts';
import { defaultPlanLimits, houseKey } from '../access/key-record.ts';
import { KeyUses } from '../access/key-uses.ts';
import { UsageMeter } from '../access/usage.ts';
import { createLogger } from '../base/log.ts';
import { RequestWatch } from '../observe/request-watch.ts';
import { nowhere } from '../protocol/client-at.ts';
import { Failure } from '../protocol/errors.ts';
import { CallMeter } from './call-meter.ts';
import { createPipeline } from './pipeline.ts';

const pepper = Buffer.alloc(32, 1);

it('what is no call is in usage and in the request log, and is a use of the key, once and for nothing', () => {
  const [usage, uses, watch] = [new UsageMeter(), new KeyUses(), new RequestWatch()];
  const keys = new KeyDirectory({ peppers: new Map([[1, pepper]]) });
  const { id, text } = generateApiKey('rpc');
  // A price by that name is for methods that are not known.
  const limits = { ...defaultPlanLimits, prices: { other: 9 } };
  const record = { id, product: 'rpc', ...houseKey, familyId: id, name: 'test', pepperVersion: 1 } as const;
  const rest = { digest: digestApiKey(text, pepper), expiresAt: null, state: 'active', version: 1 } as const;
  keys.apply([{ ...record, ...rest, limits }]);
  keys.setStoreReachable(true);
  const { countNonCall } = createPipeline({
    admission: new Admission({ keys }),
    source: { ask: () => Promise.reject(new Error('nothing is asked')) },
    meter: new CallMeter({ usage, uses, watch }),
    log: createLogger('silent', () => {}),
  });
  const client = { ...nowhere, address: '192.0.2.1' };
  const from = { credential: text, client, product: 'rpc', network: 'devnet' } as const;
  const fault = new Failure('PARSE_ERROR');
  expect(countNonCall({ ...from, fault, bytesIn: 4, idBytes: 4 }).failure).toBe(fault);
  expect(usage.drain()).toMatchObject([
    { keyId: id, method: 'other', status: 'client', requests: 1, bytesIn: 4, credits: 0 },
  ]);
  expect(uses.untold(Date.now())).toMatchObject([{ keyId: id, from: '192.0.2.1' }]);
  expect(watch.log.drain()).toMatchObject([
    {
      ...{ keyId: id, method: 'other', status: 'client', failure: 'PARSE_ERROR', http: 200 },
      rpcCode: -32700,
    },
  ]);
});
