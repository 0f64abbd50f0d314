import { CidrSet } from '../../base/ip-address.ts';
import type { Network } from '../../protocol/call.ts';
import type { ClientInfo } from '../../protocol/client-info.ts';
import { Failure } from '../../protocol/errors.ts';
import type { KeyRecord, KeyRules } from './key-record.ts';

/** Client and network of a request. `network`: null if the network is named later or not at all. */
export type KeyUse = Readonly<{ client: ClientInfo; network: Network | null }>;

type KeyWithRules = Pick<KeyRecord, 'rules'> &
  Readonly<{ keyState?: { compiledRules: CompiledRules | null } }>;

export type CompiledRules = Readonly<{
  addresses: CidrSet | null;
  origins: NameMatcher | null;
  methods: NameMatcher | null;
}>;

type NameMatcher = Readonly<{ exact: ReadonlySet<string>; patterns: readonly NamePattern[] }>;
type NamePattern = Readonly<{ prefix: string; suffix: string }>;

/** @returns why the network, address or origin is rejected; null if the use is allowed. */
export function rejectionOf(key: KeyWithRules, { client, network }: KeyUse): Failure | null {
  const { networks, cidrs, origins } = key.rules;
  if (networks === null && cidrs === null && origins === null) return null;
  if (network !== null && networks !== null && !networks.includes(network)) {
    return new Failure('NETWORK_FORBIDDEN', { facts: { network } });
  }
  const { addresses, origins: pages } = compiledRules(key);
  if (addresses !== null && (client.ip === null || !addresses.has(client.ip))) {
    return new Failure('ADDRESS_FORBIDDEN');
  }
  if (pages !== null && (client.origin === null || !matches(pages, client.origin.toLowerCase()))) {
    return new Failure('ORIGIN_FORBIDDEN');
  }
  return null;
}

export function checkNetwork({ rules: { networks } }: KeyWithRules, network: Network): void {
  if (networks === null || networks.includes(network)) return;
  throw new Failure('NETWORK_FORBIDDEN', { facts: { network } });
}

/** Method names in errors are truncated to this length, because clients choose them. */
const METHOD_MAX_CHARS = 64;

export function checkMethod(key: KeyWithRules, method: string): void {
  if (key.rules.methods === null) return;
  const { methods } = compiledRules(key);
  if (methods === null || matches(methods, method)) return;
  throw methodForbidden(method);
}

export const methodForbidden = (method: string): Failure =>
  new Failure('METHOD_FORBIDDEN', { facts: { method: method.slice(0, METHOD_MAX_CHARS) } });

/** Rules are immutable; a change creates a new object. Keys with the same rules share one compiled form. */
const compiled = new WeakMap<KeyRules, CompiledRules>();

function compiledRules({ rules, keyState }: KeyWithRules): CompiledRules {
  if (keyState === undefined) return compileOnce(rules);
  keyState.compiledRules ??= compileOnce(rules);
  return keyState.compiledRules;
}

function compileOnce(rules: KeyRules): CompiledRules {
  const cached = compiled.get(rules);
  if (cached !== undefined) return cached;
  const created = compile(rules);
  compiled.set(rules, created);
  return created;
}

function compile({ cidrs, origins, methods }: KeyRules): CompiledRules {
  return {
    addresses: cidrs === null ? null : new CidrSet(cidrs),
    origins: origins === null ? null : compileNames(origins.map((origin) => origin.toLowerCase())),
    methods: methods === null ? null : compileNames(methods),
  };
}

function compileNames(texts: readonly string[]): NameMatcher {
  const { exact, wildcard = [] } = Object.groupBy(texts, (text) =>
    text.includes('*') ? 'wildcard' : 'exact',
  );
  const patterns = wildcard.map((text) => {
    const star = text.indexOf('*');
    return { prefix: text.slice(0, star), suffix: text.slice(star + 1) };
  });
  return { exact: new Set(exact), patterns };
}

function matches({ exact, patterns }: NameMatcher, name: string): boolean {
  if (exact.has(name)) return true;
  for (const { prefix, suffix } of patterns) {
    // `*.example.com` does not match example.com; `get*` matches get.
    if (!name.startsWith(prefix) || !name.endsWith(suffix)) continue;
    if (suffix === '' || HOSTS.test(name.slice(prefix.length, -suffix.length))) return true;
  }
  return false;
}

const HOSTS = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
