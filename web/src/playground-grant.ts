import { call } from './api.ts';

type Grant = Awaited<ReturnType<typeof call<'POST /customers/{customer}/keys/{key}/grant'>>>;

/** Credentials of the playground by key, in memory only. Each is valid for five minutes. */
const grants = new Map<string, Grant>();

/** A grant that ends sooner is replaced. */
const REMAINING_MIN_MS = 60_000;

/** Returns a credential with which this page may call the API as the key. @throws ApiProblem */
export async function grantFor(customer: string, key: string): Promise<string> {
  const held = grants.get(key);
  if (held !== undefined && held.expiresAt - Date.now() > REMAINING_MIN_MS) return held.credential;
  const grant = await call('POST /customers/{customer}/keys/{key}/grant', { path: { customer, key } });
  grants.set(key, grant);
  return grant.credential;
}

export const forgetGrants = (): void => grants.clear();
