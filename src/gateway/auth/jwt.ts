import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { z } from 'zod';
import { Lru } from '../../base/cache/lru.ts';

export type JwtRules<Subject> = Readonly<{
  issuer: string;
  audience: string;
  /** Claim with the id of the key or user that the token identifies. */
  claim: string;
  /** Parses the value of that claim; returns null if it is invalid. */
  parse(text: string): Subject | null;
}>;

/** Longer tokens are rejected unread. */
const JWT_LENGTH_MAX = 4_096;
const TOKEN = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;
/** Difference between the clocks of the issuer and this service. */
const CLOCK_SKEW_S = 30;
const VERIFIED_MAX = 10_000;
const RSA_MIN_BITS = 2_048;

/** Signature algorithms, by the type of their keys. Symmetric ones and `none` are not among them. */
const algorithms = {
  RS256: { hash: 'sha256', accepts: isRsa },
  ES256: { hash: 'sha256', accepts: (key: KeyObject) => curveOf(key) === 'prime256v1' },
  EdDSA: { hash: null, accepts: (key: KeyObject) => key.asymmetricKeyType === 'ed25519' },
} as const;
type Algorithm = keyof typeof algorithms;
const algorithmSchema = z.enum(Object.keys(algorithms) as [Algorithm, ...Algorithm[]]);

const curveOf = ({ asymmetricKeyDetails }: KeyObject) => asymmetricKeyDetails?.namedCurve;

function isRsa({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  return asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= RSA_MIN_BITS;
}

export type VerificationKey = Readonly<{ kid: string | undefined; alg: Algorithm; key: KeyObject }>;

const jwkSchema = z.looseObject({
  kid: z.string().optional(),
  use: z.literal('sig').optional(),
  alg: algorithmSchema.optional(),
});

/** @returns null for a key that cannot verify tokens, such as one for encryption. */
export function verificationKeyOf(jwk: unknown): VerificationKey | null {
  const parsed = jwkSchema.safeParse(jwk);
  if (!parsed.success) return null;
  try {
    const key = createPublicKey({ key: parsed.data as JsonWebKey, format: 'jwk' });
    const alg = algorithmSchema.options.find((name) => algorithms[name].accepts(key));
    if (alg === undefined || (parsed.data.alg ?? alg) !== alg) return null;
    return { kid: parsed.data.kid, alg, key };
  } catch {
    return null;
  }
}

const headerSchema = z.object({
  alg: algorithmSchema,
  kid: z.string().optional(),
  /** Extensions that must be understood: none are. */
  crit: z.undefined().optional(),
});

const claimsSchema = z.looseObject({
  iss: z.string(),
  aud: z.union([z.string(), z.array(z.string())]),
  exp: z.number(),
  nbf: z.number().optional(),
});

/** A token with a valid signature. `from` and `until` are Unix milliseconds. */
export type VerifiedToken<Subject> = Readonly<{ subject: Subject; from: number; until: number }>;

const decode = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());

export interface VerificationKeys {
  /** Verification keys of the issuer; empty while none are known. */
  readonly keys: readonly VerificationKey[];
  /** Called for a token signed with an unknown key. Must not start a request for each call. */
  onUnknownKey(): void;
}

/** Verifies the JSON Web Tokens of one issuer. Caches verified tokens until they expire. */
export class JwtVerifier<Subject> {
  readonly #rules: JwtRules<Subject>;
  readonly #source: VerificationKeys;
  #verified = new Lru<string, VerifiedToken<Subject>>(VERIFIED_MAX);
  /** The keys with which `#verified` was filled. */
  #keys: readonly VerificationKey[] = [];

  constructor(rules: JwtRules<Subject>, source: VerificationKeys) {
    this.#rules = rules;
    this.#source = source;
  }

  /** Whether tokens can be verified at all. */
  get isReady(): boolean {
    return this.#source.keys.length > 0;
  }

  /** @param nowMs - Unix milliseconds. @returns null if the token is not valid; `expired` if it was. */
  verify(token: string, nowMs: number): VerifiedToken<Subject> | 'expired' | null {
    if (token.length > JWT_LENGTH_MAX) return null;
    if (this.#keys !== this.#source.keys) {
      this.#keys = this.#source.keys;
      this.#verified = new Lru(VERIFIED_MAX);
    }
    let verified = this.#verified.get(token);
    if (verified === undefined) {
      const fresh = this.#verifySignature(token);
      if (fresh === null) return null;
      verified = fresh;
      this.#verified.set(token, verified);
    }
    if (nowMs >= verified.until) return 'expired';
    return verified.from <= nowMs ? verified : null;
  }

  #verifySignature(token: string): VerifiedToken<Subject> | null {
    const [, header = '', payload = '', signature = ''] = TOKEN.exec(token) ?? [];
    try {
      const { alg, kid } = headerSchema.parse(decode(header));
      const key = this.#findKey(alg, kid);
      if (key === undefined) return null;
      const signed = Buffer.from(token.slice(0, header.length + 1 + payload.length));
      const options = { key, dsaEncoding: 'ieee-p1363' } as const;
      const isSigned = verify(algorithms[alg].hash, signed, options, Buffer.from(signature, 'base64url'));
      return isSigned ? this.#read(decode(payload)) : null;
    } catch {
      return null;
    }
  }

  #findKey(alg: Algorithm, kid: string | undefined): KeyObject | undefined {
    const candidates = this.#keys.filter((key) => key.alg === alg && (kid === undefined || key.kid === kid));
    // Without an id, the key must be unambiguous.
    if (candidates.length === 1) return candidates[0]?.key;
    this.#source.onUnknownKey();
    return undefined;
  }

  #read(payload: unknown): VerifiedToken<Subject> | null {
    const { issuer, audience, claim, parse } = this.#rules;
    const claims = claimsSchema.parse(payload);
    if (claims.iss !== issuer || ![claims.aud].flat().includes(audience)) return null;
    const value = claims[claim];
    const subject = typeof value === 'string' ? parse(value) : null;
    if (subject === null) return null;
    return {
      subject,
      from: ((claims.nbf ?? 0) - CLOCK_SKEW_S) * 1_000,
      until: (claims.exp + CLOCK_SKEW_S) * 1_000,
    };
  }
}
