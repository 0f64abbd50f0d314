import { expect, it } from 'vitest';
import { actionNameOf, detailOf, storedActionOf } from '../../web/src/pages/audit/audit-entry.ts';

it.each([
  [
    { product: 'fs', name: 'app', networks: '', expiresAt: null, isPublic: false, neverBack: true },
    'product: Shreds · name: app · monotonic reads: yes',
  ],
  [{ 'before.cidrs': '', 'after.cidrs': '192.0.2.0/24' }, 'allowed IP addresses: none → 192.0.2.0/24'],
  [{ 'before.expiresAt': null, 'after.expiresAt': 0 }, 'expires: none → 1970-01-01 00:00:00 UTC'],
  [{ monthlyCredits: 0, semiWallets: 1 }, 'monthly credit limit: Unlimited · semi wallets: 1'],
  [{ plan_id: 'rehearsal', plan_id_before: 'default' }, 'plan: default → rehearsal'],
  [{ path: '/change-password', count: 1 }, 'action: change password · attempts: 1'],
])('audit details %j are shown as %s', (detail, text) => {
  expect(detailOf({ detail })).toBe(text);
});

it('finds the stored action by the displayed name', () => {
  expect(storedActionOf(actionNameOf('token.end'))).toBe('token.end');
  expect(actionNameOf('token.end')).toBe('token.revoke');
  expect(storedActionOf('key.create')).toBe('key.create');
});
