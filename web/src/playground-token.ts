import { call } from './api.ts';

type PlaygroundToken = Awaited<
  ReturnType<typeof call<'POST /customers/{customer}/keys/{key}/playground-token'>>
>;

/** Playground tokens by key, in memory only. Each is valid for five minutes. */
const tokens = new Map<string, PlaygroundToken>();

/** A token that expires sooner is replaced. */
const REMAINING_MIN_MS = 60_000;

/** Returns a token with which this page may call the API as the key. @throws ApiProblem */
export async function playgroundTokenFor(customer: string, key: string): Promise<string> {
  const held = tokens.get(key);
  if (held !== undefined && held.expiresAt - Date.now() > REMAINING_MIN_MS) return held.token;
  const issued = await call('POST /customers/{customer}/keys/{key}/playground-token', {
    path: { customer, key },
  });
  tokens.set(key, issued);
  return issued.token;
}

export const clearPlaygroundTokens = (): void => tokens.clear();
