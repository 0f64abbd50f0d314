import { expect, it } from 'vitest';
import { ApiError } from '../../../src/control/api/api-error.ts';
import { type ContractName, contract } from '../../../src/control/api/contract/contract.ts';
import type { ApiCaller } from '../../../src/control/api/handler.ts';
import { authorize } from '../../../src/control/api/server/authorize.ts';
import type { Store } from '../../../src/control/database/store.ts';
import { describeOnSqlite } from '../stores.ts';

/**
 * Expected access per caller, independent of the contract. Letters: n not signed in, s signed in without a
 * membership, v viewer, d developer, a admin, w owner, o operator, V D A W customer tokens with these roles, O
 * operator token, l local program, m owner of another customer, M its token, z owner of the suspended customer, Z its
 * token.
 */
const everybody = 'nsvdawoVDAWOlmMzZ';
const signedIn = 'svdawoVDAWOlmMzZ';
const operators = 'oOl';
const readers = 'vdawVDAWoOlzZ';
const lookAdmin = 'awAWoOlzZ';
const lookDeveloper = 'dawDAWoOlzZ';
const develop = 'dawDAWoOl';
const administer = 'awAWoOl';

const exceptions: Partial<Record<ContractName, string>> = {
  'GET /me': everybody,
  'GET /methods': everybody,
  'GET /billing/keys': everybody,
  'POST /customers': signedIn,
  'POST /invitations/preview': everybody,
  'POST /invitations/accept': signedIn,
  'POST /usage-links/preview': everybody,
  'POST /secret-scanning': everybody,
  'POST /customers/{customer}/delete': operators,
  'POST /customers/{customer}/plan/undo': operators,
  'PUT /customers/{customer}/stripe': operators,
  'GET /customers/{customer}/audit': lookAdmin,
  'GET /customers/{customer}/audit.jsonl': lookAdmin,
  'GET /customers/{customer}/tokens': lookAdmin,
  'GET /customers/{customer}/usage-links': lookAdmin,
  'GET /customers/{customer}/logs/{entry}': lookDeveloper,
};

function expectedFor(name: ContractName): string {
  const exception = exceptions[name];
  if (exception !== undefined) return exception;
  if (!name.includes('{customer}')) return operators;
  if (name.startsWith('GET ')) return readers;
  return /\/(keys|connections)\b/.test(name) ? develop : administer;
}

const user = (userId: string, isOperator = false): ApiCaller => ({
  kind: 'user',
  userId,
  email: `${userId}@example.com`,
  isOperator,
  hasSession: true,
});
const token = (customerId: string | null, role: 'viewer' | 'developer' | 'admin' | 'owner'): ApiCaller => ({
  kind: 'token',
  tokenId: 'TTTTTTTT',
  customerId,
  role,
});

const callers: Readonly<Record<string, ApiCaller>> = {
  n: { kind: 'anonymous' },
  s: user('stranger'),
  v: user('viewer'),
  d: user('developer'),
  a: user('admin'),
  w: user('owner'),
  o: user('operator', true),
  V: token('acme', 'viewer'),
  D: token('acme', 'developer'),
  A: token('acme', 'admin'),
  W: token('acme', 'owner'),
  O: token(null, 'owner'),
  l: { kind: 'local', name: 'root' },
  m: user('neighbour'),
  M: token('other', 'owner'),
  z: user('sleeper'),
  Z: token('asleep', 'owner'),
};

async function fill({ db }: Store): Promise<void> {
  const customer = { name: 'Name', plan_id: 'default', created_at: 0, version: 0 };
  await db
    .insertInto('customer')
    .values([
      { ...customer, id: 'acme', state: 'active' },
      { ...customer, id: 'other', state: 'active' },
      { ...customer, id: 'asleep', state: 'suspended' },
    ])
    .execute();
  const roles = ['viewer', 'developer', 'admin', 'owner'] as const;
  const members = roles.map((role) => ({ customer_id: 'acme', user_id: role, role, created_at: 0 }));
  const others = [
    { customer_id: 'other', user_id: 'neighbour', role: 'owner', created_at: 0 },
    { customer_id: 'asleep', user_id: 'sleeper', role: 'owner', created_at: 0 },
  ] as const;
  await db
    .insertInto('member')
    .values([...members, ...others])
    .execute();
}

/** 'allowed', or the status code of the rejection. */
async function reported(
  store: Store,
  name: ContractName,
  caller: ApiCaller,
  customer: string,
  userId = 'somebody',
) {
  const path = {
    customer,
    user: userId,
    key: 'k',
    node: 'n',
    plan: 'p',
    month: '2026-11',
    token: 't',
    invitation: 'i',
    notice: 'o',
    entry: 'e',
    link: 'l',
  };
  const wanted = name.includes('{customer}') ? path : { ...path, customer: undefined };
  try {
    await authorize(store.db, name, wanted as Record<string, string>, caller);
    return 'may';
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown.status;
    throw thrown;
  }
}

describeOnSqlite('route access', ({ open }) => {
  it('is as specified for every route and kind of caller', async () => {
    const store = await open();
    await fill(store);
    const wrong: string[] = [];
    for (const name of Object.keys(contract) as ContractName[]) {
      for (const [letter, caller] of Object.entries(callers)) {
        const is = await reported(store, name, caller, 'zZ'.includes(letter) ? 'asleep' : 'acme');
        if ((is === 'may') !== expectedFor(name).includes(letter))
          wrong.push(`${name}: ${letter} gets ${is}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('responds alike to non-members for existing and missing customers', async () => {
    const store = await open();
    await fill(store);
    // Routes for operators respond 403, whether the customer exists or not.
    const ofCustomers = (Object.keys(contract) as ContractName[]).filter(
      (name) => name.includes('{customer}') && contract[name].access !== 'operator',
    );
    for (const name of ofCustomers) {
      expect([name, await reported(store, name, callers.m as ApiCaller, 'acme')]).toEqual([name, 404]);
      expect([name, await reported(store, name, callers.M as ApiCaller, 'acme')]).toEqual([name, 404]);
      expect([name, await reported(store, name, callers.w as ApiCaller, 'nowhere')]).toEqual([name, 404]);
      expect([name, await reported(store, name, callers.o as ApiCaller, 'nowhere')]).toEqual([name, 404]);
      expect([name, await reported(store, name, callers.n as ApiCaller, 'acme')]).toEqual([name, 401]);
    }
  });
});
