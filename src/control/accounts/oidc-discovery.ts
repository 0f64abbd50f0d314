import { z } from 'zod';
import { boundedJson } from '../../base/bounded-json.ts';
import type { OidcProvider } from './account-options.ts';

const WELL_KNOWN = '/.well-known/openid-configuration';
const TIMEOUT_MS = 5_000;
const DOCUMENT_MAX_BYTES = 256 * 1024;

/** The fields of a discovery document that are used here. Source: OpenID Connect Discovery 1.0, 3. */
const documentSchema = z.object({
  authorization_endpoint: z.string(),
  issuer: z.string().optional(),
  jwks_uri: z.string().optional(),
});

export type TokenIssuer = Readonly<{ issuer: string; jwksUrl: string }>;

/** Returns null unless the document belongs to its URL and the keys cannot be forged on their way. */
function tokenIssuerOf(
  { discoveryUrl }: OidcProvider,
  { issuer, jwks_uri }: z.infer<typeof documentSchema>,
): TokenIssuer | null {
  const jwksUrl = URL.parse(jwks_uri ?? '');
  if (issuer === undefined || jwksUrl === null) return null;
  const isOwn = discoveryUrl === issuer.replace(/\/$/, '') + WELL_KNOWN;
  const isSafe = jwksUrl.protocol === 'https:' || jwksUrl.origin === new URL(discoveryUrl).origin;
  return isOwn && isSafe ? { issuer, jwksUrl: jwksUrl.href } : null;
}

/** Returns null while the provider is unreachable. `tokenIssuer` is null if its tokens cannot be trusted. */
export async function discover(
  provider: OidcProvider,
): Promise<Readonly<{ tokenIssuer: TokenIssuer | null }> | null> {
  try {
    const response = await fetch(provider.discoveryUrl, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const document = documentSchema.safeParse(await boundedJson(response.body, DOCUMENT_MAX_BYTES));
    return response.ok && document.success ? { tokenIssuer: tokenIssuerOf(provider, document.data) } : null;
  } catch {
    return null;
  }
}
