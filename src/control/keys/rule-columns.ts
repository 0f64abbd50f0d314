import { isIP } from 'node:net';
import { parseCidr, parseIpAddress } from '../../base/ip-address.ts';
import { grpcCalls } from '../../protocol/grpc/calls.ts';
import { methods as knownMethods } from '../../protocol/methods.ts';
import { type Product, products } from '../../protocol/product.ts';
import { endpointNames } from '../../protocol/rest/endpoint-names.ts';
import { subscriptions } from '../../protocol/subscriptions.ts';
import { invalidField } from '../api/api-error.ts';
import type { ParsedRouteInput } from '../api/contract/contract.ts';
import { fieldsOf } from '../database/rows.ts';
import type { KeyTable, PlanTable } from '../database/schema.ts';
import { keyLimits } from './key-register.ts';

const ALL_BITS = 128;
/** Prefix length of IPv4-mapped IPv6 addresses. */
const MAPPED_BITS = 96;

/** Clears host bits and converts IPv4-mapped IPv6 to IPv4. Returns null unless `text` is an address or CIDR range. */
export function normalRange(text: string): string | null {
  const range = parseCidr(text.trim());
  if (range === null) return null;
  const groups = range.words.flatMap((word) => [(word >>> 16).toString(16), (word & 0xffff).toString(16)]);
  const network = parseIpAddress(groups.join(':'))?.text ?? null;
  if (network === null) return null;
  const bits = range.masks.reduce((sum, mask) => sum + Math.clz32(~mask), 0);
  if (bits === ALL_BITS) return network;
  return `${network}/${network.includes('.') ? bits - MAPPED_BITS : bits}`;
}

type Input = ParsedRouteInput<'POST /customers/{customer}/keys'>['body'];
export type KeyInput = {
  readonly [Field in keyof Input]: Input[Field] extends (infer Item)[] | null
    ? readonly Item[] | null
    : Input[Field];
};

/** Restrictions of a key. Each list is either null (everything is allowed) or non-empty. */
export type KeyRulesInput = Pick<KeyInput, keyof typeof noRules>;

export type RuleColumns = ReturnType<typeof checkRules>;

export const detailOfRules = (row: RuleColumns) => ({
  ...fieldsOf(row, 'networks', 'cidrs', 'origins', 'methods'),
  ...fieldsOf(row, 'rate_per_second', 'rate_burst', 'address_per_second'),
  logsBodies: row.logs_bodies !== 0,
  neverBack: row.never_back !== 0,
});

type RuledKey = Readonly<{
  product: Product;
  isPublic: boolean;
  plan: Pick<PlanTable, 'id' | 'rpc_per_second' | 'rpc_burst'>;
}>;

const methodsOf = (kinds: readonly (typeof subscriptions)[keyof typeof subscriptions][]): string[] =>
  kinds.flatMap(({ subscribe, unsubscribe }) => [subscribe, unsubscribe]);

const callable: Readonly<Record<Product, readonly string[]>> = {
  rpc: [...Object.keys(knownMethods), ...methodsOf(Object.values(subscriptions)), ...endpointNames],
  grpc: Object.keys(grpcCalls),
  fs: Object.keys(grpcCalls),
};

/**
 * Default allow-list of public keys: light reads, a wallet's token balances, and subscriptions that web pages use.
 * Excludes submissions, airdrops, program scans and all REST endpoints, some of which handle secrets.
 */
const browserMethods: readonly string[] = [
  ...Object.entries(knownMethods)
    .filter(([, { kind }]) => !['scan', 'send', 'mint'].includes(kind))
    .map(([name]) => name),
  'getTokenAccountsByOwner',
  ...methodsOf([subscriptions.account, subscriptions.signature, subscriptions.slot]),
].toSorted();

const joined = (items: readonly string[] | null, read = (text: string): string => text): string =>
  [...new Set(items?.map((text) => read(text)))].join(',');

function reject(field: string, text: string): never {
  throw invalidField(field, text);
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 80));

function readRange(text: string): string {
  return (
    normalRange(text) ??
    reject('cidrs', `${quoted(text)} is not an IP address or a range such as 192.0.2.0/24 or 2001:db8::/32`)
  );
}

/** Returns the origin in the form that browsers send: lower case, punycode, no default port. */
function readOrigin(text: string): string {
  const match = /^(https?):\/\/(\*\.)?([^*/?#@\\\s]{1,260})\/?$/i.exec(text.trim());
  const url = match === null ? null : URL.parse(`${match[1]}://${match[3]}`);
  const isWild = match?.[2] !== undefined;
  const isTooWide = isWild && (isIP(url?.hostname ?? '') !== 0 || !url?.hostname.includes('.'));
  if (url === null || url.hostname.includes(',') || isTooWide) {
    return reject(
      'origins',
      `${quoted(text)} is not a web origin such as https://app.example.com or https://*.example.com`,
    );
  }
  return isWild ? `${url.protocol}//*.${url.host}` : url.origin;
}

/** Rejects methods that the key's product cannot call: such a rule would silently block all calls. */
function readMethod(product: Product, text: string): string {
  const name = text.trim();
  const matches = name.endsWith('*')
    ? (method: string) => method.startsWith(name.slice(0, -1))
    : (method: string) => method === name;
  if (name.length > 1 && callable[product].some(matches)) return name;
  return reject(
    'methods',
    `${products[product].keyName}s cannot call ${quoted(name)}. Use a method such as ` +
      `${product === 'rpc' ? 'getBalance, or a prefix such as getBlock* or wallet/*' : 'Subscribe'}`,
  );
}

function checkRate(
  rate: KeyRulesInput['rate'],
  { plan }: RuledKey,
): Pick<KeyTable, 'rate_per_second' | 'rate_burst'> {
  if (rate === null) return { rate_per_second: null, rate_burst: null };
  const most = plan.rpc_per_second === 0 ? 10_000_000 : plan.rpc_per_second;
  checkWhole('rate.perSecond', 'the rate limit in calls per second', rate.perSecond, most, plan.id);
  checkWhole('rate.burst', 'the burst in calls at once', rate.burst, plan.rpc_burst, plan.id);
  return { rate_per_second: rate.perSecond, rate_burst: rate.burst };
}

function checkWhole(field: string, what: string, value: number, most: number, planId: string): void {
  if (Number.isInteger(value) && value >= 1 && value <= most) return;
  reject(field, `${what} must be a whole number from 1 to ${most}, the maximum of plan "${planId}"`);
}

function checkAddressRate(input: number | null, { isPublic, plan }: RuledKey): number | null {
  const most = plan.rpc_per_second === 0 ? 1_000_000 : plan.rpc_per_second;
  if (input === null) return isPublic ? Math.min(most, keyLimits.publicAddressPerSecond) : null;
  const what = 'the rate limit of one IP address in calls per second';
  checkWhole('addressPerSecond', what, input, most, plan.id);
  return input;
}

function checkOrigins(input: KeyRulesInput['origins'], { product, isPublic }: RuledKey): string {
  if (input !== null && product !== 'rpc') {
    reject('origins', `web pages cannot use ${products[product].keyName}s. Leave the origins out.`);
  }
  if (input === null && isPublic) {
    reject('origins', 'public keys need at least one allowed origin, such as https://app.example.com');
  }
  return joined(input, readOrigin);
}

function checkNeverBack(input: boolean, { product }: RuledKey): number {
  if (!input || product === 'rpc') return input ? 1 : 0;
  return reject(
    'neverBack',
    `monotonic reads do not apply to ${products[product].keyName}s. Leave the field out.`,
  );
}

/** Checks what the contract cannot check, and normalizes the rules. @throws ApiError 422 that names the field */
export function checkRules(use: KeyRulesInput, key: RuledKey) {
  const methods = use.methods ?? (key.isPublic ? browserMethods : null);
  return {
    networks: joined(use.networks),
    cidrs: joined(use.cidrs, readRange),
    origins: checkOrigins(use.origins, key),
    methods: joined(methods, (text) => readMethod(key.product, text)),
    ...checkRate(use.rate, key),
    address_per_second: checkAddressRate(use.addressPerSecond, key),
    logs_bodies: use.logsBodies ? 1 : 0,
    never_back: checkNeverBack(use.neverBack, key),
  } satisfies Partial<KeyTable>;
}

export const noRules = {
  networks: null,
  cidrs: null,
  origins: null,
  methods: null,
  rate: null,
  addressPerSecond: null,
  logsBodies: false,
  neverBack: false,
};
