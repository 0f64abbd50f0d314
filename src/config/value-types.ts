import { z } from 'zod';
import { isLoopback, parseCidr } from '../base/ip-address.ts';
import { isCurrency, METHOD_CREDITS_MAX, METHOD_NAME } from '../control/billing/plan-fields.ts';
import { readScannerKey } from '../control/keys/leaked-keys.ts';
import { isNetworkName, isStandardNetwork, type Network, standardNetworks } from '../protocol/call.ts';
import { AddressRules } from '../upstream/off-chain/address-rules.ts';
import { sendersOf } from '../upstream/shreds/udp-shred-receiver.ts';
import { showUrl, showValue, UNKNOWN_NAMES_SEPARATOR } from './errors.ts';
import { type Rows, schemaOf, type ValuesOf } from './option.ts';

/** Value types. Error messages say what to write; descriptions are the types shown in the documentation. */

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const MIB = 1024 * 1024;
export const GIB = 1024 * MIB;

const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, '_');

type Check = (value: unknown) => boolean;

const custom = <Value>(check: Check, description: string, error: string | ((shown: string) => string)) =>
  z
    .custom<Value>(check, {
      error:
        typeof error === 'string'
          ? error
          : ({ input }) => (input === undefined ? 'is missing' : error(showValue(input))),
    })
    .describe(description);

const isWhole =
  (min: number, max: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max;

export const whole = (min: number, max: number) =>
  custom<number>(
    isWhole(min, max),
    `integer, ${grouped(min)} to ${grouped(max)}`,
    (shown) => `${shown} is not a whole number from ${min} to ${max}`,
  );

export const wholeOrAuto = (min: number, max: number) =>
  custom<number | 'auto'>(
    (value) => value === 'auto' || isWhole(min, max)(value),
    `integer, ${min} to ${max}, or \`"auto"\``,
    (shown) => `${shown} is not a whole number from ${min} to ${max}, or "auto"`,
  );

export const ratio = custom<number>(
  (value) => typeof value === 'number' && value >= 0 && value <= 1,
  'number, 0 to 1',
  (shown) => `${shown} is not a number from 0 to 1`,
);

export const onOff = custom<boolean>(
  (value) => typeof value === 'boolean',
  'boolean',
  (shown) => `${shown} is not true or false`,
);

export const switchOrAuto = custom<boolean | 'auto'>(
  (value) => typeof value === 'boolean' || value === 'auto',
  'boolean or `"auto"`',
  (shown) => `${shown} is not true, false or "auto"`,
);

export function oneOf<const Allowed extends readonly string[]>(allowed: Allowed) {
  const quoted = allowed.map((one) => `"${one}"`);
  return custom<Allowed[number]>(
    (value) => typeof value === 'string' && allowed.includes(value),
    quoted.map((one) => `\`${one}\``).join(', '),
    (shown) => `${shown} is not one of ${quoted.join(', ')}`,
  );
}

/** Text that matches a pattern. `rule` completes the error "must be …". */
export const text = (pattern: RegExp, rule: string, description = 'text') =>
  custom<string>(
    (value) => typeof value === 'string' && pattern.test(value),
    description,
    (shown) => `${shown} must be ${rule}`,
  );

export const host = text(
  /^[A-Za-z0-9.:_-]{1,255}$/,
  'a host name or address such as "127.0.0.1" or "0.0.0.0"',
  'host name or address',
);

export const nodeName = text(
  /^[A-Za-z0-9._-]{1,64}$/,
  'a name of 1 to 64 letters, digits, dots, dashes or underscores',
  'name',
);

export const line = text(/^\P{Cc}{1,4096}$/u, 'text of 1 to 4096 characters');
export const path = line.describe('path');

export const label = text(/^\P{C}{1,64}$/u, '1 to 64 printable characters');

/** A secret. Errors never show its value. */
export const secretLine = custom<string>(
  (value) => typeof value === 'string' && /^\P{Cc}{1,2048}$/u.test(value),
  'text',
  'is not text of one line: write it as "env:NAME" or "file:PATH"',
);

const WEB_SCHEMES = /^(?:http|ws)s?:$/;

function succeeds(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

/** Why a parsed URL cannot be requested; null if it can. */
function faultOfWebUrl({ protocol, username, password, href }: URL): string | null {
  if (!WEB_SCHEMES.test(protocol)) return null;
  if (href.includes('#')) return 'has a fragment, which is never sent: remove "#" and what follows it';
  if ([username, password].every((part) => succeeds(() => decodeURIComponent(part)))) return null;
  return 'has an invalid "%" escape in its user name or password: write "%" itself as "%25"';
}

/**
 * A URL with one of the given schemes. It may contain credentials, so errors show only its scheme and host.
 * @param kind - noun with article, such as `an http(s) URL`. @param allowed - other values to accept.
 */
export function url(
  schemes: readonly string[],
  kind: string,
  example: string,
  allowed: readonly string[] = [],
) {
  const wrong = `is not ${kind}: write it as "${example}"`;
  const faultOf = (value: unknown): string | null => {
    if (typeof value !== 'string') return wrong;
    if (allowed.includes(value)) return null;
    const parsed = URL.parse(value);
    if (parsed === null || !schemes.includes(parsed.protocol) || parsed.hostname === '') return wrong;
    return faultOfWebUrl(parsed);
  };
  const shownOf = (input: unknown): string => {
    if (typeof input !== 'string') return showValue(input);
    return input.includes('://') ? `"${showUrl(input)}"` : 'the value';
  };
  return z
    .custom<string>((value) => faultOf(value) === null, {
      error: ({ input }) =>
        input === undefined ? `is missing: write it as "${example}"` : `${shownOf(input)} ${faultOf(input)}`,
    })
    .describe(kind.replace(/^an? /, ''));
}

export const httpUrl = url(['http:', 'https:'], 'an http(s) URL', 'https://host/path');

/** Whether responses from a valid URL cannot be forged in transit. */
export function isSecureUrl(value: string): boolean {
  const { protocol, hostname } = new URL(value);
  return protocol === 'https:' || isLoopback(hostname);
}

export const INSECURE_URL =
  'is not encrypted, so its responses can be forged: write it as "https://host/path"';
/** A URL whose responses must not be forged. */
export const secureUrl = httpUrl
  .refine(isSecureUrl, { error: INSECURE_URL })
  .describe('https URL, or http to a loopback host');
export const redisUrl = url(['redis:', 'rediss:'], 'a Redis URL', 'rediss://user:password@host:6379');
export const smtpUrl = url(['smtp:', 'smtps:'], 'an smtp(s) URL', 'smtp://user:password@host:587');
export const databaseUrl = url(
  ['postgres:', 'postgresql:'],
  'a PostgreSQL URL',
  'postgres://user@host/database',
);

/** Value of `ws` for a node that has no PubSub. */
export const WS_OFF = 'off';
export const wsUrl = url(['ws:', 'wss:'], 'a ws(s) URL or "off"', 'wss://host/path', [WS_OFF]);

export const originUrl = httpUrl
  .refine(
    (value) => {
      const { origin, href } = new URL(value);
      return href === `${origin}/`;
    },
    { error: 'has more than scheme, host and port: write it as "https://host"' },
  )
  .describe('http(s) URL without a path');

export const gatewayUrl = custom<string>(
  (value) => httpUrl.safeParse(value).success && String(value).endsWith('/'),
  'http(s) URL that ends in `/`',
  (shown) => `${shown} must be a URL that ends in "/", as in "https://host/ipfs/"`,
);

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;

const HEADER_VALUE = /^[\x20-\x7e\xa0-\xff]{0,8192}$/;

/** Header values are often credentials, so errors never show them. */
export const headers = z
  .record(
    z.string(),
    z.custom<string>((value) => typeof value === 'string' && HEADER_VALUE.test(value), {
      error: 'the value is not one line of Latin-1 text, as headers require: encode other characters',
    }),
    { error: 'is not a table: write it as headers = { "x-token" = "env:TOKEN" }' },
  )
  .refine((table) => Object.keys(table).every((name) => HEADER_NAME.test(name)), {
    error: 'a name is not a valid HTTP header name',
  })
  .describe('table of text');

const addressKind = (check: (value: string) => boolean, rule: string) =>
  custom<string>(
    (value) => typeof value === 'string' && check(value),
    'CIDR range',
    (shown) => `${shown} must be ${rule}`,
  );

export const cidr = addressKind(
  (value) => parseCidr(value) !== null,
  'an address or a range such as "10.0.0.0/8" or "fd00::/8"',
);

export const connectableNetwork = addressKind(
  (value) => succeeds(() => new AddressRules([value])),
  'a network such as "10.0.0.0/8" or "fd00::/8"',
);

export const shredSender = addressKind(
  (value) => succeeds(() => sendersOf([value])),
  'an address or a network such as "203.0.113.7" or "10.0.0.0/8"',
);

export const scannerPem = custom<string>(
  (value) => typeof value === 'string' && readScannerKey(value) !== null,
  'PEM',
  'must be a public key of P-256 in PEM: -----BEGIN PUBLIC KEY-----',
);

export const list = <Value>(kind: z.ZodType<Value>, max: number, example: string) =>
  z
    .array(kind, { error: `is not a list: write ${example}` })
    .max(max, { error: `has more than ${max}` })
    .describe(`list of ${kind.description ?? 'text'}`);

/** Whether the configuration lists the network is checked with the whole configuration. */
export const network = custom<Network>(
  isNetworkName,
  'name of a network',
  (shown) => `${shown} is not a name of 1 to 32 lowercase letters, digits and dashes`,
);

/** All networks, the standard ones included. Each costs health checks, and a row in usage per key and method. */
const NETWORKS_MAX = 16;
const CUSTOM_NETWORKS_MAX = NETWORKS_MAX - standardNetworks.length;
const GENESIS_HASH = /^(?:[1-9A-HJ-NP-Za-km-z]{32,44})?$/;

export const customNetworks = z
  .record(z.string(), text(GENESIS_HASH, 'a genesis hash in base58, or "" for any'), {
    error: 'is not a table: write it as custom = { staging = "" }',
  })
  .refine((all) => Object.keys(all).every(isNetworkName), {
    error: 'a name must have 1 to 32 lowercase letters, digits and dashes, and not start with a dash',
  })
  .refine((all) => !Object.keys(all).some(isStandardNetwork), {
    error: `${standardNetworks.join(', ')} always exist: remove them here`,
  })
  .refine((all) => Object.keys(all).length <= CUSTOM_NETWORKS_MAX, {
    error: `has more than ${CUSTOM_NETWORKS_MAX} networks`,
  })
  .describe('table of text');

const SUBSCRIPTION = /(?:S|Uns)ubscribe$/;

/** Which methods a node serves. */
export const methodPattern = custom<string>(
  (value) =>
    typeof value === 'string' &&
    /^(?:[A-Za-z][A-Za-z0-9_]{0,62}\*?|\*)$/.test(value) &&
    !SUBSCRIPTION.test(value),
  'method, prefix or `*`',
  (shown) =>
    `${shown} must be a method such as "getBlock", a prefix such as "getToken*", or "*"; subscription methods cannot be routed`,
);

export const currency = custom<string>(
  (value) => typeof value === 'string' && isCurrency(value),
  'string',
  (shown) => `${shown} is not a lowercase currency code (ISO 4217), such as "usd"`,
);

/** Credits by method or endpoint. */
export const methodPrices = z
  .record(z.string(), whole(0, METHOD_CREDITS_MAX), {
    error: 'is not a table: write it as prices = { getProgramAccounts = 10 }',
  })
  .refine((table) => Object.keys(table).every((name) => METHOD_NAME.test(name)), {
    error:
      'a name is not the name of a method or endpoint: see docs/reference/json-rpc.md and docs/reference/rest.md',
  })
  .describe('table of integers');

function distance(left: string, right: string): number {
  let before = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const row = [i];
    for (let j = 1; j <= right.length; j++) {
      const change = before[j - 1]! + (left[i - 1] === right[j - 1] ? 0 : 1);
      row.push(Math.min(change, before[j]! + 1, row[j - 1]! + 1));
    }
    before = row;
  }
  return before[right.length]!;
}

const COMPARED_LENGTH_MAX = 64;

/** The candidate that a mistyped name most likely means; null if none is close. */
export function nearestName(wrong: string, candidates: readonly string[]): string | null {
  const typed = wrong.slice(0, COMPARED_LENGTH_MAX).toLowerCase().replaceAll('-', '_');
  const ranked = candidates
    .map((name) => ({ name, steps: distance(typed, name.toLowerCase()) }))
    .sort((a, b) => a.steps - b.steps);
  const best = ranked[0];
  return best !== undefined && best.steps <= Math.max(2, Math.floor(best.name.length / 3)) ? best.name : null;
}

function unknownName(name: string, names: readonly string[], dotted: readonly string[]): string {
  const nearest = nearestName(name, names);
  const meant = nearest === null ? dotted.filter((option) => option.endsWith(`.${name}`)) : [nearest];
  return meant.length === 0
    ? `there is no such option: the options here are ${names.join(', ')}`
    : `there is no such option: did you mean ${meant.map((option) => `"${option}"`).join(' or ')}?`;
}

/** @param dotted - full dotted option names, suggested when an option is written outside its section. */
export const strictTable = <Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  dotted: readonly string[] = [],
) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys
            .map((name) => unknownName(name, Object.keys(shape), dotted))
            .join(UNKNOWN_NAMES_SEPARATOR)
        : `${showValue(issue.input)} is not a table`,
  });

/** The type has camelCase names, which `camelNames` produces; validation itself keeps the names of the file. */
export const table = <Table extends Rows>(rows: Table): z.ZodType<ValuesOf<Table>> =>
  strictTable(Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, schemaOf(row)]))).describe(
    'table',
  ) as unknown as z.ZodType<ValuesOf<Table>>;

export const tableList = <Table extends Rows>(rows: Table, max: number, items: string, error: string) =>
  z
    .array(table(rows), { error })
    .max(max, { error: `has more than ${max} ${items}` })
    .describe('list of tables');

/** Tables written as `[[name]]`. @param item - noun for one table in error messages. */
export const namedTables = <Table extends Rows>(name: string, item: string, rows: Table, max: number) =>
  tableList(rows, max, `${item}s`, `is not a list of tables: write each ${item} under its own [[${name}]]`);
