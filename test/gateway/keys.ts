import { digestApiKey, generateApiKey } from '../../src/gateway/auth/api-key.ts';
import { KeyAuthenticator } from '../../src/gateway/auth/key-authenticator.ts';
import { defaultPlanLimits, type KeyRecord } from '../../src/gateway/auth/key-record.ts';
import { internalKey } from '../project/callers.ts';

export const pepperOf = (version: number): Buffer => Buffer.alloc(32, version);

/** Creates an active key of the default plan, alone in its family. @returns the key and its text. */
export function createKey(change: Partial<KeyRecord> = {}): { text: string; record: KeyRecord } {
  const { pepperVersion = 1, product = 'rpc' } = change;
  const { id, text } = generateApiKey(product);
  const digest = digestApiKey(text, pepperOf(pepperVersion));
  const record: KeyRecord = {
    ...{ id, product, familyId: id, name: 'test', digest, pepperVersion },
    ...internalKey,
    ...{ status: 'active', expiresAt: null, limits: defaultPlanLimits, version: 1 },
    ...change,
  };
  return { text, record };
}

export function authenticatorOf(...records: readonly KeyRecord[]): KeyAuthenticator {
  const keys = new KeyAuthenticator({ peppers: new Map([[1, pepperOf(1)]]) });
  keys.setStoreReachable(true);
  keys.apply(records);
  return keys;
}
