import { afterAll, beforeAll, expect, it } from 'vitest';
import { remoteApi } from '../../src/control/api/client.ts';
import { runHere } from '../cli/run-solway.ts';
import { temporaryFolder } from './program.ts';
import { type RunningService, startService } from './start-service.ts';

const PASSWORD = 'correct horse battery';
const EMAIL = 'root@example.com';
const folder = temporaryFolder('control');
let service: RunningService;
let setupUrl: string;
let cookie = '';
let token = '';

async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const { url } = service.ready;
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(method !== 'GET' && { origin: url, 'x-solway': '1' }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(cookie !== '' && { cookie }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const set = response.headers.getSetCookie().find((one) => one.includes('session_token='));
  if (set !== undefined) cookie = set.split(';')[0] as string;
  const text = await response.text();
  return { status: response.status, text, json: text.startsWith('{') ? JSON.parse(text) : null };
}

beforeAll(async () => {
  service = await startService();
  setupUrl = (service.ready as unknown as { setupUrl: string }).setupUrl;
});
afterAll(() => service?.stop());

it('the first start prints a setup link that creates the operator account, whose token works', async () => {
  expect(setupUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/setup#token=[\w-]{43}$/);
  const invitation = setupUrl.split('#token=')[1];
  const user = { name: 'Root', email: EMAIL, password: PASSWORD, invitation };
  expect((await send('POST', '/api/auth/sign-up/email', user)).status).toBe(200);
  expect((await send('POST', '/api/v1/invitations/accept', { token: invitation })).status).toBe(200);
  const made = await send('POST', '/api/v1/tokens', { name: 'test' });
  token = made.json.secret;
  const api = remoteApi({ url: service.ready.url, token });
  expect((await api.call('GET /customers', {})).items.map(({ id }) => id)).toEqual(['house']);
  expect((await api.call('GET /customers', { query: { search: 'nobody' } })).items).toEqual([]);
  const lines: string[] = [];
  for await (const line of await api.call('GET /audit.jsonl', {})) lines.push(line);
  expect(lines.map((line) => JSON.parse(line).action)).toContain('invitation.accept');
  await expect(api.call('GET /customers/{customer}', { path: { customer: 'missing' } })).rejects.toThrow(
    'There is no such customer',
  );
});

it('the command line lists operators and creates password reset links', async () => {
  const where = ['--data-dir', service.dataDir, '--config', service.config, '--json'];
  const run = async (...args: string[]) =>
    JSON.parse((await runHere(folder, ['operator', ...args, ...where])).out);
  expect((await run('list')).operators).toMatchObject([{ email: EMAIL, name: 'Root' }]);
  const { link } = await run('password', EMAIL);
  const reset = { token: link.split('#token=')[1], newPassword: 'another horse battery' };
  expect((await send('POST', '/api/auth/reset-password', reset)).status).toBe(200);
  expect((await send('GET', '/api/v1/customers')).status).toBe(401);
  const again = { email: EMAIL, password: 'another horse battery' };
  expect((await send('POST', '/api/auth/sign-in/email', again)).status).toBe(200);
});

it('the service stops while a live log tail is open', async () => {
  const { url } = service.ready;
  const headers = { authorization: `Bearer ${token}` };
  const tail = await fetch(`${url}/api/v1/customers/house/logs/tail`, { headers });
  expect(tail.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const reader = tail.body!.getReader();
  await reader.read();
  expect(await service.stop()).toBe(0);
});
