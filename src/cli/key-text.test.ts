import { expect, it } from 'vitest';
import { keyTable } from './key-text.ts';

it('lists keys that end beyond any calendar', () => {
  const key = {
    id: 'aaaaaaaa',
    start: 'svc_rpc_live_aaaaaaaa',
    product: 'rpc',
    name: 'old',
    state: 'active',
    planId: 'default',
    createdAt: 0,
    lastUsedAt: null,
  };
  const ends = [8_640_000_000_000_001, Number.MAX_SAFE_INTEGER];
  const table = keyTable(ends.map((expiresAt) => ({ ...key, expiresAt })));
  expect(table.match(/9999-12-31 23:59/g)).toHaveLength(2);
});
