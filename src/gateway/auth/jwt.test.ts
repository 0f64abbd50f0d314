import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { newKey } from '../../../test/servers/start-http-server.ts';
import { createLogger } from '../../base/log.ts';
import { parseKeyId } from './api-key.ts';
import { JwksClient } from './jwks.ts';
import { JwtVerifier, verificationKeyOf } from './jwt.ts';
import { KEY_NO_LONGER_VALID, KeyAuthenticator } from './key-authenticator.ts';
import type { KeyId } from './key-record.ts';

const NOW = Date.UTC(2026, 10, 29);
const KEY_ID = '7hQ2mKpZ';
const CLAIM = 'https://x/key';
const rules = { issuer: 'https://id.example.com', audience: 'solway', claim: CLAIM, parse: parseKeyId };
const claims = {
  ...{ iss: rules.issuer, aud: ['other', 'solway'], exp: NOW / 1_000 + 60 },
  [CLAIM]: KEY_ID,
};

const pairs = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2_048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
};
type Alg = keyof typeof pairs;

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function tokenOf(
  alg: Alg,
  payload: object = claims,
  header: object = { alg, kid: alg },
  key: KeyObject = pairs[alg].privateKey,
): string {
  const body = `${encode(header)}.${encode(payload)}`;
  const hash = alg === 'EdDSA' ? null : 'sha256';
  const signature = sign(hash, Buffer.from(body), { key, dsaEncoding: 'ieee-p1363' });
  return `${body}.${signature.toString('base64url')}`;
}

const jwkOf = (alg: Alg) => ({ ...pairs[alg].publicKey.export({ format: 'jwk' }), kid: alg, use: 'sig' });
const keys = (Object.keys(pairs) as Alg[]).map((alg) => verificationKeyOf(jwkOf(alg))!);

let unknown = 0;
const source = { keys, onUnknownKey: () => void unknown++ };
const verifier = () => new JwtVerifier(rules, source);

describe('a token', () => {
  it.each(Object.keys(pairs) as Alg[])('signed with %s identifies its key until it expires', (alg) => {
    const [one, token] = [verifier(), tokenOf(alg)];
    for (let i = 0; i < 2; i++) expect(one.verify(token, NOW)).toMatchObject({ subject: KEY_ID });
    expect(one.verify(token, NOW + 89_999)).toMatchObject({ subject: KEY_ID });
    expect(one.verify(token, NOW + 90_000)).toBe('expired');
  });

  const { privateKey: stranger } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { exp: _, ...endless } = claims;
  it.each<[string, string]>([
    ['another issuer', tokenOf('ES256', { ...claims, iss: `${rules.issuer}/` })],
    ['another audience', tokenOf('ES256', { ...claims, aud: 'solway2' })],
    ['no audience', tokenOf('ES256', { ...claims, aud: undefined })],
    ['no expiry', tokenOf('ES256', endless)],
    ['an expiry that is text', tokenOf('ES256', { ...claims, exp: String(claims.exp) })],
    ['a start in the future', tokenOf('ES256', { ...claims, nbf: NOW / 1_000 + 31 })],
    ['no key', tokenOf('ES256', { ...claims, [CLAIM]: undefined })],
    ['a key in a list', tokenOf('ES256', { ...claims, [CLAIM]: [KEY_ID] })],
    ['a key that is none', tokenOf('ES256', { ...claims, [CLAIM]: '../7hQ2mKp' })],
    ['a signature by a stranger', tokenOf('ES256', claims, undefined, stranger)],
    ['an altered payload', tokenOf('ES256').replace(/\.[^.]+\./, `.${encode({ ...claims, exp: 1e12 })}.`)],
    ['no signature', `${tokenOf('ES256').split('.').slice(0, 2).join('.')}.`],
    ['the algorithm "none"', tokenOf('ES256', claims, { alg: 'none', kid: 'ES256' })],
    ['a symmetric algorithm', tokenOf('ES256', claims, { alg: 'HS256', kid: 'ES256' })],
    ['the algorithm of another key', tokenOf('ES256', claims, { alg: 'RS256', kid: 'ES256' })],
    ['a critical extension', tokenOf('ES256', claims, { alg: 'ES256', kid: 'ES256', crit: ['b64'] })],
    ['too many characters', tokenOf('ES256', { ...claims, more: 'x'.repeat(4_000) })],
    ['a fourth part', `${tokenOf('ES256')}.x`],
  ])('with %s is rejected', (_name, token) => {
    expect(verifier().verify(token, NOW)).toBeNull();
  });

  it('needs no key id if one key has its algorithm; an unknown id is reported', () => {
    unknown = 0;
    expect(verifier().verify(tokenOf('EdDSA', claims, { alg: 'EdDSA' }), NOW)).toMatchObject({
      subject: KEY_ID,
    });
    expect(unknown).toBe(0);
    expect(verifier().verify(tokenOf('EdDSA', claims, { alg: 'EdDSA', kid: 'new' }), NOW)).toBeNull();
    expect(unknown).toBe(1);
  });

  it('is no longer accepted once its issuer withdraws the key', () => {
    const changing = { ...source };
    const [one, token] = [new JwtVerifier(rules, changing), tokenOf('RS256')];
    expect(one.verify(token, NOW)).toMatchObject({ subject: KEY_ID });
    changing.keys = keys.slice(1);
    expect(one.verify(token, NOW)).toBeNull();
  });
});

it('a key for encryption, of another curve or too short verifies nothing', () => {
  expect(verificationKeyOf({ ...jwkOf('RS256'), use: 'enc' })).toBeNull();
  expect(verificationKeyOf({ ...jwkOf('RS256'), alg: 'ES256' })).toBeNull();
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey;
  const short = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey;
  for (const key of [p384, short]) expect(verificationKeyOf(key.export({ format: 'jwk' }))).toBeNull();
  expect(verificationKeyOf({ kty: 'oct', k: 'c2VjcmV0' })).toBeNull();
});

describe('the key of a token', () => {
  const pepper = Buffer.alloc(32, 1);
  const { record } = newKey('rpc', {}, { id: KEY_ID as never });
  const failing = (code: string) => expect.objectContaining({ code });
  const open = (jwt: JwtVerifier<KeyId> | null) => {
    const authenticator = new KeyAuthenticator({ peppers: new Map([[1, pepper]]), jwt });
    authenticator.setStoreReachable(true);
    return authenticator;
  };

  it('authenticates until it is revoked; without an issuer, tokens are invalid keys', () => {
    const one = open(verifier());
    const token = tokenOf('ES256');
    expect(() => one.authenticate(token, NOW)).toThrow(failing('INVALID_KEY'));
    one.apply([record]);
    for (let i = 0; i < 2; i++) expect(one.authenticate(token, NOW).id).toBe(KEY_ID);
    const authenticated = one.authenticate(token, NOW);
    expect(authenticated.keyState).toBe(one.find(record.id)?.keyState);
    expect(one.authenticate(token, NOW)).toBe(authenticated);
    one.apply([{ ...record, name: 'renamed', version: 2 }]);
    expect(one.authenticate(token, NOW).name).toBe('renamed');
    one.apply([{ ...record, status: 'revoked', version: 3 }]);
    expect(() => one.authenticate(token, NOW)).toThrow(failing('INVALID_KEY'));
    const without = open(null);
    without.apply([record]);
    expect(() => without.authenticate(token, NOW)).toThrow(failing('INVALID_KEY'));
  });

  it('ends with the token; an expired token is no guess', () => {
    const one = open(verifier());
    one.apply([record]);
    expect(one.authenticate(tokenOf('ES256'), NOW).tokenExpiresAt).toBe(NOW + 90_000);
    const expired = expect.objectContaining({ code: 'INVALID_KEY', cause: KEY_NO_LONGER_VALID });
    expect(() => one.authenticate(tokenOf('ES256'), NOW + 90_000)).toThrow(expired);
  });

  it('is unavailable, not invalid, until the keys of the issuer were read', () => {
    const one = open(new JwtVerifier(rules, { keys: [], onUnknownKey: () => undefined }));
    one.apply([record]);
    expect(() => one.authenticate(tokenOf('ES256'), NOW)).toThrow(failing('KEYS_UNAVAILABLE'));
  });
});

describe('the keys of an issuer', () => {
  let requests = 0;
  let document = '';
  const server = createServer((_request, response) => {
    requests++;
    response.end(document);
  });
  afterEach(() => server.close());

  it('are read again for an unknown key, but not for each token, and stay while reading fails', async () => {
    document = JSON.stringify({ keys: [jwkOf('RS256'), { kty: 'oct', k: 'c2VjcmV0' }] });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const clock = { now: 0 };
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const remote = new JwksClient(
      url,
      createLogger('silent', () => {}),
      () => clock.now,
    );
    await remote.start();
    expect(remote.keys.map(({ kid }) => kid)).toEqual(['RS256']);
    document = JSON.stringify({ keys: [jwkOf('RS256'), jwkOf('ES256')] });
    for (let i = 0; i < 10; i++) remote.onUnknownKey();
    // A request of the keys would arrive before this one.
    await fetch(url);
    expect(requests).toBe(2);
    clock.now = 30_000;
    for (let i = 0; i < 10; i++) remote.onUnknownKey();
    await expect.poll(() => remote.keys.length).toBe(2);
    expect(requests).toBe(3);
    document = '{"keys":[]}';
    clock.now = 60_000;
    remote.onUnknownKey();
    await expect.poll(() => requests).toBe(4);
    expect(remote.keys).toHaveLength(2);
    remote.stop();
  });
});
