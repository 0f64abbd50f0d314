import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { accountOptionsOf } from '../../src/app/servers/control-services.ts';
import { LiveConfiguration } from '../../src/config/live-configuration.ts';
import { MailRateLimiter } from '../../src/control/notifications/email.ts';
import { TrustedProxies } from '../../src/servers/client-address.ts';
import { load } from './load-configuration.ts';

const live = new LiveConfiguration(
  load('[request_log]\nper_second = 0\nsample_ratio = 0\n[mail]\ncustomer_per_hour = 0\n'),
);
const { server, mail } = live.view;
const change = (toml: string): void => live.replace(load(toml));

it('trusted proxies follow a reload, on open connections too', () => {
  const proxies = new TrustedProxies(server);
  const socket = { remoteAddress: '10.0.0.1' } as Socket;
  const addressOf = () => proxies.clientOf(socket, { 'x-forwarded-for': '192.0.2.7' }).address;
  expect(addressOf()).toBe('10.0.0.1');
  change('[server]\ntrusted_proxies = ["10.0.0.0/8"]\n');
  expect(addressOf()).toBe('192.0.2.7');
  change('');
  expect(addressOf()).toBe('10.0.0.1');
});

it('limits of accounts and mails follow a reload', () => {
  const accounts = accountOptionsOf(live.view);
  const pace = new MailRateLimiter(mail, () => 0);
  change(
    '[accounts]\nsign_up = "open"\nmembers_max = 3\ninvitation_days = 2\n[mail]\ncustomer_per_hour = 0\n',
  );
  expect([accounts.signUp, accounts.limits.membersMax, accounts.limits.invitationMs]).toEqual([
    'open',
    3,
    2 * 24 * 3_600_000,
  ]);
  const taken = () => pace.take({ customer: 'a', sender: 'b', to: 'c@example.com' });
  expect(taken()).toBeGreaterThan(0);
  change('');
  expect(taken()).toBe(0);
});
