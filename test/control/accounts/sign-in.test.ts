import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { accountLimits } from '../../../src/control/accounts/account-options.ts';
import { backupTables } from '../../../src/control/database/backup/backup.ts';
import type { OpenOptions } from '../../../src/control/database/open.ts';
import type { Store } from '../../../src/control/database/store.ts';
import { describeOnBothStores, describeOnSqlite, type Stores } from '../stores.ts';
import {
  type AccountsFixture,
  type ApiResponse,
  type Browser,
  firstOperator,
  type LooseJson,
  openAccountsFixture,
  PASSWORD,
} from './accounts-fixture.ts';
import { startOidcProvider } from './oidc-provider.ts';
import { startRealOidcProvider } from './real-oidc-provider.ts';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function bytesOfBase32(text: string): Buffer {
  const bits = [...text].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

function totp(uri: string, atMs: number): string {
  const secret = bytesOfBase32(new URL(uri).searchParams.get('secret') ?? '');
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(atMs / 30_000)));
  const hash = createHmac('sha1', secret).update(counter).digest();
  const offset = (hash.at(-1) as number) & 15;
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

type Line = Readonly<{ id: number; action: string; actor: string; detail: object }>;

const audit = async ({ since }: AccountsFixture, browser: Browser): Promise<Line[]> => {
  const { json } = await browser.get('/api/v1/audit?limit=1000');
  return (json.items as unknown as Line[]).filter(({ id }) => id > since);
};

async function dump({ db }: Store): Promise<string> {
  const tables = await Promise.all(
    backupTables.map(({ name }) =>
      db
        .selectFrom(name as 'audit')
        .selectAll()
        .execute(),
    ),
  );
  return JSON.stringify(tables);
}

const NEXT_PASSWORD = 'a third horse';

type Totp = Readonly<{ uri: string; codes: readonly string[]; code: string }>;

async function enableTotp(browser: Browser): Promise<Totp> {
  const { json } = await browser.post('/api/auth/two-factor/enable', { password: PASSWORD });
  const code = totp(json.totpURI, Date.now());
  const { status } = await browser.post('/api/auth/two-factor/verify-totp', { code });
  expect(status).toBe(200);
  return { uri: json.totpURI, codes: json.backupCodes, code };
}

type OpenFixture = (options?: Parameters<typeof openAccountsFixture>[1]) => Promise<AccountsFixture>;

function fixtureIn({ open, migrated }: Stores): OpenFixture {
  let database: ReturnType<Stores['migrated']> | null = null;
  return async (options) => {
    database ??= migrated();
    return openAccountsFixture(await open(await database), options);
  };
}

describeOnBothStores('sign-in', (stores) => {
  const fixture = fixtureIn(stores);

  it('starts with a setup link that works once and creates the operator', async () => {
    const one = await fixture();
    const browser = one.browser();
    const token = await one.inviteOperator();
    expect((await browser.get('/api/v1/me')).json.service.needsSetup).toBe(true);
    expect((await browser.post('/api/v1/invitations/preview', { token })).json).toMatchObject({
      isOperator: true,
      email: '',
      customerName: 'Default',
    });
    const made = await browser.signUp(one.email, token);
    expect([made.status, made.json.user.email, 'isOperator' in made.json.user]).toEqual([
      200,
      one.email,
      false,
    ]);
    expect((await browser.accept(token)).json).toMatchObject({ id: 'house' });
    const { user, customers, service } = (await browser.get('/api/v1/me')).json;
    expect(user).toMatchObject({ email: one.email, isOperator: true });
    expect(customers).toMatchObject([{ id: 'house', role: 'owner' }]);
    expect(service.needsSetup).toBe(false);
    const late = one.browser();
    expect((await late.signUp('late@example.com', token)).status).toBe(404);
    expect((await browser.accept(token)).status).toBe(404);
  });

  it('revokes other sessions on a password change, lists sessions, and revokes single ones', async () => {
    const one = await fixture();
    const here = await firstOperator(one);
    const [phone, desk] = [one.browser(), one.browser()];
    await phone.signIn(one.email);
    await desk.signIn(one.email);
    const sessions = (await here.get('/api/auth/list-sessions')).json;
    expect(sessions).toHaveLength(3);
    const phones = (await phone.get('/api/auth/get-session')).json.session;
    expect(phones.token).toBe(sessions.find(({ id }: LooseJson) => id === phones.id)?.token);
    expect((await here.post('/api/auth/revoke-session', { token: phones.token })).status).toBe(200);
    expect((await phone.get('/api/v1/customers')).status).toBe(401);
    expect((await desk.get('/api/v1/customers')).status).toBe(200);
    const change = { currentPassword: PASSWORD, newPassword: 'another horse', revokeOtherSessions: false };
    expect((await here.post('/api/auth/change-password', change)).status).toBe(200);
    expect((await desk.get('/api/v1/customers')).status).toBe(401);
    expect((await here.get('/api/v1/customers')).status).toBe(200);
    expect((await desk.signIn(one.email)).status).toBe(401);
    expect((await desk.signIn(one.email, 'another horse')).status).toBe(200);
    await here.signOut();
    expect((await here.get('/api/v1/customers')).status).toBe(401);
  });

  it('requires the second factor if enabled, and accepts each code once', async () => {
    const one = await fixture();
    const { uri, codes, code: setupCode } = await enableTotp(await firstOperator(one));
    const browser = one.browser();
    expect((await browser.signIn(one.email)).json).toMatchObject({ twoFactorRedirect: true });
    expect((await browser.get('/api/v1/customers')).status).toBe(401);
    const next = totp(uri, Date.now() + 30_000);
    for (const code of ['000000', setupCode])
      expect((await browser.post('/api/auth/two-factor/verify-totp', { code })).status).toBe(401);
    expect((await browser.post('/api/auth/two-factor/verify-totp', { code: next })).status).toBe(200);
    expect((await browser.get('/api/v1/customers')).status).toBe(200);
    const thief = one.browser();
    await thief.signIn(one.email);
    expect((await thief.post('/api/auth/two-factor/verify-totp', { code: next })).status).toBe(401);
    expect((await thief.get('/api/v1/customers')).status).toBe(401);
    const backup = { code: codes[0] };
    expect((await thief.post('/api/auth/two-factor/verify-backup-code', backup)).status).toBe(200);
    const again = one.browser();
    await again.signIn(one.email);
    expect((await again.post('/api/auth/two-factor/verify-backup-code', backup)).status).toBe(401);
  });

  it('locks an account after too many wrong codes', async () => {
    const one = await fixture();
    await enableTotp(await firstOperator(one));
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) {
      const browser = one.browser(`198.51.100.${i}`);
      one.clock.now += 61_000;
      await browser.signIn(one.email);
      for (let j = 0; j < 4; j++) {
        const code = String(100_000 + 10 * i + j);
        statuses.push((await browser.post('/api/auth/two-factor/verify-totp', { code })).status);
      }
    }
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
  });

  it('mails a reset link to existing accounts, and responds alike for unknown ones', async () => {
    const one = await fixture({ publicUrl: 'https://solway.test' });
    const operator = await firstOperator(one);
    const browser = one.browser('198.51.100.20');
    const known = await browser.post('/api/auth/request-password-reset', { email: one.email });
    const unknown = await browser.post('/api/auth/request-password-reset', { email: 'nobody@example.com' });
    expect([unknown.status, unknown.text]).toEqual([known.status, known.text]);
    expect(one.mails.map(({ to }) => to)).toEqual([one.email]);
    const token = one.mails[0]?.text;
    const reset = () => browser.post('/api/auth/reset-password', { token, newPassword: 'a third horse' });
    expect((await reset()).status).toBe(200);
    expect((await reset()).status).toBe(400);
    expect((await operator.get('/api/v1/customers')).status).toBe(401);
    expect((await browser.signIn(one.email, 'a third horse')).status).toBe(200);
  });

  it('stores no password, token, seed or code in plain text', async () => {
    const one = await fixture();
    const browser = await firstOperator(one);
    const { uri, codes } = await enableTotp(browser);
    const { secret } = (await browser.post('/api/v1/tokens', { name: 'ci' })).json;
    const link = await one.inviteOperator('next@example.com');
    await one.browser().signIn('nobody@example.com', 'a password in the wrong place');
    await browser.post('/api/auth/request-password-reset', { email: one.email });
    const session = decodeURIComponent(browser.cookies.get('solway.session_token') ?? '').split('.')[0] ?? '';
    const seed = new URL(uri).searchParams.get('secret') ?? '';
    const secrets = [PASSWORD, 'a password in the wrong place', secret, link, session, seed, ...codes];
    secrets.push(bytesOfBase32(seed).toString('latin1'), one.mails.at(-1)?.text ?? '');
    const retained = `${await dump(one.store)}${one.logged.join('\n')}`;
    expect(secrets.every((text) => text.length > 5)).toBe(true);
    expect(secrets.filter((text) => retained.includes(text))).toEqual([]);
  });
});

describeOnSqlite('sign-in protection', (stores) => {
  const fixture = fixtureIn(stores);

  it('rejects expired links, and sign-up without a link', async () => {
    const one = await fixture();
    const token = await one.inviteOperator();
    expect((await one.browser().signUp(one.email, undefined)).json.error.code).toBe('NOT_INVITED');
    one.clock.now += 8 * 24 * 3_600_000;
    expect((await one.browser().signUp(one.email, token)).json.error.code).toBe('INVITATION_OVER');
    expect((await one.browser().post('/api/v1/invitations/preview', { token })).status).toBe(404);
  });

  it('lets anyone sign up when sign-up is open, each with their own customer', async () => {
    const one = await fixture({ signUp: 'open', limits: { customersPerUserMax: 1 } });
    const anna = one.browser();
    expect((await anna.signUp('anna@example.com', undefined)).status).toBe(200);
    const { json } = await anna.post('/api/v1/customers', { name: 'Anna & Co' });
    expect((await anna.get('/api/v1/me')).json.customers).toMatchObject([{ id: json.id, role: 'owner' }]);
    expect((await anna.post('/api/v1/customers', { name: 'More' })).status).toBe(409);
    const customer = one.store.db.updateTable('customer').where('id', '=', json.id);
    await customer.set({ state: 'suspended' }).execute();
    const rejected = await anna.post('/api/v1/customers', { name: 'More' });
    expect([rejected.status, rejected.json.error.code]).toEqual([403, 'CUSTOMER_SUSPENDED']);
    expect((await one.browser().signUp('anna@example.com', undefined, 'another password')).status).toBe(401);
  });

  it('sets HttpOnly SameSite cookies, Secure over TLS', async () => {
    const plain = await firstOperator(await fixture());
    const [cookie] = plain.setCookies;
    expect(cookie).toMatch(/^solway\.session_token=/);
    expect(cookie).toMatch(/HttpOnly/i);
    expect(cookie).toMatch(/SameSite=Lax/i);
    expect(cookie).not.toMatch(/Secure/i);
    const tls = await firstOperator(await fixture({ publicUrl: 'https://solway.test' }));
    expect(tls.setCookies[0]).toMatch(/^__Secure-solway\.session_token=.*Secure/i);
  });

  it('responds alike for a wrong password and an unknown address, and audits both', async () => {
    const one = await fixture();
    const operator = await firstOperator(one);
    const wrong = await one.browser().signIn(one.email, 'not the password');
    const nobody = await one.browser().signIn('nobody@example.com', 'not the password');
    const said = ({ json, status }: typeof wrong) => [status, json.error.code, json.error.message];
    expect(said(nobody)).toEqual(said(wrong));
    expect(wrong.status).toBe(401);
    await one.browser().signIn('nobody.else@example.com', 'not the password');
    await one.browser().signIn(one.email, 'not the password');
    // Failures of unknown accounts are aggregated into one entry per minute; stopping writes the rest.
    await one.signIn.stop();
    const refused = (await audit(one, operator)).filter(({ action }) => action === 'session.refused');
    expect(refused.map(({ detail }) => detail)).toEqual([
      { path: '/sign-in/email', count: 2 },
      { path: '/sign-in/email', account: one.email, count: 1 },
      { path: '/sign-in/email', account: one.email, count: 1 },
    ]);
  });

  it('limits password guesses by address and by account, and lifts the limits after a while', async () => {
    const one = await fixture({ limits: { hashesWaitingMax: 200 } });
    const operator = await firstOperator(one);
    const guess = (address: string, email = one.email) =>
      one.browser(address).signIn(email, 'not the password');
    for (let i = 0; i < 5; i++) expect((await guess(`198.51.100.${i}`)).status).toBe(401);
    // Attackers can invent any number of accounts, so unknown ones are limited by address only.
    for (let i = 0; i < 7; i++) expect((await guess(`203.0.113.1${i}`, 'no address')).status).not.toBe(429);
    const refused = await guess('198.51.100.9');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await one.browser('198.51.100.9').signIn(one.email)).status).toBe(429);
    expect((await operator.get('/api/v1/me')).json.user).not.toBeNull();
    one.clock.now += 61_000;
    expect((await one.browser('198.51.100.9').signIn(one.email)).status).toBe(200);
    for (let i = 0; i < 20; i++)
      expect((await guess('203.0.113.7', `user${i}@example.com`)).status).toBe(401);
    expect((await guess('203.0.113.7', 'other@example.com')).status).toBe(429);
    expect((await guess('203.0.113.8', 'other@example.com')).status).toBe(401);
  });

  it('counts an IPv6 /64 as one address, and keeps its failures when a sign-in succeeds', async () => {
    const addressAttempts = { ...accountLimits.addressAttempts, freeAttempts: 2 };
    const one = await fixture({ limits: { addressAttempts } });
    await firstOperator(one);
    const guess = async (host: string, nth: number) =>
      (await one.browser(`2001:db8:1:${host}`).signIn(`user${nth}@example.com`, 'not the password')).status;
    expect(await guess('1::1', 1)).toBe(401);
    expect((await one.browser('2001:db8:1:1::2').signIn(one.email)).status).toBe(200);
    expect([await guess('1:ffff::3', 2), await guess('1::4', 3)]).toEqual([401, 429]);
    expect(await guess('2::1', 4)).toBe(401);
  });

  it('limits password guesses through sign-up like sign-ins, and stores no state for invented accounts', async () => {
    const one = await fixture({ signUp: 'open' });
    await firstOperator(one);
    for (let i = 0; i < 3; i++)
      expect((await one.browser(`198.51.100.${i}`).signIn(one.email, 'not the password')).status).toBe(401);
    const signUp = (address: string) =>
      one.browser(address).post('/api/auth/sign-up/email', {
        ...{ name: 'Mallory', email: one.email, password: 'not the password' },
      });
    for (let i = 0; i < 2; i++) expect((await signUp(`198.51.100.1${i}`)).status).toBe(401);
    expect((await signUp('198.51.100.20')).status).toBe(429);
    expect((await one.browser('198.51.100.21').signIn(one.email)).status).toBe(429);
    for (let i = 0; i < 8; i++) {
      const { status } = await one.browser(`203.0.113.${i}`).signIn('no address', 'not the password');
      expect(status).not.toBe(429);
    }
  });

  it('accepts a user from a known address despite failures from others', async () => {
    const one = await fixture();
    await firstOperator(one);
    const home = '203.0.113.20';
    await one.browser(home).signIn(one.email);
    const guess = (address: string) => one.browser(address).signIn(one.email, 'not the password');
    for (let i = 0; i < 5; i++) expect((await guess(`198.51.100.${i}`)).status).toBe(401);
    await one.browser('198.51.100.9').post('/api/auth/request-password-reset', { email: one.email });
    expect((await one.browser('198.51.100.9').signIn(one.email)).status).toBe(429);
    expect((await one.browser(home).signIn(one.email)).status).toBe(200);
    for (let i = 0; i < 5; i++) expect((await guess(home)).status).toBe(401);
    expect((await one.browser(home).signIn(one.email)).status).toBe(429);
  });

  it('reports a retry time while the hash queue is full, and still counts failures', async () => {
    const gates: (() => void)[] = [];
    const slow = { isOn: false };
    const one = await fixture({
      limits: { hashesMax: 1, hashesWaitingMax: 0 },
      beforeHash: () => (slow.isOn ? new Promise<void>((open) => gates.push(open)) : Promise.resolve()),
    });
    await firstOperator(one);
    for (let i = 0; i < 4; i++)
      expect((await one.browser(`198.51.100.${i}`).signIn(one.email, 'not the password')).status).toBe(401);
    slow.isOn = true;
    const first = one.browser('198.51.100.10').signIn(`${one.email}.uk`);
    await expect.poll(() => gates.length).toBe(1);
    const said = one.logged.length;
    const token = await one.inviteOperator();
    for (const refused of [
      await one.browser('198.51.100.11').signIn(one.email),
      await one.browser('198.51.100.12').signUp('late@example.com', token),
    ]) {
      expect([refused.status, refused.json.error.code]).toEqual([503, 'OVERLOADED']);
      expect(refused.headers.get('retry-after')).toBe('5');
    }
    expect(one.logged.slice(said).filter((line) => /"level":"?(?:warn|error|[45]0)/.test(line))).toEqual([]);
    slow.isOn = false;
    gates[0]?.();
    expect((await first).status).toBe(401);
    expect((await one.browser('198.51.100.13').signIn(one.email, 'not the password')).status).toBe(401);
    expect((await one.browser('198.51.100.14').signIn(one.email)).status).toBe(429);
  });

  it('creates a new session at each sign-in, and ignores session ids chosen by the client', async () => {
    const one = await fixture();
    await firstOperator(one);
    const victim = one.browser();
    victim.cookies.set('solway.session_token', 'chosen-by-a-stranger.c2lnbmF0dXJl');
    expect((await victim.get('/api/v1/customers')).status).toBe(401);
    await victim.signIn(one.email);
    const first = victim.cookies.get('solway.session_token');
    expect(first).not.toContain('chosen-by-a-stranger');
    await victim.signIn(one.email);
    expect(victim.cookies.get('solway.session_token')).not.toBe(first);
  });

  it.each([
    [
      'a new second factor',
      async (own: Browser) => {
        await own.post('/api/auth/two-factor/disable', { password: PASSWORD });
        await enableTotp(own);
      },
    ],
    [
      'a password change',
      (own: Browser) =>
        own.post('/api/auth/change-password', { currentPassword: PASSWORD, newPassword: NEXT_PASSWORD }),
    ],
    [
      'a password reset by mail',
      async (own: Browser, { mails, email }: AccountsFixture) => {
        await own.post('/api/auth/request-password-reset', { email });
        await own.post('/api/auth/reset-password', { token: mails.at(-1)?.text, newPassword: NEXT_PASSWORD });
      },
    ],
    ['the end of all other sessions', (own: Browser) => own.post('/api/auth/revoke-other-sessions')],
    ['the end of all sessions', (own: Browser) => own.post('/api/auth/revoke-sessions')],
  ])('requires the second factor again in trusted browsers after %s', async (_, change) => {
    const one = await fixture();
    const own = await firstOperator(one);
    const { uri } = await enableTotp(own);
    const trusted = one.browser('198.51.100.9');
    await trusted.signIn(one.email);
    const given = { code: totp(uri, Date.now() + 30_000), trustDevice: true };
    expect((await trusted.post('/api/auth/two-factor/verify-totp', given)).status).toBe(200);
    const isRequested = async (password?: string) =>
      (await trusted.signIn(one.email, password)).json?.twoFactorRedirect ?? false;
    expect(await isRequested()).toBe(false);
    await change(own, one);
    expect([await isRequested(), await isRequested(NEXT_PASSWORD)]).toContain(true);
    expect((await trusted.get('/api/v1/customers')).status).toBe(401);
  });
});

type Provider = Awaited<ReturnType<typeof startOidcProvider>>;

const example = {
  ...{ id: 'example', name: 'Example', clientId: 'solway' },
  domains: [] as string[],
  tokenAudience: null as string | null,
};

const elsewhere = [
  'https://evil.example',
  '//evil.example',
  '/\\evil.example',
  '/keys\r\nlocation: https://evil.example',
];

describeOnSqlite('OpenID Connect sign-in', ({ open, migrated, defer }) => {
  let database: Promise<OpenOptions> | null = null;

  async function start(
    signUp: 'invited' | 'open' = 'invited',
  ): Promise<{ fixture: AccountsFixture; provider: Provider }> {
    const provider = await startOidcProvider();
    defer(async () => void (await provider.close()));
    const discoveryUrl = `${provider.url}/.well-known/openid-configuration`;
    const oidc = [{ ...example, discoveryUrl, clientSecret: 'a secret' }];
    database ??= migrated();
    return { fixture: await openAccountsFixture(await open(await database), { oidc, signUp }), provider };
  }

  async function come(
    browser: Browser,
    provider: Provider,
    claims: Readonly<Record<string, unknown>>,
    { isForged = false, back = '/keys' } = {},
  ): Promise<ApiResponse> {
    const begun = await browser.post('/api/auth/sign-in/oauth2', {
      providerId: 'example',
      callbackURL: back,
    });
    if (begun.status !== 200) return begun;
    const { searchParams, origin } = new URL(begun.json.url);
    expect(origin).toBe(provider.url);
    expect(searchParams.get('redirect_uri')).toBe('http://solway.test/api/auth/callback/example');
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    provider.comes({ nonce: searchParams.get('nonce'), ...claims }, isForged);
    return browser.get(`/api/auth/callback/example?code=abc&state=${searchParams.get('state')}`);
  }

  const claimsOf = (email: string, verified = true) => ({
    sub: `sub-${email}`,
    email,
    email_verified: verified,
    name: 'Some',
  });

  it('admits invited users with a verified address, and stores no provider tokens', async () => {
    const { fixture, provider } = await start();
    const operator = await firstOperator(fixture);
    const email = `oidc-${fixture.email}`;
    await operator.post('/api/v1/customers/house/invitations', { email, role: 'viewer' });
    const refused = await come(fixture.browser(), provider, claimsOf(`uninvited-${email}`));
    expect(refused.headers.get('location')).toMatch(/^\/sign-in\?error=/);
    const unproven = fixture.browser();
    await come(unproven, provider, claimsOf(email, false));
    expect((await unproven.get('/api/v1/me')).json.user).toBeNull();
    const browser = fixture.browser();
    const answer = await come(browser, provider, claimsOf(email));
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/keys']);
    expect((await browser.get('/api/v1/me')).json.user).toMatchObject({ email, isOperator: false });
    const retained = JSON.stringify(await fixture.store.db.selectFrom('auth_account').selectAll().execute());
    expect(retained).not.toMatch(/access-secret|refresh-secret|eyJ/);
    const again = fixture.browser();
    await come(again, provider, claimsOf(email));
    expect((await again.get('/api/v1/me')).json.user).toMatchObject({ email });
    const added = { action: 'user.way-in', detail: { provider: 'example' } };
    expect(await audit(fixture, operator)).toContainEqual(expect.objectContaining(added));
  });

  it('signs in at a real provider, without an invitation for an allowed domain, and out', async () => {
    const provider = await startRealOidcProvider('http://solway.test/api/auth/callback/example');
    defer(async () => void (await provider.close()));
    const discoveryUrl = `${provider.url}/.well-known/openid-configuration`;
    const domains = ['allowed.example'];
    const oidc = [{ ...example, domains, discoveryUrl, clientSecret: provider.clientSecret }];
    database ??= migrated();
    const fixture = await openAccountsFixture(await open(await database), { oidc });
    const signIn = async (browser: Browser, email: string, verified = true): Promise<string | null> => {
      provider.comes(`sub-${email.toLowerCase()}`, { email, email_verified: verified, name: 'Some One' });
      const wanted = { providerId: 'example', callbackURL: '/keys' };
      const begun = await browser.post('/api/auth/sign-in/oauth2', wanted);
      const { pathname, search } = await provider.authorize(begun.json.url);
      return (await browser.get(pathname + search)).headers.get('location');
    };
    const refused = [
      await signIn(fixture.browser(), 'ann@other.example'),
      await signIn(fixture.browser(), 'ann@sub.allowed.example'),
      await signIn(fixture.browser(), 'ann@allowed.example', false),
    ];
    for (const location of refused) expect(location).toMatch(/^\/sign-in\?error=/);
    const browser = fixture.browser();
    expect(await signIn(browser, 'Ann@Allowed.example')).toBe('/keys');
    const { user, customers } = (await browser.get('/api/v1/me')).json;
    expect(user).toMatchObject({ email: 'ann@allowed.example', isOperator: false });
    expect(customers).toMatchObject([{ id: 'house', role: 'viewer' }]);
    const joined = await fixture.store.db.selectFrom('audit').selectAll().execute();
    expect(joined).toContainEqual(
      expect.objectContaining({ action: 'member.join', actor: 'user:ann@allowed.example' }),
    );
    await browser.signOut();
    expect((await browser.get('/api/v1/me')).json.user).toBeNull();
    expect(await signIn(browser, 'ann@allowed.example')).toBe('/keys');
    expect((await browser.get('/api/v1/me')).json.user.id).toBe(user.id);
  });

  it('rejects tokens with a wrong signature, audience or nonce', async () => {
    const { fixture, provider } = await start('open');
    const claims = claimsOf(`forged-${fixture.email}`);
    const wrong = [
      await come(fixture.browser(), provider, claims, { isForged: true }),
      await come(fixture.browser(), provider, { ...claims, aud: 'another' }),
      await come(fixture.browser(), provider, { ...claims, iss: 'https://evil.example' }),
      await come(fixture.browser(), provider, { ...claims, nonce: 'of another' }),
      await come(fixture.browser(), provider, { ...claims, exp: 1 }),
    ];
    for (const answer of wrong) expect(answer.headers.get('location')).toMatch(/^\/sign-in\?error=/);
    expect(
      wrong.flatMap(({ headers }) => headers.getSetCookie()).filter((one) => /session_token=[^;]/.test(one)),
    ).toEqual([]);
  });

  it('does not link accounts by an equal address', async () => {
    const { fixture, provider } = await start('open');
    const victim = fixture.browser();
    await victim.signUp(`victim-${fixture.email}`, undefined);
    const thief = fixture.browser();
    const answer = await come(thief, provider, claimsOf(`victim-${fixture.email}`));
    expect(answer.headers.get('location')).toMatch(/^\/sign-in\?error=/);
    expect((await thief.get('/api/v1/me')).json.user).toBeNull();
  });

  it('redirects only to this service', async () => {
    const { fixture, provider } = await start('open');
    for (const back of elsewhere) {
      const answer = await come(fixture.browser(), provider, claimsOf(`x-${fixture.email}`), { back });
      const isRefused = answer.status === 422 || answer.status === 403;
      const isHere = answer.status === 302 && /^\/(?![/\\])/.test(answer.headers.get('location') ?? '');
      expect([back, isRefused || isHere]).toEqual([back, true]);
    }
  });

  it('accepts a state once, and only from the browser that started', async () => {
    const { fixture, provider } = await start('open');
    const browser = fixture.browser();
    const begun = await browser.post('/api/auth/sign-in/oauth2', { providerId: 'example', callbackURL: '/' });
    const requested = new URL(begun.json.url).searchParams;
    provider.comes({ nonce: requested.get('nonce'), ...claimsOf(`state-${fixture.email}`) });
    const path = `/api/auth/callback/example?code=abc&state=${requested.get('state')}`;
    const stranger = fixture.browser();
    expect((await stranger.get(path)).headers.get('location')).toMatch(/error=/);
    expect((await stranger.get('/api/v1/me')).json.user).toBeNull();
    expect(
      (await fixture.browser().get('/api/auth/callback/example?code=abc&state=made-up')).headers.get(
        'location',
      ),
    ).toMatch(/error=/);
  });

  it('does not block other sign-ins while a provider is unreachable', async () => {
    const away = {
      ...{ ...example, id: 'away', name: 'Away' },
      discoveryUrl: 'http://127.0.0.1:1/x',
      clientSecret: 'b',
    };
    database ??= migrated();
    const fixture = await openAccountsFixture(await open(await database), { oidc: [away] });
    defer(async () => fixture.signIn.stop());
    const operator = await firstOperator(fixture);
    expect((await operator.get('/api/v1/customers')).status).toBe(200);
    expect(
      (await operator.post('/api/auth/sign-in/oauth2', { providerId: 'away', callbackURL: '/' })).status,
    ).toBe(404);
  });
});
