import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { chunk } from '../../../src/base/chunk.ts';
import { listOperators, removeOperator } from '../../../src/control/accounts/operators.ts';
import { backupTables } from '../../../src/control/database/backup/backup.ts';
import type { OpenOptions } from '../../../src/control/database/open.ts';
import { selectRows } from '../../../src/control/database/rows.ts';
import {
  keysChangedAfter,
  keysOfPlansChangedAfter,
  newestVersion,
} from '../../../src/control/keys/key-feed.ts';
import { describeOnBothStores } from '../stores.ts';
import { usageRow, write } from '../usage/usage-fixture.ts';
import {
  type AccountsFixture,
  type Browser,
  firstOperator,
  joinByInvitation,
  type LooseJson,
  openAccountsFixture,
  tokenIn,
} from './accounts-fixture.ts';

let count = 0;

/** Headers of a program, which sends none of our pages' headers. */
const bearer = (secret: string) => ({
  headers: { authorization: `Bearer ${secret}`, origin: null, 'x-solway': null },
});

describeOnBothStores('a team', ({ kind, open, fresh }) => {
  let database: Promise<OpenOptions> | null = null;
  let fixture: AccountsFixture;
  let operator: Browser;
  let customer: string;
  const at = (path: string): string => `/api/v1/customers/${customer}${path}`;
  const name = (role: string): string => `${role}${count}@example.com`;
  const join = (role: string): Promise<Browser> =>
    joinByInvitation(fixture, operator, customer, name(role), role);
  const idOf = async (browser: Browser): Promise<string> => (await browser.get('/api/v1/me')).json.user.id;
  const lines = async (browser: Browser = operator): Promise<LooseJson[]> =>
    (await browser.get(at('/audit'))).json.items;

  beforeEach(async () => {
    database ??= fresh();
    fixture = await openAccountsFixture(await open(await database));
    operator = await firstOperator(fixture);
    customer = (await operator.post('/api/v1/customers', { name: `Acme ${++count}` })).json.id;
  });

  it('is found and sorted by the service, in pages that neither repeat nor skip when customers come and go', async () => {
    const make = async (one: string) => (await operator.post('/api/v1/customers', { name: one })).json.id;
    const mark = `z${count}`;
    const names = [`${mark} b`, `${mark} A`, `${mark} 100%`, `${mark} a`, `${mark} c`];
    const ids = new Map<string, string>();
    for (const one of names) ids.set(one, await make(one));
    const list = async (query: object) =>
      (await operator.get(`/api/v1/customers?${new URLSearchParams(query as Record<string, string>)}`)).json;
    const namesIn = (page: LooseJson) => page.items.map((one: LooseJson) => one.name);
    const first = await list({ search: mark.toUpperCase(), sort: 'name', limit: 2 });
    expect(first.items[0]).toMatchObject({ name: `${mark} 100%`, members: 1, keys: 0, creditsUsed: 0 });
    await make(`${mark} 1`);
    const rest = await list({ search: mark, sort: 'name', limit: 100, cursor: first.next });
    const sorted = namesIn(await list({ search: mark, sort: 'name' }));
    expect([...namesIn(first), ...namesIn(rest)]).toEqual(
      sorted.filter((one: string) => one !== `${mark} 1`),
    );
    expect(namesIn(await list({ search: mark, sort: '-name' }))).toEqual(sorted.toReversed());
    const another = await operator.get(`/api/v1/customers?sort=createdAt&cursor=${first.next}`);
    expect([another.status, another.json.error.fields]).toEqual([422, { cursor: 'is invalid' }]);
    const unsorted = await operator.get('/api/v1/customers?sort=plan');
    expect(unsorted.json.error.fields.sort).toBe('must be one of name, -name, createdAt, -createdAt');
    expect(namesIn(await list({ search: '100%' }))).toContain(`${mark} 100%`);
    const key = (await operator.post(at('/keys'), { product: 'rpc', name: 'x' })).json.key.id;
    await join('viewer');
    for (const search of [customer, key, name('viewer').toUpperCase()])
      expect((await list({ search })).items.map((one: LooseJson) => one.id)).toEqual([customer]);
  });

  it('is deleted with its personal data, and leaves usage and audit entries under its id', async () => {
    const owner = await join('owner');
    await join('viewer');
    const guest = await joinByInvitation(fixture, operator, 'house', name('guest'), 'viewer');
    const { link } = (await operator.post(at('/invitations'), { email: name('guest'), role: 'viewer' })).json;
    await guest.accept(tokenIn(link));
    const open = (await operator.post(at('/invitations'), { email: name('late'), role: 'viewer' })).json;
    const token = (await owner.post(at('/tokens'), { name: 't', role: 'viewer' })).json.secret;
    await owner.post(at('/notices'), { kind: 'email', to: name('notices') });
    const { url } = (await owner.post(at('/usage-links'), { name: 'secret project' })).json;
    const made = await owner.post(at('/keys'), {
      product: 'rpc',
      name: 'secret project',
      cidrs: ['203.0.113.7'],
    });
    const { key } = made.json;
    const { store } = fixture;
    const wallet = { address: 'a', pepper_version: 1, wrapped: 'w', created_at: 0, changed_at: 0 };
    await store.db
      .insertInto('semi_wallet')
      .values({ ...wallet, owner_id: key.familyId })
      .execute();
    const confirm = async (by: Browser, typed: string, of = customer) =>
      (await by.post(`/api/v1/customers/${of}/delete`, { name: typed })).status;
    expect(await confirm(owner, `Acme ${count}`)).toBe(403);
    expect([await confirm(operator, 'Acme'), await confirm(operator, 'Default', 'house')]).toEqual([
      422, 409,
    ]);
    const since = await newestVersion(store);
    expect(await confirm(operator, `Acme ${count}`)).toBe(200);

    // Gateways revoke the key, which closes its connections.
    const changes = [];
    for await (const page of keysChangedAfter(store, since, 10)) changes.push(...page);
    expect(changes).toMatchObject([{ id: key.id, status: 'revoked' }]);
    // Nothing answers any more.
    expect((await operator.get(at('/keys'))).status).toBe(404);
    expect(await confirm(operator, 'Deleted')).toBe(404);
    expect((await fixture.browser().get('/api/v1/me', bearer(token))).status).toBe(401);
    expect((await owner.get('/api/v1/me')).json.user).toBeNull();
    expect((await fixture.browser().signIn(name('owner'))).status).toBe(401);
    expect((await operator.post('/api/v1/invitations/preview', { token: tokenIn(open.link) })).status).toBe(
      404,
    );
    expect((await operator.post('/api/v1/usage-links/preview', { token: tokenIn(url) })).status).toBe(404);
    const { json: me } = await guest.get('/api/v1/me');
    expect(me.customers.map((one: LooseJson) => one.id)).toEqual(['house']);
    const listed = await operator.get(`/api/v1/customers?search=${customer}`);
    expect(listed.json.items).toEqual([]);
    // Only the audit log still has personal data.
    const found: string[] = [];
    for (const { name: table } of backupTables) {
      if (table === 'audit') continue;
      const { rows } = await sql`select * from ${sql.table(table)}`.execute(store.db);
      const text = JSON.stringify(rows);
      const personal = [name('owner'), name('viewer'), name('late'), name('notices'), `Acme ${count}"`];
      for (const one of [...personal, 'secret project', '203.0.113.7'])
        if (text.includes(one)) found.push(`${table}: ${one}`);
    }
    expect(found).toEqual([]);
    expect(await selectRows(store.db, 'semi_wallet', { owner_id: key.familyId }).execute()).toEqual([]);
    const by = new URLSearchParams({ customer, action: 'customer.delete', actor: `user:${fixture.email}` });
    const { items } = (await operator.get(`/api/v1/audit?${by}`)).json;
    expect(items).toMatchObject([{ detail: { keys: 1, members: 4, users: 2 }, customerName: 'Deleted' }]);
    expect((await operator.get(`/api/v1/audit?${by}x`)).json.items).toEqual([]);
  });

  it('leaves no grants with a member who issues them while being removed', async () => {
    const admin = await join('admin');
    const id = await idOf(admin);
    const issue = (nth: number) =>
      nth % 2 === 0
        ? admin.post(at('/tokens'), { name: `t${nth}`, role: 'viewer' })
        : admin.post(at('/invitations'), { email: `i${nth}@example.com`, role: 'viewer' });
    const issued = Array.from({ length: 16 }, (_, nth) => issue(nth));
    const removed = operator.send('DELETE', at(`/members/${id}`));
    const statuses = (await Promise.all([...issued, removed])).map(({ status }) => status);
    expect(statuses.at(-1)).toBe(200);
    const left = [
      ...(await operator.get(at('/tokens'))).json.tokens,
      ...(await operator.get(at('/members'))).json.invitations,
    ];
    expect(
      left.filter((one) => (one as unknown as { createdBy: string }).createdBy === `user:${name('admin')}`),
    ).toEqual([]);
  });

  it('shows its usage, and nothing else, by a link until it expires or is revoked', async () => {
    const admin = await join('admin');
    const { key } = (await admin.post(at('/keys'), { product: 'rpc', name: 'secret project' })).json;
    const minute = Math.floor(fixture.clock.now / 60_000);
    await write(fixture.store, [
      usageRow({ keyId: key.id, minute, requests: 3 }),
      usageRow({ keyId: key.id, minute, method: 'getBlock', status: 'client', requests: 1 }),
    ]);
    const create = async (fields: object = {}) =>
      (await admin.post(at('/usage-links'), { name: 'finance', ...fields })).json;
    const look = (url: string, address?: string) =>
      fixture.browser(address).post('/api/v1/usage-links/preview', { token: tokenIn(url) });
    const first = await create({ days: 1 });
    expect(first.url).toMatch(/^http:\/\/solway\.test\/usage-link#token=[\w-]{43}$/);
    const { json, headers, text } = await look(first.url);
    expect(json).toMatchObject({ customerName: `Acme ${count}`, quotas: [{ planId: 'default', used: 8 }] });
    expect(json.days.at(-1).credits).toBe(8);
    expect(json.byProduct.series).toMatchObject([{ name: 'rpc', totals: { requests: 4, ok: 3 } }]);
    const names = json.byMethod.series.map((one: LooseJson) => [one.name, one.totals.credits]);
    expect(names).toEqual([
      ['getSlot', 6],
      ['getBlock', 2],
    ]);
    for (const secret of [key.id, 'secret project', name('admin'), customer])
      expect(text).not.toContain(secret);
    expect(headers.get('cache-control')).toBe('no-store');
    const concurrent = await Promise.all(Array.from({ length: 30 }, () => look(first.url)));
    const limited = concurrent.filter(({ status }) => status === 429);
    expect(concurrent.filter(({ status }) => status === 200).length).toBe(30 - limited.length);
    expect(limited[0]?.headers.get('retry-after')).toBe('5');

    fixture.clock.now += 1;
    const second = await create();
    const { links } = (await operator.get(at('/usage-links'))).json;
    expect(links.map((one: LooseJson) => one.id)).toEqual([first.link.id, second.link.id]);
    const stored = await selectRows(fixture.store.db, 'usage_link', { customer_id: customer }).execute();
    expect(JSON.stringify([stored, await lines()])).not.toContain(tokenIn(second.url));
    const revoke = (id: string) => admin.send('DELETE', at(`/usage-links/${id}`));
    expect((await revoke(second.link.id)).status).toBe(200);
    expect((await revoke(second.link.id)).status).toBe(404);
    fixture.clock.now += 24 * 3_600_000;
    const problems = [];
    for (const url of [first.url, second.url, first.url.replace(/.{9}$/, 'aaaaaaaaa'), '#token=x'])
      problems.push((await look(url)).json.error);
    expect(new Set(problems.map(({ code, message }) => `${code} ${message}`)).size).toBe(1);
    expect(problems[0].code).toBe('NOT_FOUND');
    const of = ({ link }: LooseJson) => ({
      customerId: customer,
      detail: { link: link.id, name: 'finance' },
    });
    expect((await lines()).filter(({ action }) => action.startsWith('usage-link.'))).toMatchObject([
      { action: 'usage-link.revoke', ...of(second) },
      { action: 'usage-link.create', ...of(second) },
      { action: 'usage-link.create', ...of(first) },
    ]);

    const created = await Promise.all(Array.from({ length: 11 }, () => create()));
    expect(created.flatMap(({ error }) => (error === undefined ? [] : [error.code]))).toEqual(['LIMIT']);
    for (let failed = 4; failed < 20; failed++) expect((await look(second.url)).status).toBe(404);
    expect((await look(second.url)).status).toBe(429);
    expect((await look(second.url, '198.51.100.7')).status).toBe(404);
  });

  it('rejects a change whose author has lost the required role in the meantime', async () => {
    const admin = await join('admin');
    const id = await idOf(admin);
    const reduced = operator.send('PATCH', at(`/members/${id}`), { body: { role: 'viewer' } });
    const requested = Array.from({ length: 12 }, (_, nth) =>
      admin.post(at('/invitations'), { email: `r${nth}@example.com`, role: 'admin' }),
    );
    const responses = await Promise.all(requested);
    expect((await reduced).status).toBe(200);
    expect((await operator.get(at('/members'))).json.invitations).toEqual([]);
    for (const { status } of responses) expect([200, 403]).toContain(status);
  });

  it('has tokens that can be revoked only through their own customer', async () => {
    const { secret, token } = (await operator.post(at('/tokens'), { name: 'ci', role: 'viewer' })).json;
    for (const path of [`/api/v1/customers/house/tokens/${token.id}`, `/api/v1/tokens/${token.id}`])
      expect([path, (await operator.send('DELETE', path)).status]).toEqual([path, 404]);
    expect((await fixture.browser().get(at(''), bearer(secret))).status).toBe(200);
  });

  it('keeps one owner when two leave concurrently', async () => {
    const [one, two] = [
      await join('owner'),
      joinByInvitation(fixture, operator, customer, name('second'), 'owner'),
    ];
    const owners = [one, await two];
    await owners[0]?.send('DELETE', at(`/members/${await idOf(operator)}`));
    const ids = await Promise.all(owners.map(idOf));
    const answers = await Promise.all(
      owners.map((owner, i) => owner.send('DELETE', at(`/members/${ids[i]}`))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it("loses tokens and invitations of a member that exceed the member's reduced role", async () => {
    const [owner, admin] = [await join('owner'), await join('admin')];
    const make = async (path: string, body: object, sent?: object) =>
      (await admin.post(at(path), body, sent)).json;
    const [first, third] = [
      await make('/tokens', { name: 'ci', role: 'admin' }),
      await make('/tokens', { name: 'watch', role: 'viewer' }),
    ];
    const second = await make('/tokens', { name: 'of ci', role: 'admin' }, bearer(first.secret));
    const guest = { email: 'guest@example.com', role: 'admin' };
    const { link } = await make('/invitations', guest, bearer(second.secret));
    const { link: small } = await make('/invitations', { email: 'small@example.com', role: 'viewer' });
    const { secret: theirs } = (await owner.post(at('/tokens'), { name: 'theirs', role: 'owner' })).json;
    const works = async (secret: string) =>
      (await fixture.browser().get(at(''), bearer(secret))).status === 200;
    const secrets = [first, second, third].map(({ secret }) => secret);
    const opens = async (of: string) =>
      (await fixture.browser().post('/api/v1/invitations/preview', { token: tokenIn(of) })).status === 200;
    const member = at(`/members/${await idOf(admin)}`);
    await owner.send('PATCH', member, { body: { role: 'developer' } });
    expect(await Promise.all([...secrets.map(works), opens(link), opens(small)])).toEqual([
      ...[false, false, true],
      ...[false, true],
    ]);
    await owner.send('DELETE', member);
    expect(await Promise.all([...secrets, theirs].map(works))).toEqual([false, false, false, true]);
    expect(await opens(small)).toBe(false);
    const reported = (await lines(owner)).filter(
      ({ action, actor }) =>
        actor === `user:${name('owner')}` && ['token.end', 'invitation.delete'].includes(action),
    );
    expect(reported).toHaveLength(5);
    expect(reported[0]).toMatchObject({ address: '192.0.2.1', userAgent: 'test browser' });
  });

  it('has an immutable audit log, available in pages and as a file', async () => {
    await join('viewer');
    const whole = await lines();
    const first = (await operator.get(at('/audit?limit=2'))).json;
    const second = (await operator.get(at(`/audit?limit=2&cursor=${first.next}`))).json;
    expect([...first.items, ...second.items]).toEqual(whole.slice(0, 4));
    const file = await operator.get(at('/audit.jsonl'));
    expect(file.headers.get('content-type')).toMatch(/^application\/jsonl/);
    const exported = file.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as LooseJson);
    expect(whole).toMatchObject(exported.toReversed());
    const { db } = fixture.store;
    await expect(db.updateTable('audit').set({ actor: 'nobody' }).execute()).rejects.toThrow('append-only');
    await expect(db.deleteFrom('audit').execute()).rejects.toThrow('append-only');
    const around =
      fixture.store.dialect === 'postgres'
        ? 'truncate audit'
        : "insert or replace into audit select * from audit where actor <> ''";
    await expect(sql.raw(around).execute(db)).rejects.toThrow('append-only');
    expect(await lines()).toEqual(whole);
  });

  it('finds audit entries by time, also of gateways whose clock is half an hour behind', async () => {
    const { db } = fixture.store;
    const { version } = await db.selectFrom('change_counter').select('version').executeTakeFirstOrThrow();
    const entries = Array.from({ length: 5_000 }, (_, nth) => ({
      ...{ id: version + 1 + nth, at: 1_000 * (nth === 4_000 ? 2_200 : nth), actor: 'test' },
      ...{ action: `entry-${nth}`, key_id: null, detail: '{}', customer_id: null, address: null },
      ...{ user_agent: null, request_id: null },
    }));
    for (const some of chunk(entries, 1_000)) await db.insertInto('audit').values(some).execute();
    await db
      .updateTable('change_counter')
      .set({ version: version + entries.length })
      .execute();
    const between = async (from: number, to: number) =>
      (await operator.get(`/api/v1/audit?from=${from}&to=${to}`)).json.items.map(
        ({ action }: LooseJson) => action,
      );
    expect(await between(2_200_000, 2_201_001)).toEqual(['entry-4000', 'entry-2201', 'entry-2200']);
    expect(await between(5_000_000, 6_000_000)).toEqual([]);
  });

  it('revokes the grants issued by a token recursively on request', async () => {
    const make = async (secret: string | null, label: string): Promise<LooseJson> => {
      const body = { name: label, role: 'admin' };
      if (secret === null) return (await operator.post(at('/tokens'), body)).json;
      return (await fixture.browser().post(at('/tokens'), body, bearer(secret))).json;
    };
    const end = (id: string, query: string) => operator.send('DELETE', at(`/tokens/${id}${query}`));
    const alive = async (): Promise<string[]> =>
      (await operator.get(at('/tokens'))).json.tokens.map((token: LooseJson) => token.name).toSorted();
    const first = await make(null, 'first');
    const child = await make(first.secret, 'child');
    await make(child.secret, 'grandchild');
    const other = await make(null, 'other');
    await make(other.secret, 'left');
    const invitation = { email: 'guest@example.com', role: 'viewer' };
    const { link } = (await fixture.browser().post(at('/invitations'), invitation, bearer(child.secret)))
      .json;
    expect((await end(other.token.id, '')).json).toEqual({ done: true, made: 0 });
    expect(await alive()).toEqual(['child', 'first', 'grandchild', 'left']);
    await fixture.browser().post(at('/usage-links'), { name: 'finance' }, bearer(child.secret));
    expect((await end(first.token.id, '?withMade=true')).json).toEqual({ done: true, made: 4 });
    expect(await alive()).toEqual(['left']);
    expect((await operator.get(at('/usage-links'))).json).toEqual({ links: [] });
    expect(
      (await fixture.browser().post('/api/v1/invitations/preview', { token: tokenIn(link) })).status,
    ).toBe(404);
  });

  it('of operators keeps at least one, and revokes rights immediately', async () => {
    const second = await firstOperator(fixture, `second-${fixture.email}`);
    expect((await second.get('/api/v1/customers')).status).toBe(200);
    const { secret: everywhere } = (await second.post('/api/v1/tokens', { name: 'all' })).json;
    const { secret: acme } = (await second.post(at('/tokens'), { name: 'ours', role: 'owner' })).json;
    const { link } = (await second.post('/api/v1/operators/invitations', { email: 'third@example.com' }))
      .json;
    const works = async (secret: string) => (await fixture.browser().get(at(''), bearer(secret))).status;
    expect(await Promise.all([everywhere, acme].map(works))).toEqual([200, 200]);
    const caller = { store: fixture.store, actor: 'cli:test', invitationMs: 1, now: () => fixture.clock.now };
    await removeOperator(caller, `second-${fixture.email}`);
    expect((await second.get('/api/v1/customers')).status).toBe(403);
    expect((await second.get('/api/v1/customers/house')).status).toBe(404);
    expect(await Promise.all([everywhere, acme].map(works))).toEqual([401, 401]);
    expect(
      (await fixture.browser().post('/api/v1/invitations/preview', { token: tokenIn(link) })).status,
    ).toBe(404);
    expect((await lines()).filter(({ action }) => action === 'token.end')).toMatchObject([
      { actor: 'cli:test', detail: { name: 'ours' } },
    ]);
    const emails = (await listOperators(fixture.store)).map(({ email }) => email);
    expect(emails).toContain(fixture.email);
    expect(emails).not.toContain(`second-${fixture.email}`);
    for (const email of emails.filter((one) => one !== fixture.email)) await removeOperator(caller, email);
    await expect(removeOperator(caller, fixture.email)).rejects.toThrow('last operator');
    await expect(removeOperator(caller, 'nobody@example.com')).rejects.toThrow('no such operator');
  });

  // The remaining tests do not depend on the SQL dialect.
  if (kind === 'postgres') return;

  it('grows through audited single-use invitations, each for one address', async () => {
    const made = await operator.post(at('/invitations'), { email: 'Dora@Example.com', role: 'developer' });
    expect(made.json.invitation).toMatchObject({ email: 'dora@example.com', role: 'developer' });
    expect(made.json.link).toMatch(/^http:\/\/solway\.test\/invite#token=[\w-]{43}$/);
    const token = tokenIn(made.json.link);
    const other = await join('viewer');
    expect((await other.accept(token)).json.error.code).toBe('OTHER_ADDRESS');
    const dora = fixture.browser();
    expect((await dora.signUp('mallory@example.com', token)).json.error.code).toBe('OTHER_ADDRESS');
    expect((await dora.signUp('dora@example.com', token)).status).toBe(200);
    expect((await dora.accept(token)).json.id).toBe(customer);
    expect((await dora.accept(token)).status).toBe(404);
    const { members } = (await dora.get(at('/members'))).json;
    expect(members.map(({ email, role }: LooseJson) => `${email} ${role}`)).toContain(
      'dora@example.com developer',
    );
    const accepted = (await lines()).find(({ actor }) => actor === 'user:dora@example.com');
    expect(accepted).toMatchObject({
      action: 'invitation.accept',
      address: '192.0.2.1',
      userAgent: 'test browser',
    });
    expect(accepted?.requestId).toMatch(/^[0-9a-f-]{36}$/);
    const { json } = await operator.post(at('/invitations'), { email: 'late@example.com', role: 'viewer' });
    await operator.send('DELETE', at(`/invitations/${json.invitation.id}`));
    expect((await fixture.browser().signUp('late@example.com', tokenIn(json.link))).status).toBe(404);
  });

  it('lets only owners appoint owners, and keeps at least one', async () => {
    const [owner, admin, viewer] = [await join('owner'), await join('admin'), await join('viewer')];
    const [ownerId, adminId, viewerId] = [await idOf(owner), await idOf(admin), await idOf(viewer)];
    const role = (browser: Browser, user: string, wanted: string) =>
      browser.send('PATCH', at(`/members/${user}`), { body: { role: wanted } });
    expect((await role(admin, viewerId, 'owner')).status).toBe(403);
    expect((await role(admin, adminId, 'owner')).status).toBe(403);
    expect((await role(admin, ownerId, 'viewer')).status).toBe(403);
    expect((await admin.send('DELETE', at(`/members/${ownerId}`))).status).toBe(403);
    expect((await admin.post(at('/invitations'), { email: 'o@example.com', role: 'owner' })).status).toBe(
      403,
    );
    expect((await role(admin, viewerId, 'developer')).json.role).toBe('developer');
    expect((await role(viewer, viewerId, 'admin')).status).toBe(403);
    expect((await role(owner, viewerId, 'owner')).status).toBe(200);
    expect((await role(owner, viewerId, 'viewer')).status).toBe(200);
    await owner.send('DELETE', at(`/members/${await idOf(operator)}`));
    expect((await role(owner, ownerId, 'admin')).json.error.code).toBe('LAST_OWNER');
    expect((await owner.send('DELETE', at(`/members/${ownerId}`))).json.error.code).toBe('LAST_OWNER');
    expect((await viewer.send('DELETE', at(`/members/${viewerId}`))).status).toBe(200);
    expect((await viewer.get(at(''))).status).toBe(404);
    expect((await lines()).map(({ action }) => action)).toContain('member.role');
  });

  it('has tokens whose grants expire with them', async () => {
    const ends = fixture.clock.now + 60_000;
    const made = await operator.post(at('/tokens'), { name: 'short', role: 'admin', expiresAt: ends });
    const by = bearer(made.json.secret);
    const program = fixture.browser();
    const token = await program.post(at('/tokens'), { name: 'long', role: 'viewer' }, by);
    expect(token.json.token).toMatchObject({ expiresAt: ends });
    const guest = { email: 'late@example.com', role: 'viewer' };
    const invitation = await program.post(at('/invitations'), guest, by);
    expect(invitation.json.invitation).toMatchObject({ expiresAt: ends });
  });

  it("issues tokens with at most the issuer's rights, shown once and revocable immediately", async () => {
    const admin = await join('admin');
    expect((await admin.post(at('/tokens'), { name: 'ci', role: 'owner' })).status).toBe(403);
    const { secret, token } = (await admin.post(at('/tokens'), { name: 'ci', role: 'developer' })).json;
    expect(secret).toMatch(/^svc_admin_live_[1-9A-HJ-NP-Za-km-z]{46}$/);
    expect((await admin.get(at('/tokens'))).text).not.toContain(secret);
    const program = fixture.browser();
    expect((await program.get(at(''), bearer(secret))).status).toBe(200);
    expect((await program.get(at('/tokens'), bearer(secret))).status).toBe(403);
    expect((await program.get('/api/v1/customers/house', bearer(secret))).status).toBe(404);
    expect((await program.get('/api/v1/customers', bearer(secret))).status).toBe(403);
    expect((await program.post('/api/v1/invitations/accept', { token: 'x' }, bearer(secret))).status).toBe(
      403,
    );
    expect((await program.get('/api/v1/me', bearer(secret))).json).toMatchObject({
      user: null,
      customers: [{ id: customer }],
    });
    expect((await admin.get(at('/tokens'))).json.tokens).toMatchObject([
      { id: token.id, lastUsedAt: fixture.clock.now },
    ]);
    const changed = `${secret.slice(0, -1)}${secret.endsWith('a') ? 'b' : 'a'}`;
    for (const wrong of [changed, secret.replace('admin', 'rpc'), 'svc_admin_live_', ''])
      expect((await program.get(at(''), bearer(wrong))).status).toBe(401);
    await admin.send('DELETE', at(`/tokens/${token.id}`));
    expect((await program.get(at(''), bearer(secret))).status).toBe(401);
    const short = (
      await admin.post(at('/tokens'), { name: 'x', role: 'viewer', expiresAt: fixture.clock.now + 1_000 })
    ).json;
    expect((await program.get(at(''), bearer(short.secret))).status).toBe(200);
    fixture.clock.now += 1_000;
    expect((await program.get(at(''), bearer(short.secret))).status).toBe(401);
  });

  it('lets only owners revoke tokens and invitations of owners', async () => {
    const [owner, admin] = [await join('owner'), await join('admin')];
    const { token } = (await owner.post(at('/tokens'), { name: 'main', role: 'owner' })).json;
    const guest = { email: 'o@example.com', role: 'owner' };
    const { invitation } = (await owner.post(at('/invitations'), guest)).json;
    for (const path of [`/tokens/${token.id}`, `/invitations/${invitation.id}`]) {
      const refused = await admin.send('DELETE', at(path));
      expect([refused.status, refused.json.error.code]).toEqual([403, 'ROLE_TOO_SMALL']);
      expect((await owner.send('DELETE', at(path))).status).toBe(200);
    }
  });

  it('is read-only while suspended, except that non-owners may leave, and its keys are rejected', async () => {
    const [owner, viewer] = [await join('owner'), await join('viewer')];
    const second = await join('owner');
    const { secret } = (await owner.post(at('/tokens'), { name: 'ci', role: 'owner' })).json;
    await owner.post(at('/keys'), { product: 'rpc', name: 'one' });
    const before = await newestVersion(fixture.store);
    expect((await owner.send('PATCH', at(''), { body: { state: 'suspended' } })).status).toBe(403);
    expect((await owner.send('PATCH', at(''), { body: { planId: 'default' } })).status).toBe(403);
    expect((await operator.send('PATCH', at(''), { body: { state: 'suspended' } })).json.state).toBe(
      'suspended',
    );
    const states = [];
    for await (const page of keysOfPlansChangedAfter(fixture.store, before, 100))
      states.push(...page.map((key) => key.status));
    expect(states).toEqual(['disabled']);
    expect((await owner.get(at('/members'))).status).toBe(200);
    const away = (user: string) => viewer.send('DELETE', at(`/members/${user}`));
    expect((await away(await idOf(owner))).status).toBe(403);
    const owns = await second.send('DELETE', at(`/members/${await idOf(second)}`));
    expect([owns.status, owns.json.error.code]).toEqual([403, 'CUSTOMER_SUSPENDED']);
    expect((await away(await idOf(viewer))).status).toBe(200);
    expect((await viewer.get(at(''))).status).toBe(404);
    expect((await owner.post(at('/tokens'), { name: 'x', role: 'viewer' })).json.error.code).toBe(
      'CUSTOMER_SUSPENDED',
    );
    const token = { name: 'x', role: 'viewer' };
    expect((await fixture.browser().post(at('/tokens'), token, bearer(secret))).status).toBe(403);
    expect((await operator.send('PATCH', at(''), { body: { state: 'active' } })).status).toBe(200);
    expect((await owner.post(at('/tokens'), { name: 'x', role: 'viewer' })).status).toBe(200);
    expect(
      (await operator.send('PATCH', '/api/v1/customers/house', { body: { state: 'suspended' } })).status,
    ).toBe(409);
    expect((await operator.send('PATCH', at(''), { body: { planId: 'none' } })).status).toBe(422);
  });
});
