import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Claims = Readonly<Record<string, unknown>>;

const WELL_KNOWN = '/.well-known/openid-configuration';

/** An OpenID Connect provider on loopback that issues identities chosen by the test. */
export async function startOidcProvider() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const forger = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
  const state = { claims: {} as Claims, isForged: false, issuer: '', keysUrl: '', document: '' };
  const requests: string[] = [];
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const issue = (given: Claims, isForged = false): string => {
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: state.issuer, aud: 'solway', iat: now, exp: now + 60, ...given };
    const body = `${encode({ alg: 'RS256', kid: 'one' })}.${encode(claims)}`;
    const key = isForged ? forger : privateKey;
    return `${body}.${sign('sha256', Buffer.from(body), key).toString('base64url')}`;
  };
  const answers: Readonly<Record<string, () => unknown>> = {
    [WELL_KNOWN]: () => ({
      issuer: state.issuer,
      authorization_endpoint: `${state.issuer}/authorize`,
      token_endpoint: `${state.issuer}/token`,
      jwks_uri: state.keysUrl || `${state.issuer}/keys`,
      id_token_signing_alg_values_supported: ['RS256'],
      ...(state.document === 'too long' && { padding: 'x'.repeat(300_000) }),
    }),
    '/keys': () => ({
      keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }],
    }),
    '/token': () => ({
      access_token: 'access-secret',
      refresh_token: 'refresh-secret',
      token_type: 'Bearer',
      id_token: issue(state.claims, state.isForged),
    }),
  };
  const server = createServer((request, response) => {
    request.resume();
    const path = request.url ?? '';
    requests.push(path);
    if (path === WELL_KNOWN && state.document === 'redirected')
      return void response.writeHead(302, { location: `/redirected${WELL_KNOWN}` }).end();
    const isAbsent = path === WELL_KNOWN && state.document === 'absent';
    const answer = isAbsent ? undefined : answers[path.replace(/^\/redirected/, '')];
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer?.() ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  state.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: state.issuer,
    /** A signed token with these claims. */
    issue,
    /** The identity that the next authorization codes stand for. */
    comes: (claims: Claims, isForged = false) => Object.assign(state, { claims, isForged }),
    /** Names another URL of the keys in the discovery document; empty: the right one. */
    namesKeysAt: (keysUrl: string) => Object.assign(state, { keysUrl }),
    /** How the discovery document is served; empty: as it should be. */
    servesDocument: (document: '' | 'redirected' | 'too long' | 'absent') =>
      Object.assign(state, { document }),
    /** Paths of all requests. */
    requests,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
