import { expect, it } from 'vitest';
import type { LimitStatus } from '../../protocol/request-handler.ts';
import { rateLimitHeaderValues } from '../rate-limit-headers.ts';
import { ByteText } from './byte-text.ts';
import { LimitHeaderWriter } from './limit-header-writer.ts';

const state = (limit: number, remaining: number) => ({ limit, remaining, windowSeconds: 1, resetSeconds: 2 });

it('Lines of limits say what the fields of node:http say, of however many plans in turn', () => {
  const lines = new LimitHeaderWriter();
  const text = new ByteText(1_000);
  const written = (facts: LimitStatus): string => {
    text.length = 0;
    lines.write(text, facts);
    return text.bytes.toString('latin1', 0, text.length);
  };
  for (let round = 0; round < 3; round++) {
    for (let plan = 1; plan <= 12; plan++) {
      const rateLimit = state(plan, round);
      const quota = { ...state(10 ** plan, 10 ** plan - round), windowSeconds: 2_592_000 };
      for (const facts of [{ rateLimit }, { rateLimit, quota }, { rateLimit: null, quota }]) {
        const [policy, standing] = rateLimitHeaderValues('rpc', facts) ?? [];
        expect(written(facts)).toBe(`ratelimit-policy: ${policy}\r\nratelimit: ${standing}\r\n`);
      }
    }
  }
});
