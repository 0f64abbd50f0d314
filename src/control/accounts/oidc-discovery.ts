import { z } from 'zod';
import { readLimited } from '../../base/read-limited.ts';
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

/** Returns null unless the document names the issuer of its URL, and keys that cannot be forged in transit. */
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

/** Returns null if the provider does not respond with a document. `tokenIssuer` is null if its tokens cannot be trusted. */
export async function discover(
  provider: OidcProvider,
): Promise<Readonly<{ tokenIssuer: TokenIssuer | null }> | null> {
  try {
    const response = await fetch(provider.discoveryUrl, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok || response.body === null) return null;
    const bytes = await readLimited(response.body, DOCUMENT_MAX_BYTES);
    if (bytes === null) return null;
    const document = documentSchema.parse(JSON.parse(bytes.toString()));
    // A redirect may lead to an address without https.
    return { tokenIssuer: response.redirected ? null : tokenIssuerOf(provider, document) };
  } catch {
    return null;
  }
}
