import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { LimitStatus } from '../../protocol/request-handler.ts';
import { rateLimitHeaderValues } from '../rate-limit-headers.ts';
import { ByteText, LimitHeaderWriter } from './encode.ts';

it('writes texts, numbers and bytes like string concatenation', () => {
  const text = new ByteText(10_000);
  const part = fc.oneof(
    fc.string({ unit: 'binary-ascii', maxLength: 40 }),
    fc.nat(),
    fc.integer({ min: 0, max: 0xffff_ffff }),
    fc.maxSafeNat(),
    fc.constantFrom(-1, 0.5, 1e21, 2 ** 32, 9, 10, 99, 100, 0xffff_ffff),
    fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      text.length = 0;
      for (const each of parts) {
        if (typeof each === 'string') text.text(each);
        else if (typeof each === 'number') text.number(each);
        else text.copy(each);
      }
      const joined = parts.map((each) => (Buffer.isBuffer(each) ? each.toString('latin1') : String(each)));
      expect(text.bytes.toString('latin1', 0, text.length)).toBe(joined.join(''));
    }),
  );
});

const state = (limit: number, remaining: number) => ({ limit, remaining, windowSeconds: 1, resetSeconds: 2 });

it('writes the same rate limit headers as node:http responses, also with more plans than are cached', () => {
  const lines = new LimitHeaderWriter();
  const text = new ByteText(1_000);
  const written = (limits: LimitStatus): string => {
    text.length = 0;
    lines.write(text, limits);
    return text.bytes.toString('latin1', 0, text.length);
  };
  for (let round = 0; round < 3; round++) {
    for (let plan = 1; plan <= 12; plan++) {
      const rateLimit = state(plan, round);
      const quota = { ...state(10 ** plan, 10 ** plan - round), windowSeconds: 2_592_000 };
      for (const limits of [{ rateLimit }, { rateLimit, quota }, { rateLimit: null, quota }]) {
        const [policy, status] = rateLimitHeaderValues('rpc', limits) ?? [];
        expect(written(limits)).toBe(`ratelimit-policy: ${policy}\r\nratelimit: ${status}\r\n`);
      }
    }
  }
});
