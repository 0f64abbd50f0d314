import { CidrSet } from '../base/ip-address.ts';
import type { Network } from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';
import type { Client } from '../protocol/serve.ts';
import type { KeyRecord, KeyRules } from './key-record.ts';

/** Where a key is used: by whom, and for which network; null where a request names it later, or none. */
export type KeyUse = Readonly<{ client: Client; network: Network | null }>;

/** The part of a key that its rules are in; without a seat they are looked for each time. */
type Ruled = Pick<KeyRecord, 'rules' | 'seat'>;

/** What rules say, made ready to be asked. */
type CompiledRules = Readonly<{ addresses: CidrSet | null; origins: Names | null; methods: Names | null }>;

/** Whole names, and beginnings or ends of names. */
type Names = Readonly<{ whole: ReadonlySet<string>; parts: readonly Part[] }>;
/** What a name begins and ends with, with something between them. */
type Part = Readonly<{ start: string; end: string }>;

/**
 * Whether a key may be used there.
 * @returns why not; null when it may.
 */
export function refusalOf(key: Ruled, { client, network }: KeyUse): Failure | null {
  const { networks, cidrs, origins } = key.rules;
  if (networks === null && cidrs === null && origins === null) return null;
  if (network !== null && networks !== null && !networks.includes(network)) {
    return new Failure('NETWORK_FORBIDDEN', { facts: { network } });
  }
  const { addresses, origins: pages } = compiledOf(key);
  if (addresses !== null && (client.ip === null || !addresses.has(client.ip))) {
    return new Failure('ADDRESS_FORBIDDEN');
  }
  if (pages !== null && (client.origin === null || !holds(pages, client.origin.toLowerCase()))) {
    return new Failure('ORIGIN_FORBIDDEN');
  }
  return null;
}

/** Whether a key may be used for a network. @throws Failure NETWORK_FORBIDDEN. */
export function checkNetwork({ rules: { networks } }: Ruled, network: Network): void {
  if (networks === null || networks.includes(network)) return;
  throw new Failure('NETWORK_FORBIDDEN', { facts: { network } });
}

/** Characters of a name that are told back: those of a method come from whoever asks. */
const SHOWN_MAX_CHARS = 64;

/** Whether a key may be used for a method, a call or an endpoint. @throws Failure METHOD_FORBIDDEN. */
export function checkMethod(key: Ruled, method: string): void {
  if (key.rules.methods === null) return;
  const { methods } = compiledOf(key);
  if (methods === null || holds(methods, method)) return;
  throw new Failure('METHOD_FORBIDDEN', { facts: { method: method.slice(0, SHOWN_MAX_CHARS) } });
}

/** Rules never change: a key whose rules are changed has others. Keys that have the same share what is made of them. */
const compiled = new WeakMap<KeyRules, CompiledRules>();

function compiledOf({ rules, seat }: Ruled): CompiledRules {
  if (seat === undefined) return sharedOf(rules);
  seat.rules ??= sharedOf(rules);
  return seat.rules as CompiledRules;
}

function sharedOf(rules: KeyRules): CompiledRules {
  const known = compiled.get(rules);
  if (known !== undefined) return known;
  const made = compile(rules);
  compiled.set(rules, made);
  return made;
}

function compile({ cidrs, origins, methods }: KeyRules): CompiledRules {
  return {
    addresses: cidrs === null ? null : new CidrSet(cidrs),
    origins: origins === null ? null : namesOf(origins.map((origin) => origin.toLowerCase())),
    methods: methods === null ? null : namesOf(methods),
  };
}

function namesOf(texts: readonly string[]): Names {
  const whole = texts.filter((text) => !text.includes('*'));
  const parts = texts
    .filter((text) => text.includes('*'))
    .map((text) => ({
      start: text.slice(0, text.indexOf('*')),
      end: text.slice(text.indexOf('*') + 1),
    }));
  return { whole: new Set(whole), parts };
}

function holds({ whole, parts }: Names, name: string): boolean {
  if (whole.has(name)) return true;
  for (const { start, end } of parts) {
    // `*.example.com` is what stands before it, and not example.com; `get*` is also get.
    if (!name.startsWith(start) || !name.endsWith(end)) continue;
    if (end === '' || HOSTS.test(name.slice(start.length, -end.length))) return true;
  }
  return false;
}

/** One name of hosts or several with dots between them. */
const HOSTS = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
