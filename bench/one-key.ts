import { digestApiKey, generateApiKey } from '../src/gateway/auth/api-key.ts';
import { KeyAuthenticator } from '../src/gateway/auth/key-authenticator.ts';
import { defaultPlanLimits, type PlanLimits } from '../src/gateway/auth/key-record.ts';
import type { Product } from '../src/protocol/product.ts';
import { internalKey } from '../test/project/callers.ts';

/** A directory with one key without a rate limit, and that key. */
export function openDirectory(
  product: Product,
  limits: Partial<PlanLimits>,
): { keys: KeyAuthenticator; secret: string } {
  const pepper = Buffer.alloc(32, 1);
  const keys = new KeyAuthenticator({ peppers: new Map([[1, pepper]]) });
  const { text: secret, id } = generateApiKey(product);
  keys.setStoreReachable(true);
  keys.apply([
    {
      id,
      product,
      ...internalKey,
      familyId: id,
      name: 'bench',
      digest: digestApiKey(secret, pepper),
      pepperVersion: 1,
      status: 'active',
      expiresAt: null,
      limits: { ...defaultPlanLimits, rpcPerSecond: 0, ...limits },
      version: 1,
    },
  ]);
  return { keys, secret };
}
