import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { linkIdentity, unlinkIdentity } from '../../../src/control/accounts/link-identity.ts';
import { describeOnSqlite } from '../stores.ts';
import {
  type AccountsFixture,
  type Browser,
  firstOperator,
  openAccountsFixture,
  tokenIn,
} from './accounts-fixture.ts';
import { startOidcProvider } from './oidc-provider.ts';

const AUDIENCE = 'solway-api';
const WELL_KNOWN = '/.well-known/openid-configuration';
const SUBJECT = 'sub-anna';
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}`, 'x-solway': null } });
type Claims = Readonly<Record<string, unknown>>;

describeOnSqlite('tokens of an OpenID Connect provider', ({ open, migrated, defer }) => {
  let provider: Awaited<ReturnType<typeof startOidcProvider>>;
  let fixture: AccountsFixture;
  let operator: Browser;
  let email: string;
  let invitation: string;

  beforeAll(async () => {
    provider = await startOidcProvider();
  });
  beforeEach(async () => {
    fixture = await openFixture();
    operator = await firstOperator(fixture);
    email = `anna-${fixture.email}`;
    const invited = { email, role: 'developer' };
    const { link } = (await operator.post('/api/v1/customers/house/invitations', invited)).json;
    invitation = tokenIn(link);
    await signInAtProvider();
  });
  afterAll(() => provider.close());

  async function openFixture(discoveryUrl = `${provider.url}${WELL_KNOWN}`): Promise<AccountsFixture> {
    const client = { id: 'example', name: 'Example', clientId: 'solway', clientSecret: 'a secret' };
    const oidc = [{ ...client, discoveryUrl, domains: [], tokenAudience: AUDIENCE }];
    const opened = await openAccountsFixture(await open(await migrated()), { oidc });
    defer(() => opened.signIn.stop());
    return opened;
  }

  async function signInAtProvider(): Promise<void> {
    const browser = fixture.browser();
    const begun = await browser.post('/api/auth/sign-in/oauth2', { providerId: 'example', callbackURL: '/' });
    const { searchParams } = new URL(begun.json.url);
    const identity = { sub: SUBJECT, email, email_verified: true, name: 'Anna' };
    provider.comes({ nonce: searchParams.get('nonce'), ...identity });
    await browser.get(`/api/auth/callback/example?code=abc&state=${searchParams.get('state')}`);
  }

  const issue = (claims: Claims = {}, isForged = false): string =>
    provider.issue({ aud: AUDIENCE, sub: SUBJECT, ...claims }, isForged);
  const get = (path: string, token: string, address = '192.0.2.7') =>
    fixture.browser(address).get(path, bearer(token));
  const post = (path: string, body: unknown, token: string) =>
    fixture.browser().post(path, body, bearer(token));

  it('act for the linked user, with the rights that the user has now', async () => {
    const token = issue();
    expect((await get('/api/v1/me', token)).json.user).toMatchObject({ email, isOperator: false });
    expect((await get('/api/v1/customers/house', token)).status).toBe(404);
    expect((await post('/api/v1/invitations/accept', { token: invitation }, token)).status).toBe(200);
    const created = await post('/api/v1/customers/house/keys', { product: 'rpc', name: 'ci' }, token);
    expect(created.status).toBe(200);
    const playground = `/api/v1/customers/house/keys/${created.json.key.id}/playground-token`;
    expect((await post(playground, {}, token)).json.error.code).toBe('SESSION_ONLY');
    expect((await get('/api/v1/customers', token)).json.error.code).toBe('OPERATOR_ONLY');
    const { items } = (await operator.get('/api/v1/audit?limit=1')).json;
    expect(items).toMatchObject([{ action: 'key.create', actor: `user:${email}` }]);
    const { id } = (await get('/api/v1/me', token)).json.user;
    await operator.send('DELETE', `/api/v1/customers/house/members/${id}`);
    expect((await get('/api/v1/customers/house', token)).status).toBe(404);
  });

  it('are rejected unless issuer, audience, subject and times are right', async () => {
    const now = Math.floor(fixture.clock.now / 1_000);
    const passed = issue({ exp: now + 1 });
    expect((await get('/api/v1/me', passed)).status).toBe(200);
    const codeOf = async (token: string) => (await get('/api/v1/me', token)).json.error.code;
    const wrong = [
      { aud: 'solway' },
      { aud: undefined },
      { iss: 'https://evil.example' },
      { sub: undefined },
      { sub: 'sub\0anna' },
      { nbf: now + 120 },
    ];
    for (const claims of wrong)
      expect([claims, await codeOf(issue(claims))]).toEqual([claims, 'WRONG_TOKEN']);
    fixture.clock.now += 32_000;
    expect(await codeOf(passed)).toBe('TOKEN_EXPIRED');
  });

  it('for a subject that never signed in create no account, whatever their address', async () => {
    const token = issue({ sub: 'sub-other', email: fixture.email, email_verified: true });
    const { status, json } = await get('/api/v1/me', token);
    expect([status, json.error.code]).toEqual([403, 'NOT_LINKED']);
    const users = await fixture.store.db.selectFrom('auth_user').select('email').execute();
    expect(users.map((user) => user.email).sort()).toEqual([fixture.email, email].sort());
  });

  it('act for the account to which an operator linked their subject, until it is unlinked', async () => {
    const { store } = fixture;
    const context = { store, actor: 'cli:root', invitationMs: 0, now: () => fixture.clock.now };
    const machine = { provider: 'example', subject: 'machine' };
    const token = issue({ sub: machine.subject });
    await expect(linkIdentity(context, 'nobody@example.com', machine)).rejects.toThrow('No account');
    await linkIdentity(context, email, machine);
    await expect(linkIdentity(context, fixture.email, machine)).rejects.toThrow('Unlink it first');
    expect((await get('/api/v1/me', token)).json.user).toMatchObject({ email });
    const { items } = (await operator.get('/api/v1/audit?limit=1')).json;
    expect(items).toMatchObject([
      { action: 'user.way-in', actor: 'cli:root', detail: { user: email, ...machine } },
    ]);
    await unlinkIdentity(context, machine);
    expect((await get('/api/v1/me', token)).status).toBe(403);
    expect((await get('/api/v1/me', issue())).status).toBe(200);
  });

  it('that are forged count as failed attempts, and valid ones still pass', async () => {
    const statuses: number[] = [];
    for (let nth = 0; nth < 21; nth++)
      statuses.push((await get('/api/v1/me', issue({}, true), '198.51.100.9')).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429]);
    expect((await get('/api/v1/me', issue(), '198.51.100.9')).status).toBe(200);
    expect(fixture.logged.join()).not.toContain(issue().split('.')[0]);
  });

  it.each([
    ['is unreachable', '/x', '', 503],
    ['belongs to another URL', `${WELL_KNOWN}#other`, '', 401],
    ['names keys that can be forged', WELL_KNOWN, 'http://127.0.0.2:1/keys', 401],
  ])('are rejected if the discovery document %s', async (_name, path, keysUrl, status) => {
    provider.namesKeysAt(keysUrl);
    const one = await openFixture(provider.url + path);
    provider.namesKeysAt('');
    expect((await one.browser().get('/api/v1/me', bearer(issue()))).status).toBe(status);
  });

  it.each([
    ['redirected', 401],
    ['too long', 503],
    ['absent', 503],
  ] as const)('are rejected while the discovery document is %s', async (document, status) => {
    provider.servesDocument(document);
    const one = await openFixture();
    provider.servesDocument('');
    expect((await one.browser().get('/api/v1/me', bearer(issue()))).status).toBe(status);
  });

  it('are not verified by a process that stops during discovery', async () => {
    provider.servesDocument('absent');
    const { signIn } = await openFixture();
    provider.servesDocument('');
    provider.requests.length = 0;
    const starting = signIn.start();
    await signIn.stop();
    await starting;
    expect(provider.requests).toEqual([WELL_KNOWN]);
  });
});
