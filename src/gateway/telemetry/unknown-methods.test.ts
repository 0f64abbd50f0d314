import { expect, it } from 'vitest';
import { UnknownMethods } from './unknown-methods.ts';

const HOUR_MS = 3_600_000;
const listed = (methods: UnknownMethods): string[] =>
  methods.unstored().map(({ hour, customerId, method, calls }) => `${hour} ${customerId} ${method} ${calls}`);

it('counts unknown methods by hour, customer and name, without secrets', () => {
  const methods = new UnknownMethods();
  methods.count('anna', 'getNothing', 5);
  methods.count('anna', 'getNothing', 6);
  methods.count('ben', `svc_rpc_live_${'7'.repeat(46)}`, 7);
  methods.count('anna', 'getNothing', HOUR_MS);
  expect(listed(methods)).toEqual([
    '0 anna getNothing 2',
    '0 ben svc_rpc_live_[redacted] 1',
    '1 anna getNothing 1',
  ]);
});

it('counts names beyond the limits as other, and then no more', () => {
  const methods = new UnknownMethods({ customerNamesMax: 2, countsMax: 3 });
  for (const name of ['a', 'b', 'c', 'd', 'a']) methods.count('anna', name, 5);
  methods.count('ben', 'a', 5);
  expect(listed(methods)).toEqual(['0 anna a 2', '0 anna b 1', '0 anna other 2']);
});

it('forgets earlier hours once they are stored', () => {
  const methods = new UnknownMethods({ countsMax: 1 });
  methods.count('anna', 'a', 5);
  methods.count('anna', 'b', HOUR_MS);
  expect(listed(methods)).toEqual(['0 anna a 1']);
  for (const count of methods.unstored()) count.storedCalls = count.calls;
  methods.count('anna', 'b', 2 * HOUR_MS);
  expect(listed(methods)).toEqual(['2 anna b 1']);
});
