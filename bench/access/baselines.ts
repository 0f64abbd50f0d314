import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

type StoredKey = { calls: Map<string, number>; points: number; resetAt: number };

/**
 * A Map keyed by the SHA-256 of the key, a one-second window as in rate-limiter-flexible and express-rate-limit, and
 * a counter per key and method.
 */
export class MapAndBucket {
  readonly #stored = new Map<string, StoredKey>();

  constructor(keys: readonly string[]) {
    for (const key of keys) this.#stored.set(hashOf(key), { calls: new Map(), points: 0, resetAt: 0 });
  }

  take(key: string, method: string, nowMs: number): boolean {
    const stored = this.#stored.get(hashOf(key));
    if (stored === undefined) throw new Error('no such key');
    if (nowMs >= stored.resetAt) {
      stored.points = 0;
      stored.resetAt = nowMs + 1_000;
    }
    stored.points += 1;
    stored.calls.set(method, (stored.calls.get(method) ?? 0) + 1);
    return stored.points <= 10_000_000;
  }
}

const hashOf = (key: string): string => createHash('sha256').update(key).digest('base64');

const SECRET = Buffer.alloc(32, 7);
const sign = (text: string): Buffer => createHmac('sha256', SECRET).update(text).digest();
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** JWTs (RFC 7519) with HS256: no lookup, limit, counter or revocation. */
export class SignedTokens {
  readonly issued: readonly string[];

  constructor(names: readonly string[]) {
    const head = base64({ alg: 'HS256', typ: 'JWT' });
    this.issued = names.map((name) => {
      const signed = `${head}.${base64({ sub: name, exp: 4_102_444_800, plan: 'default' })}`;
      return `${signed}.${sign(signed).toString('base64url')}`;
    });
  }

  take(token: string, nowMs: number): string {
    const end = token.lastIndexOf('.');
    const [head = '', body = ''] = token.slice(0, end).split('.');
    const { alg } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { alg: string };
    if (alg !== 'HS256') throw new Error('another algorithm');
    const signature = Buffer.from(token.slice(end + 1), 'base64url');
    if (!timingSafeEqual(signature, sign(token.slice(0, end)))) throw new Error('a wrong signature');
    const { sub, exp } = JSON.parse(Buffer.from(body, 'base64url').toString()) as {
      sub: string;
      exp: number;
    };
    if (exp * 1_000 < nowMs) throw new Error('expired');
    return sub;
  }
}
