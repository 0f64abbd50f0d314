import { expect, it } from 'vitest';
import { redact } from './log.ts';

it.each([
  ['key svc_rpc_live_2abcXYZ gone', 'key svc_rpc_live_[redacted] gone'],
  ['GET /x?api-key=s3cret&y=1', 'GET /x?api-key=[redacted]&y=1'],
  ['GET /x?wallet=w&password=s3cret"', 'GET /x?wallet=w&password=[redacted]"'],
  ['?current_password=s3cret&new_password=s4cret', '?current_password=[redacted]&new_password=[redacted]'],
  ['postgres://u:s3cret@h/d', 'postgres://[redacted]@h/d'],
])('redacts %j', (text, shown) => expect(redact(text)).toBe(shown));
