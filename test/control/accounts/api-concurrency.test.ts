import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HttpApi } from '../../../src/control/api/server/http-api.ts';
import type { ControlApiOptions } from '../../../src/control/api/server/limits.ts';
import { LogTails } from '../../../src/control/requests/log-tails.ts';
import { describeOnSqlite } from '../stores.ts';
import {
  type AccountsFixture,
  Browser,
  firstOperator,
  joinByInvitation,
  ORIGIN,
  openAccountsFixture,
} from './accounts-fixture.ts';

const TAIL = '/api/v1/customers/house/logs/tail';
const here = (address: string) => ({ address });

describeOnSqlite('a concurrency slot of the control API', ({ open }) => {
  let fixture: AccountsFixture;
  let operator: Browser;
  const open_: AbortController[] = [];

  beforeEach(async () => {
    fixture = await openAccountsFixture(await open());
    operator = await firstOperator(fixture);
  });
  afterEach(() => {
    for (const one of open_.splice(0)) one.abort();
  });

  function httpOf(options: Partial<ControlApiOptions>): HttpApi {
    return new HttpApi({
      api: fixture.api,
      identify: (request, { address }) => fixture.signIn.identify(request, address),
      signIn: fixture.signIn.guard,
      options,
    });
  }

  function trickle(http: HttpApi, address: string, signal?: AbortSignal) {
    const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('{')) });
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body, duplex: 'half', ...(signal && { signal }) } as RequestInit;
    return http.fetch(new Request(`${ORIGIN}/api/v1/invitations/preview`, init), here(address));
  }

  function follow(
    http: HttpApi,
    who: Browser,
    token?: string,
    path = TAIL,
    method = 'GET',
  ): Promise<Response> {
    const leave = new AbortController();
    open_.push(leave);
    const cookie = [...who.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers: Record<string, string> =
      token === undefined ? { cookie } : { authorization: `Bearer ${token}` };
    return http.fetch(
      new Request(ORIGIN + path, { method, headers, signal: leave.signal }),
      here('192.0.2.1'),
    );
  }

  it('stays available to other clients while one client stalls its request bodies', async () => {
    const http = httpOf({ requestsMax: 4, subnetRequestsMax: 2, bodyTimeoutMs: 60_000 });
    const slow = [
      ...[1, 2].map((host) => trickle(http, `2001:db8::${host}`)),
      ...[3, 4].map((host) => trickle(http, `198.51.100.${host}`)),
    ];
    const look = (address: string) => new Browser(http, address, ORIGIN);
    const one = { token: 'x'.repeat(43) };
    // Requests without a body still succeed, for any client.
    expect((await look('2001:db8::9').get('/api/v1/me')).status).toBe(200);
    expect((await look('2001:db8::9').post('/api/v1/invitations/preview', one)).status).toBe(503);
    void slow;
  });

  it('is released soon after a request body stalls', async () => {
    const http = httpOf({ requestsMax: 1, subnetRequestsMax: 1, bodyTimeoutMs: 20 });
    const answer = await trickle(http, '192.0.2.7');
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
      408,
      'BODY_TOO_SLOW',
    ]);
    const next = new Browser(http, '192.0.2.7', ORIGIN);
    expect((await next.get('/api/v1/me')).status).toBe(200);
  });

  it('is released when the right to follow a live log is revoked', async () => {
    const http = httpOf({ recheckMs: 10 });
    const viewer = await joinByInvitation(fixture, operator, 'house', `tail-${fixture.email}`, 'viewer');
    const { json } = await viewer.get('/api/v1/me');
    const made = await operator.post('/api/v1/customers/house/tokens', {
      name: 'follower',
      role: 'viewer',
      expiresAt: null,
    });
    expect(made.status).toBe(200);
    const second = new Browser(http, '192.0.2.1', ORIGIN);
    await second.signIn(`tail-${fixture.email}`);
    const tails = {
      removed: (await follow(http, viewer)).text(),
      signedOut: (await follow(http, second)).text(),
      revoked: (await follow(http, operator, made.json.secret)).text(),
      retained: (await follow(http, operator)).body?.getReader(),
    };
    await second.signOut();
    await tails.signedOut;
    expect((await operator.send('DELETE', `/api/v1/customers/house/members/${json.user.id}`)).status).toBe(
      200,
    );
    await tails.removed;
    const { id } = made.json.token as unknown as { id: string };
    expect((await operator.send('DELETE', `/api/v1/customers/house/tokens/${id}`)).status).toBe(200);
    await tails.revoked;
    const first = await tails.retained?.read();
    expect([first?.done, Buffer.from(first?.value ?? []).toString()]).toEqual([false, ': here\n\n']);
  });

  it('for a live log is limited per user, with some reserved for operators', async () => {
    const tails = new LogTails({
      tailsMax: 5,
      customerTailsMax: 4,
      followerTailsMax: 2,
      operatorTailsReserved: 1,
    });
    Object.assign(fixture.services, {
      log: { settings: { sampleRatio: 1, perSecond: 1, retentionHours: 1 }, tails },
    });
    const http = httpOf({});
    const viewers = [];
    for (const name of ['a', 'b', 'c'])
      viewers.push(await joinByInvitation(fixture, operator, 'house', `${name}-${fixture.email}`, 'viewer'));
    const [anna, bert, cora] = viewers as [Browser, Browser, Browser];
    const status = async (who: Browser) => (await follow(http, who)).status;
    expect([await status(anna), await status(anna), await status(anna)]).toEqual([200, 200, 429]);
    expect([await status(bert), await status(bert), await status(cora)]).toEqual([200, 200, 429]);
    expect(await status(operator)).toBe(200);
    open_.shift()?.abort();
    await vi.waitFor(async () => expect(await status(cora)).toBe(200));
  });

  it('for streams is limited across callers, with extra ones for operators', async () => {
    const http = httpOf({ streamsMax: 3, callerStreamsMax: 2 });
    const anna = await joinByInvitation(fixture, operator, 'house', `s-${fixture.email}`, 'viewer');
    const bert = await joinByInvitation(fixture, operator, 'house', `t-${fixture.email}`, 'viewer');
    const status = async (who: Browser) => (await follow(http, who)).status;
    expect([await status(anna), await status(anna), await status(anna)]).toEqual([200, 200, 503]);
    expect([await status(bert), await status(bert)]).toEqual([200, 503]);
    expect([await status(operator), await status(operator)]).toEqual([200, 200]);
  });
});
