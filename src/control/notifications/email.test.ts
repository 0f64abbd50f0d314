import { expect, it } from 'vitest';
import { mailRateLimiter } from './email.ts';
import { renderNotice } from './notice.ts';

it('limits mails per hour by customer, by user and by address', () => {
  let now = 1;
  const limit = mailRateLimiter({ customerPerHour: 3, recipientPerHour: 2 }, () => now);
  const take = (customer: string, sender: string, to: string) => limit({ customer, sender, to });
  expect([take('a', 'u', 'x@x'), take('a', 'u', 'X@x')]).toEqual([0, 0]);
  expect(take('b', 'v', 'x@x')).toBe(3_600_000);
  expect(take('a', 'v', 'y@x')).toBe(0);
  expect(take('a', 'w', 'z@x')).toBe(3_600_000);
  expect([take('b', 'u', 'z@x'), take('c', 'u', 'q@x')]).toEqual([0, 3_600_000]);
  now += 3_600_000;
  expect(take('a', 'u', 'x@x')).toBe(0);
});

it('puts no clickable part of a name into a mail, and no name into a subject', () => {
  const name = 'URGENT: verify your wallet at https://evil.example/x or evil.example';
  const notice = { type: 'test', customer: { id: 'c1', name }, at: '2026-11-22T12:00:00Z' } as const;
  const { subject, text } = renderNotice(notice);
  expect(subject).toBe('Solway notifications will arrive here');
  expect(text).not.toMatch(/evil|https/);
  expect(text).toContain('(c1)');
});
