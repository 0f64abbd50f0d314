import { expect, it } from 'vitest';
import type { OpenOptions } from '../../../src/control/database/open.ts';
import { describeOnSqlite } from '../stores.ts';
import {
  type AccountsFixture,
  type ApiResponse,
  type Browser,
  firstOperator,
  openAccountsFixture,
} from './accounts-fixture.ts';
import { startOidcProvider } from './oidc-provider.ts';

type Provider = Awaited<ReturnType<typeof startOidcProvider>>;

const elsewhere = [
  'https://evil.example',
  '//evil.example',
  '/\\evil.example',
  '/keys\r\nlocation: https://evil.example',
];

describeOnSqlite('OpenID Connect sign-in', ({ open, fresh, defer }) => {
  let place: Promise<OpenOptions> | null = null;

  async function start(
    signUp: 'invited' | 'open' = 'invited',
  ): Promise<{ fixture: AccountsFixture; provider: Provider }> {
    const provider = await startOidcProvider();
    defer(async () => void (await provider.close()));
    const discoveryUrl = `${provider.url}/.well-known/openid-configuration`;
    const oidc = [
      { id: 'example', name: 'Example', discoveryUrl, clientId: 'solway', clientSecret: 'a secret' },
    ];
    place ??= fresh();
    return { fixture: await openAccountsFixture(await open(await place), { oidc, signUp }), provider };
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

  const somebody = (email: string, verified = true) => ({
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
    const refused = await come(fixture.browser(), provider, somebody(`uninvited-${email}`));
    expect(refused.headers.get('location')).toMatch(/^\/sign-in\?error=/);
    const unproven = fixture.browser();
    await come(unproven, provider, somebody(email, false));
    expect((await unproven.get('/api/v1/me')).json.user).toBeNull();
    const browser = fixture.browser();
    const answer = await come(browser, provider, somebody(email));
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/keys']);
    expect((await browser.get('/api/v1/me')).json.user).toMatchObject({ email, isOperator: false });
    const retained = JSON.stringify(await fixture.store.db.selectFrom('auth_account').selectAll().execute());
    expect(retained).not.toMatch(/access-secret|refresh-secret|eyJ/);
    const again = fixture.browser();
    await come(again, provider, somebody(email));
    expect((await again.get('/api/v1/me')).json.user).toMatchObject({ email });
  });

  it('rejects tokens with a wrong signature, audience or nonce', async () => {
    const { fixture, provider } = await start('open');
    const claims = somebody(`forged-${fixture.email}`);
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
    const answer = await come(thief, provider, somebody(`victim-${fixture.email}`));
    expect(answer.headers.get('location')).toMatch(/^\/sign-in\?error=/);
    expect((await thief.get('/api/v1/me')).json.user).toBeNull();
  });

  it('redirects only to this service', async () => {
    const { fixture, provider } = await start('open');
    for (const back of elsewhere) {
      const answer = await come(fixture.browser(), provider, somebody(`x-${fixture.email}`), { back });
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
    provider.comes({ nonce: requested.get('nonce'), ...somebody(`state-${fixture.email}`) });
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
      id: 'away',
      name: 'Away',
      discoveryUrl: 'http://127.0.0.1:1/x',
      clientId: 'a',
      clientSecret: 'b',
    };
    place ??= fresh();
    const fixture = await openAccountsFixture(await open(await place), { oidc: [away] });
    defer(async () => fixture.signIn.stop());
    const operator = await firstOperator(fixture);
    expect((await operator.get('/api/v1/customers')).status).toBe(200);
    expect(
      (await operator.post('/api/auth/sign-in/oauth2', { providerId: 'away', callbackURL: '/' })).status,
    ).toBe(404);
  });
});
