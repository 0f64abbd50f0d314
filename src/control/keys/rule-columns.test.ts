import { expect, it } from 'vitest';
import { normalRange } from './rule-columns.ts';

it.each([
  ['192.0.2.7/24', '192.0.2.0/24'],
  [' 192.0.2.7 ', '192.0.2.7'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['10.255.255.255/9', '10.128.0.0/9'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7/120', '192.0.2.0/24'],
  ['2001:DB8:0:0::1/32', '2001:db8::/32'],
  ['2001:db8::1/128', '2001:db8::1'],
  ['2001:db8:ffff::/33', '2001:db8:8000::/33'],
  ['::/0', '::/0'],
])('normalizes the range %j to %j', (given, shown) => expect(normalRange(given)).toBe(shown));

it.each(['', 'x', '192.0.2.0/33', '192.0.2', '2001:db8::/129', '192.0.2.0/', '192.0.2.0/-1', 'fe80::1%eth0'])(
  'rejects %j',
  (given) => expect(normalRange(given)).toBeNull(),
);
