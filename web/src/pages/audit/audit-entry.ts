import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { formatTime } from '../../format.ts';
import { limitNames, limitText } from '../../plan-limits.ts';
import { type Product, productNames } from '../../product-names.ts';

export type AuditEntry = RouteOutput<'GET /audit'>['items'][number];

const kinds: Readonly<Record<string, string>> = {
  user: 'user',
  token: 'token',
  cli: 'command line',
  system: 'system',
};

export function actorOf(actor: string): Readonly<{ name: string; kind: string | null }> {
  if (actor === 'nobody') return { name: 'Unauthenticated', kind: null };
  if (actor === 'first start') return { name: 'System', kind: 'setup' };
  const at = actor.indexOf(':');
  const kind = kinds[actor.slice(0, at)];
  return at < 0 || kind === undefined ? { name: actor, kind: null } : { name: actor.slice(at + 1), kind };
}

/** Stored actions whose name is not what the dashboard calls them. */
const actionNames: Readonly<Record<string, string>> = {
  'customer.change': 'customer.update',
  'key.change': 'key.update',
  'key.cut-overlap': 'key.expire',
  'node.add': 'node.create',
  'node.change': 'node.update',
  'notice.add': 'notification.create',
  'notice.remove': 'notification.delete',
  'plan.set': 'plan.update',
  'token.end': 'token.revoke',
  'user.two-factor-begin': 'user.two-factor-setup',
  'user.two-factor-change': 'user.two-factor-enable',
  'user.two-factor-end': 'user.two-factor-disable',
  'user.way-in': 'user.account-link',
  'user.way-in-delete': 'user.account-unlink',
};

export const actionNameOf = (action: string): string => actionNames[action] ?? action;

export const storedActionOf = (name: string | undefined): string | undefined =>
  Object.keys(actionNames).find((action) => actionNames[action] === name) ?? name;

/** Fields whose name in the API is not what the dashboard calls them. */
const labels: Readonly<Record<string, string>> = {
  cidrs: 'allowed IP addresses',
  origins: 'allowed origins',
  methods: 'allowed methods',
  networks: 'allowed networks',
  ratePerSecond: 'requests per second',
  rateBurst: 'burst',
  addressPerSecond: 'requests per second per IP address',
  expiresAt: 'expires',
  isPublic: 'public key',
  made: 'also revoked',
  logsBodies: 'parameters and results in the request log',
  neverBack: 'monotonic reads',
  notice: 'notification',
  path: 'action',
  plan_id: 'plan',
};

const labelOf = (name: string): string =>
  labels[name] ??
  limitNames[name]?.replace(/^(?!WebSocket)[A-Z]/, (letter) => letter.toLowerCase()) ??
  name.replaceAll('_', ' ').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Stored as text with commas. */
const ruleLists = new Set(['cidrs', 'origins', 'methods', 'networks']);

type Detail = AuditEntry['detail'][string];

function formatValue(name: string, value: Detail | undefined): string {
  if (value == null || value === '' || value === '{}') return 'none';
  if (name === 'product') return productNames[value as Product] ?? String(value);
  if (name === 'prices') return limitText(name, JSON.parse(String(value)));
  if (name === 'path') return String(value).slice(1).replaceAll(/[-/]/g, ' ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'number') return ruleLists.has(name) ? value.replaceAll(',', ', ') : value;
  if (name === 'expiresAt') return `${formatTime(value)} UTC`;
  return limitNames[name] === undefined ? String(value) : limitText(name, value);
}

const isDefault = (name: string, value: Detail): boolean =>
  value === null || value === false || value === '' || value === '{}' || (name === 'made' && value === 0);

/** What changed, for people: the fields of what is new without defaults, and old and new values of what changed. */
export function detailOf({ detail }: Pick<AuditEntry, 'detail'>): string {
  const parts = Object.entries(detail).flatMap(([name, value]) => {
    if (name.startsWith('before.') || name.endsWith('_before')) return [];
    const field = name.replace(/^after\./, '');
    const old = name === field ? `${name}_before` : `before.${field}`;
    const before = Object.hasOwn(detail, old) ? `${formatValue(field, detail[old])} → ` : '';
    if (before === '' && isDefault(field, value)) return [];
    const label = field === 'count' && Object.hasOwn(detail, 'path') ? 'attempts' : labelOf(field);
    return [`${label}: ${before}${formatValue(field, value)}`];
  });
  return parts.join(' · ');
}
