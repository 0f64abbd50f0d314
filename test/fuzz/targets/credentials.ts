import { generateKeyPairSync, sign } from 'node:crypto';
import { generateApiKey, parseKeyId } from '../../../src/gateway/auth/api-key.ts';
import { JwtVerifier, verificationKeyOf } from '../../../src/gateway/auth/jwt.ts';
import {
  createPlaygroundToken,
  isPlaygroundTokenOf,
  parsePlaygroundToken,
} from '../../../src/gateway/auth/playground-token.ts';
import { jsonIn, type Target, texts } from '../engine/target.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const jwk = publicKey.export({ format: 'jwk' });
const keys = [verificationKeyOf(jwk)!];
const rules = { issuer: 'https://id.example.com', audience: 'solway', claim: 'key', parse: parseKeyId };
const claims = { iss: rules.issuer, aud: rules.audience, exp: 4_000_000_000, key: '7hQ2mKpZ' };

const encode = (text: string): string => Buffer.from(text).toString('base64url');

function signed(header: string, payload: string): string {
  const body = `${encode(header)}.${encode(payload)}`;
  return `${body}.${sign(null, Buffer.from(body), privateKey).toString('base64url')}`;
}

const NOW = 1_000_000_000_000;
/** Accepted difference between the clocks. */
const SKEW_MS = 30_000;
const HEADER = '{"alg":"EdDSA"}';
const GOOD = signed(HEADER, JSON.stringify(claims));
const verify = (token: string) =>
  new JwtVerifier(rules, { keys, onUnknownKey: () => undefined }).verify(token, NOW);

type Verified = NonNullable<ReturnType<typeof verify>>;

/** An accepted payload has all claims. */
function checkClaims(verified: Verified, { iss, aud, exp, key }: Record<string, unknown>): void {
  if (iss !== rules.issuer) throw new Error('a token of another issuer passed');
  if (![aud].flat().includes(rules.audience)) throw new Error('a token for another audience passed');
  if (verified === 'expired') return;
  if (typeof exp !== 'number' || exp * 1_000 + SKEW_MS <= NOW) throw new Error('an expired token passed');
  if (verified.subject !== key) throw new Error('a token passed for another key');
}

export const tokenTarget: Target = {
  /** A token, the text of a payload, or a key of the issuer. */
  seeds: texts([
    GOOD,
    JSON.stringify(claims),
    JSON.stringify({ ...claims, nbf: 1, aud: ['solway'] }),
    JSON.stringify(jwk),
  ]),
  /** Only the signed token passes; a payload passes only with all claims; no key is for a symmetric algorithm. */
  fuzz(input: Uint8Array): boolean {
    const text = Buffer.from(input).toString();
    const value = jsonIn(input);
    const key = verificationKeyOf(value);
    if (key !== null && key.key.type !== 'public') throw new Error('a key that is not public');
    const ofToken = verify(text);
    if (ofToken !== null && !text.startsWith(GOOD.slice(0, GOOD.lastIndexOf('.'))))
      throw new Error('a forged token passed');
    const ofPayload = verify(signed(HEADER, text));
    if (ofPayload !== null) checkClaims(ofPayload, JSON.parse(text));
    return key !== null || ofToken !== null || ofPayload !== null;
  },
};

const pepper = Buffer.alloc(32, 7);
const TOKEN = createPlaygroundToken('7hQ2mKpZ', 1_800_000_000_000, pepper);

export const playgroundTokenTarget: Target = {
  seeds: texts([TOKEN, generateApiKey('rpc').text]),
  /** Only the issued token is authentic. */
  fuzz(input: Uint8Array): boolean {
    const text = Buffer.from(input).toString('latin1');
    const token = parsePlaygroundToken(text);
    if (token !== null && text !== TOKEN && isPlaygroundTokenOf(token, pepper))
      throw new Error('a damaged token passed');
    return token !== null;
  },
};
