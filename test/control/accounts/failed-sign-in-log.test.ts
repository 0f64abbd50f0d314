import { expect, it } from 'vitest';
import { createLogger } from '../../../src/base/log.ts';
import { FailedSignInLog } from '../../../src/control/accounts/sign-in-attempts.ts';
import { noRequestMetadata } from '../../../src/control/accounts/sign-in-store.ts';
import type { Store } from '../../../src/control/database/open.ts';
import { describeOnBothStores } from '../stores.ts';

const PATH = '/sign-in/email';
const user = (email: string) => ({
  ...{ id: email, name: '', email, emailVerified: 0, image: null, twoFactorEnabled: null, isOperator: 0 },
  ...{ createdAt: '', updatedAt: '' },
});
const linesOf = async ({ db }: Store): Promise<unknown[]> =>
  (
    await db
      .selectFrom('audit')
      .select('detail')
      .where('action', '=', 'session.refused')
      .orderBy('id')
      .execute()
  ).map(({ detail }) => JSON.parse(detail) as unknown);

describeOnBothStores('the audit log of failed sign-ins', ({ open, defer }) => {
  const begin = async (intervalMs?: number) => {
    const store = await open();
    const lines: string[] = [];
    const log = createLogger('trace', (line) => lines.push(line));
    const refused = new FailedSignInLog(
      { store, now: () => 1, log },
      { accountsMax: 3, ...(intervalMs && { intervalMs }) },
    );
    defer(() => refused.stop());
    await store.db
      .insertInto('auth_user')
      .values([user('a@example.com'), user('b@example.com')])
      .execute();
    return { store, refused, lines };
  };

  it('has one entry per account and one for all unknown ones at any number of attempts, and wakes no gateway', async () => {
    const { store, refused, lines } = await begin();
    let observed = 0;
    const watch = store.watch?.(() => observed++) ?? null;
    const invoke = () => watch?.db.selectFrom('change_counter').select('version').execute();
    await invoke();
    for (let i = 0; i < 1_000; i++) {
      refused.record(PATH, 'a@example.com', noRequestMetadata);
      refused.record(PATH, 'b@example.com', noRequestMetadata);
      refused.record(PATH, `stranger${i}@example.com`, noRequestMetadata);
      refused.record(PATH, null, noRequestMetadata);
    }
    await refused.stop();
    await invoke();
    await watch?.close();
    expect(await linesOf(store)).toEqual([
      { path: PATH, account: 'a@example.com', count: 1 },
      { path: PATH, account: 'a@example.com', count: 999 },
      { path: PATH, account: 'b@example.com', count: 1_000 },
      { path: PATH, count: 2_000 },
    ]);
    expect([observed, lines]).toEqual([0, []]);
  });

  it('gets the rest later', async () => {
    const { store, refused } = await begin(20);
    for (let i = 0; i < 10; i++) refused.record(PATH, 'a@example.com', noRequestMetadata);
    await expect.poll(() => linesOf(store), { timeout: 10_000 }).toHaveLength(2);
  });

  it('reports failed writes in the service log', async () => {
    const { store, refused, lines } = await begin();
    await store.close();
    refused.record(PATH, 'a@example.com', noRequestMetadata);
    await refused.stop();
    expect(lines.join()).toContain('Failed to write failed sign-ins to the audit log');
  });
});
