import { auditActions, emailOf, operatorActor, planIds } from './fill.ts';
import { absentAddress, DAY_MS, DAYS, frequentAddress, loggedMethods, RARE_WORD } from './log-rows.ts';

/** A call of the control API as the dashboard makes it. */
export type ListCall = Readonly<{
  name: string;
  path: string;
  token: string;
  /** Measures a page far from the first. */
  isDeep: boolean;
  /** Reads the request log or usage. */
  isAnalytics: boolean;
}>;

export type Customer = Readonly<{
  id: string;
  /** For the table. */
  label: string;
  token: string;
  /** A key, and a part of the names of some keys. */
  keyId: string;
  keyPrefix: string;
  /** An entry of the request log in the middle, and a signature. */
  entryId: string;
  signature: string;
}>;

type Query = Readonly<Record<string, string | number>>;
type Variants = Readonly<Record<string, Query>>;

const textOf = (query: Query): string =>
  Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');

/** Variants that start with `deep` measure a page far from the first. */
function callsOf(label: string, path: string, token: string, variants: Variants): ListCall[] {
  return Object.entries(variants).map(([variant, query]) => ({
    name: [label, variant].filter((part) => part !== '').join(', '),
    path: `${path}?${textOf(query)}`,
    token,
    isDeep: variant.startsWith('deep'),
    isAnalytics: /\/(?:logs|errors|usage|summary|performance)(?:\/|$)/.test(path),
  }));
}

/** Adds fields to each variant. */
const withFields = (fields: Query, variants: Variants): Variants =>
  Object.fromEntries(Object.entries(variants).map(([name, query]) => [name, { ...fields, ...query }]));

const absentWord = 'chrysanthemum';
const [frequentMethod] = loggedMethods;
const rareMethod = loggedMethods.at(-1)!;

const page = { limit: 100 };

/** Ranges that end with the data. */
const rangesTo = (to: number) => ({
  hour: { from: to - DAY_MS / 24, to },
  day: { from: to - DAY_MS, to },
  month: { from: to - DAYS * DAY_MS, to },
});

const logFilters = ({ keyId, signature }: Customer): Variants => ({
  '': {},
  key: { key: keyId },
  'frequent method': { method: frequentMethod },
  'rare method': { method: rareMethod },
  'method and status': { method: rareMethod, status: 'limited' },
  status: { status: 'limited' },
  'rare status': { status: 'capacity' },
  'key and status': { key: keyId, status: 'upstream' },
  'code RATE_LIMITED': { code: 'RATE_LIMITED' },
  'code -32602': { code: '-32602' },
  'absent code': { code: '-32099' },
  'rpcCode -32007': { rpcCode: -32007 },
  'absent product': { product: 'fs' },
  'slower than 500 ms': { minMs: 500 },
  'frequent address': { address: frequentAddress },
  'absent address': { address: absentAddress },
  'failed, absent address': { status: 'rpcError', address: absentAddress },
  signature: { search: signature },
  'frequent word': { search: 'rate' },
  'rare word': { search: RARE_WORD },
  'absent word': { search: absentWord },
  'two frequent words': { search: 'rate limit' },
  'frequent words, absent together': { search: 'rate blockhash' },
});

function customerCalls(customer: Customer, to: number): ListCall[] {
  const { id, label, token, keyId, keyPrefix, entryId } = customer;
  const root = `/customers/${id}`;
  const { hour, day, month } = rangesTo(to);
  const calls = (name: string, path: string, variants: Variants) =>
    callsOf(`${label}: ${name}`, root + path, token, variants);
  const whole = { '': {} };
  const byRange: Variants = { '1 h': hour, '24 h': day, '30 d': month };
  const byDimension = (...names: string[]): Variants =>
    Object.fromEntries(
      names.flatMap((by) =>
        Object.entries(byRange).map(([range, query]) => [`${by} ${range}`, { ...query, by }]),
      ),
    );
  return [
    ...calls(
      'keys',
      '/keys',
      withFields(page, {
        '': {},
        deep: {},
        'by name': { sort: 'name' },
        'deep by name': { sort: 'name' },
        'newest first': { sort: '-createdAt' },
        'last used first': { sort: '-lastUsedAt' },
        'deep by last use': { sort: '-lastUsedAt' },
        'by expiry': { sort: 'expiresAt' },
        revoked: { state: 'revoked' },
        expired: { state: 'expired' },
        grpc: { product: 'grpc' },
        'frequent text': { search: 'bot' },
        'frequent text by name': { search: 'bot', sort: 'name' },
        'absent text': { search: absentWord },
        'key prefix': { search: keyPrefix },
        'with revoked by name, 200': { withRevoked: 'true', sort: 'name', limit: 200 },
        '1,000': { limit: 1_000 },
      }),
    ),
    ...calls('key', `/keys/${keyId}`, whole),
    ...calls('members', '/members', whole),
    ...calls('tokens', '/tokens', whole),
    ...calls('usage links', '/usage-links', whole),
    ...calls('notices', '/notices', whole),
    ...calls(
      'audit',
      '/audit',
      withFields(page, {
        '': {},
        deep: {},
        'rare action': { action: auditActions.at(-1)! },
        actor: { actor: operatorActor },
        'absent actor': { actor: 'user:nobody@example.com' },
        'actor and action': { actor: operatorActor, action: auditActions.at(-1)! },
        key: { key: keyId },
        '30 d': month,
        'a day long ago': { from: to - 600 * DAY_MS, to: to - 599 * DAY_MS },
      }),
    ),
    ...calls('log', '/logs', {
      ...withFields(
        { ...page, ...month },
        { ...logFilters(customer), deep: {}, 'deep status': { status: 'limited' } },
      ),
      'request id': { ...page, search: entryId },
      '1 h': { ...page, ...hour },
    }),
    ...calls('log entry', `/logs/${entryId}`, whole),
    ...calls('log histogram', '/logs/histogram', {
      ...withFields(month, logFilters(customer)),
      '1 h': hour,
    }),
    ...calls('errors', '/errors', byRange),
    ...calls('transactions', '/transactions', {
      ...withFields(page, { '': {}, deep: {}, key: { key: keyId } }),
      'absent signature': { ...page, signature: customer.signature },
    }),
    ...calls('connections', '/connections', whole),
    ...calls('usage', '/usage', byDimension('none', 'product', 'key', 'method', 'status')),
    ...calls('usage of a key', '/usage', withFields({ key: keyId }, byRange)),
    ...calls('usage top', '/usage/top', byDimension('key', 'method', 'network', 'code')),
    ...calls('summary', '/summary', byRange),
    ...calls('performance', '/performance', byRange),
    ...calls('quota', '/quota', whole),
    ...calls('bill', '/billing', whole),
    ...calls('problems', '/problems', whole),
  ];
}

function operatorCalls(token: string, to: number, { id, keyId }: Customer): ListCall[] {
  const { hour, day, month } = rangesTo(to);
  const byRange: Variants = { '1 h': hour, '24 h': day, '30 d': month };
  const whole = { '': {} };
  const calls = (path: string, variants: Variants = whole) => callsOf(path.slice(1), path, token, variants);
  const top = ['customer', 'key', 'method', 'network', 'gateway', 'node', 'code'].flatMap((by) =>
    Object.entries(byRange).map(([range, query]) => [`${by} ${range}`, { ...query, by }] as const),
  );
  return [
    ...calls(
      '/customers',
      withFields(page, {
        '': {},
        deep: {},
        'by name': { sort: 'name' },
        'deep by name': { sort: 'name' },
        'newest first': { sort: '-createdAt' },
        'deep by creation': { sort: '-createdAt' },
        suspended: { state: 'suspended' },
        'rare plan': { plan: planIds.at(-1)! },
        'rare plan by name': { plan: planIds.at(-1)!, sort: 'name' },
        'frequent text': { search: 'trading', sort: 'name' },
        'absent text': { search: absentWord },
        'key id': { search: keyId },
        email: { search: emailOf(500) },
        '1,000': { limit: 1_000 },
      }),
    ),
    ...calls(
      '/audit',
      withFields(page, {
        '': {},
        deep: {},
        'rare action': { action: auditActions.at(-1)! },
        'absent action': { action: 'customer.delete' },
        actor: { actor: operatorActor },
        'absent actor': { actor: 'user:nobody@example.com' },
        'actor and action': { actor: operatorActor, action: auditActions.at(-1)! },
        customer: { customer: id },
        '30 d': month,
        'a day long ago': { from: to - 600 * DAY_MS, to: to - 599 * DAY_MS },
      }),
    ),
    ...[
      '/me',
      '/plans',
      '/alerts',
      '/problems',
      '/upstreams',
      '/checks',
      '/tokens',
      '/stripe',
      '/settings',
    ].flatMap((path) => calls(path)),
    ...calls('/unknown-methods', { ...byRange, customer: { ...month, customer: id } }),
    ...calls('/upstreams/node-1/history', byRange),
    ...calls('/usage/summary', { ...byRange, method: { ...month, method: frequentMethod } }),
    ...calls('/usage/top', {
      ...Object.fromEntries(top),
      'customer by p95': { ...month, by: 'customer', sort: 'p95' },
      'key by errors': { ...month, by: 'key', sort: 'errors' },
      'key of a code': { ...month, by: 'key', code: 'RATE_LIMITED' },
      'customer of a code': { ...month, by: 'customer', code: 'RATE_LIMITED' },
    }),
    ...calls(
      '/billing',
      withFields(page, {
        '': {},
        deep: {},
        'by total': { sort: '-total' },
        'deep by total': { sort: '-total' },
        search: { search: 'trading' },
      }),
    ),
    ...calls('/billing/totals'),
  ];
}

/** All lists that the dashboard shows, for an operator and for customers. */
export const listCalls = (operatorToken: string, customers: readonly Customer[], to: number): ListCall[] => [
  ...operatorCalls(operatorToken, to, customers[0]!),
  ...customers.flatMap((customer) => customerCalls(customer, to)),
];
